// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"testing"
	"time"
)

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 8, 22, 10, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                                 0,
		"0":                                0,
		"120":                              2 * time.Minute,
		" 120\t":                           2 * time.Minute,
		"3600":                             time.Hour,
		"3601":                             time.Hour,
		"99999999999999999999999999":       time.Hour,
		"-5":                               0,
		"+5":                               0,
		"1.5":                              0,
		"5s":                               0,
		"5, 6":                             0,
		"soon":                             0,
		"Sat, 22 Aug 2026 10:00:30 GMT":    30 * time.Second,
		"Saturday, 22-Aug-26 10:01:00 GMT": time.Minute,
		"Sat Aug 22 10:02:00 2026":         2 * time.Minute,
		"Sat, 22 Aug 2026 09:00:00 GMT":    0,
		"Sat, 22 Aug 2099 09:00:00 GMT":    time.Hour,
		"Sat, 99 Aug 2026 09:00:00 GMT":    0,
	} {
		if got := ParseRetryAfter(value, now); got != want {
			t.Errorf("%q: %v, want %v", value, got, want)
		}
	}
}

func FuzzParseRetryAfter(f *testing.F) {
	for _, s := range []string{"", "1", "3600", "Sat, 22 Aug 2026 10:00:30 GMT", "-1", "9999999999999999999"} {
		f.Add(s, int64(1_790_000_000))
	}
	f.Fuzz(func(t *testing.T, s string, now int64) {
		if got := ParseRetryAfter(s, time.Unix(now, 0)); got < 0 || got > maxRetryAfter {
			t.Errorf("%q: %v", s, got)
		}
	})
}
