// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxIDLen is the longest ID, in bytes after decoding, that is accepted. A
// longer one is ambiguous: no provider sends such, and cutting it would merge
// IDs that differ only at the end.
const MaxIDLen = 256

// maxShown is the number of bytes of an ID that is kept for display.
const maxShown = 128

// flaw is the first thing in a text that parsers disagree about. The zero value
// means none.
type flaw struct {
	at  int // bytes of clean text before it
	why Reason
}

func (f flaw) found() bool { return f.why != "" }

func (f *flaw) note(at int, why Reason) {
	if f.why == "" {
		*f = flaw{at: at, why: why}
	}
}

// unquote appends to dst the text of a JSON string whose escapes the scanner has
// checked. What is not text (lone surrogates, bad UTF-8, control characters) is
// left out and noted. It stops beyond MaxIDLen bytes.
func unquote(dst, raw []byte) ([]byte, flaw) {
	var f flaw
	start := len(dst)
	for len(raw) > 0 {
		done := len(dst) - start
		if done > MaxIDLen {
			f.note(done, ReasonTooLong)
			break
		}
		r, size, why := nextRune(raw)
		raw = raw[size:]
		if why == "" && unicode.IsControl(r) {
			why = ReasonControl
		}
		if why != "" {
			f.note(done, why)
			continue
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst, f
}

// nextRune reads one character or escape at the front of raw.
func nextRune(raw []byte) (r rune, size int, why Reason) {
	if raw[0] != '\\' {
		r, size = utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 {
			why = ReasonEncoding
		}
		return r, size, why
	}
	switch raw[1] {
	case 'b', 'f', 'n', 'r', 't':
		return '\n', 2, ReasonControl
	case 'u':
	default:
		return rune(raw[1]), 2, ""
	}
	r = hex4(raw[2:])
	if !utf16.IsSurrogate(r) {
		return r, 6, ""
	}
	if rest := raw[6:]; len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if both := utf16.DecodeRune(r, hex4(rest[2:])); both != utf8.RuneError {
			return both, 12, ""
		}
	}
	return utf8.RuneError, 6, ReasonEncoding
}

// escapeLen returns the length of the valid escape at the front of b, or 0.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) >= 6 && hex4(b[2:]) >= 0 {
			return 6
		}
	}
	return 0
}

// hex4 returns the value of four hexadecimal digits, or -1.
func hex4(b []byte) rune {
	var r rune
	for _, c := range b[:4] {
		d := unhex(c)
		if d < 0 {
			return -1
		}
		r = r<<4 | rune(d)
	}
	return r
}

// unhex returns the value of a hexadecimal digit, or -1.
func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// checkText returns why a decoded ID is ambiguous, or "".
func checkText(text []byte) Reason {
	if len(text) > MaxIDLen {
		return ReasonTooLong
	}
	if !utf8.Valid(text) {
		return ReasonEncoding
	}
	if bytes.ContainsFunc(text, unicode.IsControl) {
		return ReasonControl
	}
	return ""
}

// isPlaceholder tells whether text is what software writes when it has no ID.
// Taken as IDs, such values would make all deliveries without one look alike.
func isPlaceholder(text []byte) bool {
	text = bytes.TrimSpace(text)
	if len(text) == 0 {
		return true
	}
	for _, p := range placeholders {
		if len(p) == len(text) && bytes.EqualFold(text, p) {
			return true
		}
	}
	return false
}

var placeholders = [][]byte{
	[]byte("null"), []byte("(null)"), []byte("<null>"), []byte("nil"), []byte("<nil>"), []byte("none"),
	[]byte("undefined"), []byte("nan"), []byte("n/a"), []byte("0"), []byte("-"),
	[]byte("[object object]"), []byte("00000000-0000-0000-0000-000000000000"),
}

// isZero tells whether a JSON number is zero, however it is spelled.
func isZero(number []byte) bool {
	for _, c := range number {
		switch {
		case c == 'e' || c == 'E':
			return true
		case c >= '1' && c <= '9':
			return false
		}
	}
	return true
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendShown appends an ID for people: what is not printable is escaped, which
// includes the characters that turn the direction of text.
func appendShown(dst []byte, text []byte) []byte {
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case strconv.IsPrint(r) && r != '\\':
			dst = append(dst, text[:size]...)
		default:
			quoted := strconv.AppendQuoteRuneToASCII(nil, r)
			dst = append(dst, quoted[1:len(quoted)-1]...)
		}
		text = text[size:]
	}
	return dst
}

// shorten cuts a shown ID at a character boundary.
func shorten(shown []byte) string {
	if len(shown) <= maxShown {
		return string(shown)
	}
	cut := maxShown
	for !utf8.RuneStart(shown[cut]) {
		cut--
	}
	return string(shown[:cut]) + "…"
}
