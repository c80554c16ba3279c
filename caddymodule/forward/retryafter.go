// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter caps what an app may ask for: a wrong figure must not park an
// event for days.
const maxRetryAfter = time.Hour

// ParseRetryAfter reads a Retry-After header: whole seconds or an HTTP date. It
// returns at most one hour, and 0 for what is missing, past or malformed.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.Trim(value, " \t")
	if value == "" {
		return 0
	}
	if isDigits(value) {
		// A figure too large to parse is a long time, too.
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n > int64(maxRetryAfter/time.Second) {
			return maxRetryAfter
		}
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), maxRetryAfter)
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
