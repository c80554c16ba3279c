// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import "bytes"

// formField finds the one pair called name in an urlencoded text and returns its
// value, still encoded. Pairs are separated by & alone, as in the URL standard.
// A name that occurs twice is ambiguous.
func formField(text []byte, name string) (raw []byte, present bool, bad Reason) {
	for len(text) > 0 {
		var pair []byte
		pair, text, _ = bytes.Cut(text, []byte{'&'})
		key, value, _ := bytes.Cut(pair, []byte{'='})
		if !isNamed(key, name) {
			continue
		}
		if present {
			return nil, true, ReasonRepeated
		}
		raw, present = value, true
	}
	return raw, present, ""
}

// formText appends the plain text of an encoded value to dst.
func formText(dst, raw []byte) ([]byte, Reason) {
	// Three bytes are the most that one byte takes, so that an oversized value
	// need not be decoded to know that it is one.
	if len(raw) > 3*MaxIDLen {
		return dst, ReasonTooLong
	}
	for len(raw) > 0 {
		c, size := formByte(raw)
		if size == 0 {
			return dst, ReasonEncoding
		}
		dst, raw = append(dst, c), raw[size:]
	}
	return dst, ""
}

// isNamed compares an encoded key with a plain name. A key with a broken escape
// has no name.
func isNamed(key []byte, name string) bool {
	if len(key) < len(name) {
		return false
	}
	for i := range len(name) {
		c, size := formByte(key)
		if size == 0 || c != name[i] {
			return false
		}
		key = key[size:]
	}
	return len(key) == 0
}

// formByte decodes the first byte of an urlencoded text. A size of 0 means that
// there is none, or that its escape is broken.
func formByte(b []byte) (c byte, size int) {
	switch {
	case len(b) == 0:
		return 0, 0
	case b[0] == '+':
		return ' ', 1
	case b[0] != '%':
		return b[0], 1
	case len(b) < 3:
		return 0, 0
	}
	high, low := unhex(b[1]), unhex(b[2])
	if high < 0 || low < 0 {
		return 0, 0
	}
	return byte(high<<4 | low), 3
}
