// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// str reads a string and returns what is between its quotes. Bare control
// characters make the document invalid, except in a wanted value: that is to
// be reported as an ambiguous ID, not as a missing one.
func (s *scanner) str(wanted bool) (raw []byte, escaped, ok bool) {
	b := s.body
	i := s.pos + 1
	start := i
	for {
		i = plainEnd(b, i)
		if i >= len(b) {
			return nil, false, false
		}
		switch b[i] {
		case '"':
			s.pos = i + 1
			return b[start:i], escaped, true
		case '\\':
			n := escapeLen(b[i:])
			if n == 0 {
				return nil, false, false
			}
			escaped = true
			i += n
		default:
			if !wanted {
				return nil, false, false
			}
			i++
		}
	}
}

// plainEnd returns the position of the first quote, backslash or control
// character at or after i, eight bytes at a time. Strings are most of a body.
func plainEnd(b []byte, i int) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(b); i += 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		// Each term marks its lowest matching byte exactly; borrows can only
		// spoil bytes above it.
		hit := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((x - ones*0x20) &^ x)
		if hit &= highs; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
		i++
	}
	return i
}

// number reads a number by the grammar of RFC 8259.
func (s *scanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.pos
	for s.pos < len(s.body) && isDigit(s.body[s.pos]) {
		s.pos++
	}
	return s.pos > start
}

func (s *scanner) literal(text string) bool {
	if !bytes.HasPrefix(s.body[s.pos:], []byte(text)) {
		return false
	}
	s.pos += len(text)
	return true
}

func (s *scanner) take(c byte) bool {
	if s.pos < len(s.body) && s.body[s.pos] == c {
		s.pos++
		return true
	}
	return false
}

func (s *scanner) space() {
	for s.pos < len(s.body) {
		switch s.body[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
