// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestT01OldEventInFreshAttempt(t *testing.T) {
	body := `{"id":"evt_1","created":1759967600}` // nine hours before the attempt
	v := compile(t, "stripe", Secret{Value: testSecret})
	r := request(body, "Stripe-Signature: t=1760000000,v1="+hexMAC(testSecret, "1760000000."+body))
	got, why := v.Verify(r, testNow)
	if why != OK || !got.Timestamp.Equal(testNow) {
		t.Errorf("%q at %v", why, got.Timestamp)
	}
}

func TestT03Units(t *testing.T) {
	for _, c := range []struct {
		unit, text string
		want       Reason
	}{
		{"auto", "1760000000", OK},
		{"auto", "1760000000123", OK},
		{"auto", "176000000", TimestampStale},
		{"auto", "99999999999", TimestampFuture},
		{"s", "1760000000123", TimestampMalformed},
		{"ms", "1760000000123", OK},
		{"ms", "1760000000", TimestampStale},
		{"rfc3339", "2025-10-09T08:53:20Z", OK},
		{"rfc3339", "2025-10-09T10:53:20.634234626+02:00", OK},
		{"rfc3339", "2025-10-09T08:53:20,5Z", TimestampMalformed},
		{"rfc3339", "2025-10-09T8:53:20Z", TimestampMalformed},
		{"rfc3339", "2025-10-09 08:53:20Z", TimestampMalformed},
		{"rfc3339", "1760000000", TimestampMalformed},
	} {
		t.Run(c.unit+" "+c.text, func(t *testing.T) {
			if why := verifyTime(t, Timestamp{Unit: c.unit}, c.text, testNow); why != c.want {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}

// verifyTime checks a delivery that is correctly signed with that very text as
// its timestamp.
func verifyTime(t *testing.T, ts Timestamp, text string, now time.Time) Reason {
	t.Helper()
	ts.Header = "X-Timestamp"
	s := Scheme{
		Signature: Signature{Source: Source{Header: "X-Signature"}, Encoding: "hex"},
		Algorithm: "hmac-sha256", Message: "{timestamp}.{body}", Timestamp: ts,
	}
	v, err := s.Compile([]Secret{{Value: testSecret}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := request(testBody, "X-Timestamp: "+text, "X-Signature: "+hexMAC(testSecret, text+"."+testBody))
	_, why := v.Verify(r, now)
	if headers := v.HeadersPlausible(r, now); headers != why {
		t.Errorf("headers: %q, whole: %q", headers, why)
	}
	return why
}

func TestT06OnlySignedTimeCounts(t *testing.T) {
	body := `{"action":"update","webhookTimestamp":1759913600000}` // a day old
	v := compile(t, "linear", Secret{Value: testSecret})
	r := request(body, "Linear-Timestamp: 1760000000000", "Linear-Signature: "+hexMAC(testSecret, body))
	if _, why := v.Verify(r, testNow); why != TimestampStale {
		t.Errorf("%q, want %q", why, TimestampStale)
	}
	for _, body := range []string{`{}`, `{"webhookTimestamp":null}`, `{"webhookTimestamp":[1760000000000]}`} {
		r := request(body, "Linear-Timestamp: 1760000000000", "Linear-Signature: "+hexMAC(testSecret, body))
		if _, why := v.Verify(r, testNow); why != TimestampMissing {
			t.Errorf("%s: %q, want %q", body, why, TimestampMissing)
		}
	}
	for _, body := range []string{`{"webhookTimestamp":1760000000000,"webhookTimestamp":1}`, `{"webhookTimestamp":1.76e12}`, `no json`} {
		r := request(body, "Linear-Signature: "+hexMAC(testSecret, body))
		if _, why := v.Verify(r, testNow); why != TimestampMalformed {
			t.Errorf("%s: %q, want %q", body, why, TimestampMalformed)
		}
	}
}

func TestT07OddTimestamps(t *testing.T) {
	for name, text := range map[string]string{
		"5000 digits":       strings.Repeat("1", 5000),
		"leading zero":      "01760000000",
		"leading zeros":     "0001760000",
		"negative":          "-1760000000",
		"plus":              "+1760000000",
		"letters":           "123abc",
		"fullwidth digits":  "１７６０００００００",
		"arabic digits":     "١٧٦٠٠٠٠٠٠٠",
		"2^63":              "9223372036854775808",
		"2^64 and now":      "18446744075469551616",
		"fraction":          "1760000000.5",
		"exponent":          "1.76e9",
		"hex":               "0x68E77D00",
		"underscore":        "1_760_000_000",
		"blank within":      "17600 00000",
		"milliseconds in s": "1760000000000",
	} {
		t.Run(name, func(t *testing.T) {
			if why := verifyTime(t, Timestamp{}, text, testNow); why != TimestampMalformed {
				t.Errorf("%q, want %q", why, TimestampMalformed)
			}
		})
	}
	for _, text := range []string{"0", "1", "9876"} {
		if why := verifyTime(t, Timestamp{}, text, testNow); why != TimestampStale {
			t.Errorf("%s: %q, want %q", text, why, TimestampStale)
		}
	}
}

func TestTolerance(t *testing.T) {
	sec := func(n int) Duration { return Duration(time.Duration(n) * time.Second) }
	for _, c := range []struct {
		name string
		ts   Timestamp
		age  int
		want Reason
	}{
		{"default, at the edge", Timestamp{}, 300, OK},
		{"default, over", Timestamp{}, 301, TimestampStale},
		{"default, ahead at the edge", Timestamp{}, -300, OK},
		{"default, ahead over", Timestamp{}, -301, TimestampFuture},
		{"own", Timestamp{Tolerance: sec(5)}, 6, TimestampStale},
		{"own counts for both sides", Timestamp{Tolerance: sec(5)}, -6, TimestampFuture},
		{"future of its own", Timestamp{Tolerance: sec(3600), Future: sec(5)}, -6, TimestampFuture},
		{"past off", Timestamp{Tolerance: Off, Future: sec(5)}, 1 << 30, OK},
		{"off is off for both", Timestamp{Tolerance: Off}, -1 << 30, OK},
		{"future off", Timestamp{Future: Off}, -1 << 30, OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strconv.Itoa(1760000000 - c.age)
			if why := verifyTime(t, c.ts, text, testNow); why != c.want {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "7d": 7 * day, "1d12h": 36 * time.Hour, "75h35m5s": 75*time.Hour + 35*time.Minute + 5*time.Second, "off": -1,
	} {
		d, err := ParseDuration(text)
		if err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, d, err)
		}
		if again, err := ParseDuration(d.String()); err != nil || again != d {
			t.Errorf("%s is written %s and read %v, %v", text, d, again, err)
		}
	}
	for _, text := range []string{"", "d", "5", "-5s", "-1", "1d-1h", "99999d", "106751d24h", "7 d"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q was read as %v", text, d)
		}
	}
}
