// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"strconv"
	"time"
)

// Unix times have up to 11 digits before the point in seconds, which lasts to
// the year 5138, and 12 to 15 in milliseconds, which begin in 1973.
const (
	maxSecondDigits = 11
	maxMilliDigits  = 15
)

// appendTime encodes an RFC 3339 or Unix time as an instant. It is not ok if the
// text is neither.
func appendTime(dst, text []byte) (_ []byte, ok bool) {
	l := lexer{body: text}
	if l.number() && l.pos == len(text) {
		return appendUnixTime(dst, text)
	}
	return appendDate(dst, text)
}

// appendUnixTime encodes a valid JSON number without exponent as an instant.
func appendUnixTime(dst, token []byte) (_ []byte, ok bool) {
	if bytes.ContainsAny(token, "eE") {
		return dst, false
	}
	whole, _, _ := bytes.Cut(bytes.TrimPrefix(token, []byte{'-'}), []byte{'.'})
	switch {
	case len(whole) <= maxSecondDigits:
		return appendNumber(dst, tagInstant, token, 0), true
	case len(whole) <= maxMilliDigits:
		return appendNumber(dst, tagInstant, token, -3), true
	}
	return dst, false
}

// appendDate encodes an RFC 3339 text as an instant, with all digits of its
// fraction. Leap seconds, and fractions before 1970, are not ok.
func appendDate(dst, text []byte) (_ []byte, ok bool) {
	const head = "2006-01-02T15:04:05"
	if len(text) < len(head)+1 {
		return dst, false
	}
	date, rest := text[:len(head)], text[len(head):]
	var fraction []byte
	if rest[0] == '.' {
		l := lexer{body: rest, pos: 1}
		if !l.digits() {
			return dst, false
		}
		fraction, rest = bytes.TrimRight(rest[1:l.pos], "0"), rest[l.pos:]
	}
	if !bytes.ContainsAny(rest[:min(1, len(rest))], "Z+-") {
		return dst, false
	}
	// The fraction is left out because time.Time would round it.
	whole := append(append(make([]byte, 0, len(head)+len(rest)), date...), rest...)
	var at time.Time
	if at.UnmarshalText(whole) != nil {
		return dst, false
	}
	seconds := at.Unix()
	if len(fraction) == 0 {
		return appendNumber(dst, tagInstant, strconv.AppendInt(nil, seconds, 10), 0), true
	}
	if seconds < 0 {
		return dst, false
	}
	decimal := append(strconv.AppendInt(nil, seconds, 10), '.')
	return appendNumber(dst, tagInstant, append(decimal, fraction...), 0), true
}
