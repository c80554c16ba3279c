// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// FuzzLayouts feeds every layout: nothing may panic, the counts stay within
// their bounds, and what is accepted has at least one whole signature.
func FuzzLayouts(f *testing.F) {
	layouts := map[string]layout{
		"raw":    {format: "raw", encoding: "hex", size: 32},
		"prefix": {format: "prefix", prefix: "sha256=", encoding: "hex", size: 32},
		"kv":     {format: "kv", key: "v1", timeKey: "t", separator: ",", encoding: "base64url", size: 20},
		"list":   {format: "list", timeKey: "0", separator: ",", encoding: "hex", size: 48},
		"tagged": {format: "tagged", key: "v1", separator: " ", encoding: "base64", size: 64},
		"static": {format: "prefix", prefix: "Bearer "},
	}
	digest := strings.Repeat("ab", 32)
	for _, s := range []string{
		digest, "sha256=" + digest, "t=1,v1=" + digest + ",v0=x", ",,,,", "t=", "1," + digest, "v1,ab v1a,cd", "Bearer x", "v1,",
		"v1=qqqqqqqqqqqqqqqqqqqqqqqqqqo", strings.Repeat("v1=,", 40), "test",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, l := range layouts {
			var g given
			why := l.parse(text, &g)
			if g.n > g.seen || g.seen > maxSignatures {
				t.Fatalf("%s: %d of %d", name, g.n, g.seen)
			}
			if why != OK && why != SignatureMissing && why != SignatureMalformed {
				t.Fatalf("%s: reason %q", name, why)
			}
			if why == OK && g.n == 0 && g.token == "" {
				t.Fatalf("%s: accepted %q without a signature", name, text)
			}
		}
	})
}

// FuzzDecodeDigest: whatever decodes is the one spelling of its digest, but for
// the case of hex and the padding of base64.
func FuzzDecodeDigest(f *testing.F) {
	f.Add(strings.Repeat("aB", 32))
	f.Add("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")
	f.Add("47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU")
	f.Fuzz(func(t *testing.T, text string) {
		for _, encoding := range []string{"hex", "base64", "base64url"} {
			var digest [32]byte
			if !decodeDigest(digest[:], text, encoding) {
				continue
			}
			plain, again := strings.TrimRight(text, "="), strings.TrimRight(encodeDigest(digest[:], encoding), "=")
			if encoding == "hex" {
				plain = strings.ToLower(plain)
			}
			if plain != again || len(text)-len(strings.TrimRight(text, "=")) > 2 {
				t.Fatalf("%s: %q decodes and encodes to %q", encoding, text, again)
			}
		}
	})
}

// FuzzParseTime: what is accepted is within the years that cannot overflow, and
// a number is written back as it was.
func FuzzParseTime(f *testing.F) {
	for _, s := range []string{"1760000000", "1760000000123", "0", "-1", "9223372036854775808", "2025-10-09T08:53:20.634234626Z", "１７６"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, unit := range []string{"s", "ms", "auto", "rfc3339"} {
			sent, ok := parseTime(text, unit)
			if !ok {
				continue
			}
			if year := sent.UTC().Year(); year < -1 || year > 10000 {
				t.Fatalf("%s %q is in the year %d", unit, text, year)
			}
			if (unit == "s" || unit == "ms") && formatTime(sent, unit) != text {
				t.Fatalf("%s %q is written back as %q", unit, text, formatTime(sent, unit))
			}
			if far := sent.Sub(testNow).Abs() > 300*time.Second; far == (Timestamp{}.fresh(sent, testNow) == OK) {
				t.Fatalf("%s %q: far %v", unit, text, far)
			}
		}
	})
}

// FuzzParsePreset: no preset makes the loader or the compiler panic, and one
// that loads can be written and loaded again.
func FuzzParsePreset(f *testing.F) {
	names, err := PresetNames()
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		p, err := LookupPreset(name)
		if err != nil {
			f.Fatal(err)
		}
		data, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePreset(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParsePreset(again); err != nil {
			t.Fatalf("%v after writing %s", err, again)
		}
		v, err := p.Scheme.Compile([]Secret{{Value: "secret"}}, Options{PublicURL: testURL})
		if err == nil {
			r := request(testBody, "Content-Type: application/json")
			if err := v.Sign(r, testNow, SignOptions{}); err == nil {
				v.HeadersPlausible(r, testNow)
				v.Verify(r, testNow)
			}
		}
	})
}

// FuzzTemplate: a message template is refused or covers what it says.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{body}", "v0:{timestamp}:{body}", "{{{body}}}", "{json:/a/0}{form:x}", "{", "}", "{header:}", "{url}{id}{method}"} {
		f.Add(s)
	}
	scheme := Scheme{Timestamp: Timestamp{Source: Source{Header: "T"}}, ID: Source{Header: "I"}}
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := parseTemplate(text, &scheme, testURL)
		if err != nil {
			return
		}
		if tpl.covers.Body != strings.Contains(strings.NewReplacer("{{", "", "}}", "").Replace(text), "{body}") && !strings.Contains(text, "{{") {
			t.Fatalf("%q covers the body: %v", text, tpl.covers.Body)
		}
		var m message
		m.fill(tpl, request(testBody, "T: 1", "I: 2"), "1")
		m.stream(nil, nil)
	})
}
