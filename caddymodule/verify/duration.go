// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Off is the Duration that switches a limit off; it is written "off".
const Off Duration = -1

const day = 24 * time.Hour

// Duration is a time.Duration that is written as text in JSON: "90s", "5m",
// "7d", "75h35m5s" or "off". A bare number is read as nanoseconds, as Caddy
// writes its own durations.
type Duration time.Duration

// ParseDuration reads the text form of a Duration. Days may lead, as in
// "1d12h"; a day is 24 hours. Negative durations are an error.
func ParseDuration(text string) (Duration, error) {
	if text == "off" {
		return Off, nil
	}
	var days time.Duration
	rest := text
	if before, after, ok := strings.Cut(text, "d"); ok {
		n, err := strconv.ParseUint(before, 10, 16)
		if err != nil {
			return 0, fmt.Errorf("duration %q: want a form like 90s, 5m, 7d or off", text)
		}
		days, rest = time.Duration(n)*day, after
		if rest == "" {
			return Duration(days), nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || d > math.MaxInt64-days {
		return 0, fmt.Errorf("duration %q: want a form like 90s, 5m, 7d or off", text)
	}
	return Duration(days + d), nil
}

// String writes whole days as "7d" and everything else as time.Duration does.
func (d Duration) String() string {
	switch {
	case d == Off:
		return "off"
	case d > 0 && time.Duration(d)%day == 0:
		return strconv.FormatInt(int64(time.Duration(d)/day), 10) + "d"
	}
	return time.Duration(d).String()
}

// MarshalJSON writes the text form.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads the text form or a number of nanoseconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		parsed, err := ParseDuration(text)
		*d = parsed
		return err
	}
	var ns int64
	if err := json.Unmarshal(data, &ns); err != nil || ns < 0 {
		return errors.New("duration: want text like \"5m\" or a number of nanoseconds")
	}
	*d = Duration(ns)
	return nil
}

// Interface guards
var (
	_ json.Marshaler   = Duration(0)
	_ json.Unmarshaler = (*Duration)(nil)
	_ fmt.Stringer     = Duration(0)
)
