// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// lexer reads the tokens of one JSON document.
type lexer struct {
	body []byte
	pos  int
}

// str reads a string and returns what is between its quotes. Bare control
// characters make the document invalid, except in a wanted value: that is to
// be reported as an ambiguous ID, not as a missing one.
func (l *lexer) str(wanted bool) (raw []byte, escaped, ok bool) {
	b := l.body
	i := l.pos + 1
	start := i
	for {
		i = plainEnd(b, i)
		if i >= len(b) {
			return nil, false, false
		}
		switch b[i] {
		case '"':
			l.pos = i + 1
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
func (l *lexer) number() bool {
	l.take('-')
	if !l.take('0') && !l.digits() {
		return false
	}
	if l.take('.') && !l.digits() {
		return false
	}
	if l.take('e') || l.take('E') {
		if !l.take('+') {
			l.take('-')
		}
		return l.digits()
	}
	return true
}

func (l *lexer) digits() bool {
	start := l.pos
	for l.pos < len(l.body) && isDigit(l.body[l.pos]) {
		l.pos++
	}
	return l.pos > start
}

func (l *lexer) literal(text string) bool {
	if !bytes.HasPrefix(l.body[l.pos:], []byte(text)) {
		return false
	}
	l.pos += len(text)
	return true
}

func (l *lexer) take(c byte) bool {
	if l.pos < len(l.body) && l.body[l.pos] == c {
		l.pos++
		return true
	}
	return false
}

func (l *lexer) space() {
	for l.pos < len(l.body) {
		switch l.body[l.pos] {
		case ' ', '\t', '\n', '\r':
			l.pos++
		default:
			return
		}
	}
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
