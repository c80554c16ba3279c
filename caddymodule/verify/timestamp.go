// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"strconv"
	"time"
)

// defaultTolerance is what the SDKs of most providers use.
const defaultTolerance = Duration(300 * time.Second)

// parseTime reads the text of a timestamp. Numbers are plain decimal digits
// without leading zeros and short enough that nothing can overflow: seconds up
// to 11 digits, milliseconds up to 14, which is the year 5138 in both.
func parseTime(text, unit string) (time.Time, bool) {
	if unit == "rfc3339" {
		return parseRFC3339(text)
	}
	if text == "" || len(text) > 14 || text[0] == '0' && len(text) > 1 {
		return time.Time{}, false
	}
	n := int64(0)
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return time.Time{}, false
		}
		n = 10*n + int64(c-'0')
	}
	// Eleven digits of milliseconds are the year 1973; nobody signs that.
	if unit == "ms" || unit == "auto" && len(text) > 11 {
		return time.UnixMilli(n), true
	}
	return time.Unix(n, 0), len(text) <= 11
}

// parseRFC3339 also checks what time.Parse lets through: an hour of one digit
// and a comma before the fraction.
func parseRFC3339(text string) (time.Time, bool) {
	const shortest, longest = "2006-01-02T15:04:05Z", "2006-01-02T15:04:05.999999999+00:00"
	if len(text) < len(shortest) || len(text) > len(longest) || text[13] != ':' || text[19] == ',' {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil
}

// formatTime is the text that a sender would put for t.
func formatTime(t time.Time, unit string) string {
	switch unit {
	case "rfc3339":
		return t.UTC().Format(time.RFC3339Nano)
	case "ms":
		return strconv.FormatInt(t.UnixMilli(), 10)
	}
	return strconv.FormatInt(t.Unix(), 10)
}

// fresh compares the time of the attempt with our clock. Both limits are
// included in what is accepted.
func (t Timestamp) fresh(sent, now time.Time) Reason {
	past := pick(t.Tolerance, defaultTolerance)
	future := pick(t.Future, past)
	age := now.Sub(sent)
	switch {
	case past != Off && age > time.Duration(past):
		return TimestampStale
	case future != Off && age < -time.Duration(future): // -age would overflow at the smallest age
		return TimestampFuture
	}
	return OK
}
