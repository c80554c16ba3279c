// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

// maxDepth bounds the nesting that the scanner follows, and with it the stack.
const maxDepth = 256

// scanner walks over JSON text without building anything. It exists because
// encoding/json costs more than the HMAC of a usual body, keeps the last of two
// equal keys in silence, and reads 64-bit numbers as floats. It accepts exactly
// what json.Valid accepts, down to maxDepth.
type scanner struct {
	b []byte
	i int
}

// peek returns the byte at the position, or 0 at the end.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// bom steps over a byte-order mark, which some senders put before their JSON.
func (s *scanner) bom() {
	if len(s.b) >= 3 && s.b[0] == 0xEF && s.b[1] == 0xBB && s.b[2] == 0xBF {
		s.i = 3
	}
}

func (s *scanner) space() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

func (s *scanner) atEnd() bool {
	s.space()
	return s.i == len(s.b)
}

// next steps to the next member or element; more is false at the closing byte.
func (s *scanner) next(closing byte, first bool) (more, ok bool) {
	s.space()
	switch c := s.peek(); {
	case c == closing:
		s.i++
		return false, true
	case first:
		return true, true
	case c != ',':
		return false, false
	}
	s.i++
	s.space()
	return s.peek() != closing, s.peek() != closing
}

// value reads one value of any kind; the position is at its first byte.
func (s *scanner) value(depth int) bool {
	switch c := s.peek(); c {
	case '"':
		return s.str()
	case '{':
		return depth < maxDepth && s.members(depth+1)
	case '[':
		return depth < maxDepth && s.elements(depth+1)
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		return s.number()
	}
}

func (s *scanner) members(depth int) bool {
	s.i++
	for first := true; ; first = false {
		more, ok := s.next('}', first)
		if !ok || !more {
			return ok
		}
		if !s.str() {
			return false
		}
		s.space()
		if s.peek() != ':' {
			return false
		}
		s.i++
		s.space()
		if !s.value(depth) {
			return false
		}
	}
}

func (s *scanner) elements(depth int) bool {
	s.i++
	for first := true; ; first = false {
		more, ok := s.next(']', first)
		if !ok || !more {
			return ok
		}
		if !s.value(depth) {
			return false
		}
	}
}

func (s *scanner) literal(word string) bool {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return false
	}
	s.i += len(word)
	return true
}

func (s *scanner) str() bool {
	if s.peek() != '"' {
		return false
	}
	for s.i++; s.i < len(s.b); s.i++ {
		c := s.b[s.i]
		switch {
		case !special[c]:
		case c == '"':
			s.i++
			return true
		case c < 0x20:
			return false
		default: // a backslash
			if !s.escape() {
				return false
			}
		}
	}
	return false
}

// special marks the bytes that mean something within a string, so that the
// usual byte costs one look-up.
var special = func() (table [256]bool) {
	for c := range 0x20 {
		table[c] = true
	}
	table['"'], table['\\'] = true, true
	return table
}()

// escape reads an escape sequence and leaves the position on its last byte.
func (s *scanner) escape() bool {
	s.i++
	switch s.peek() {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
		if len(s.b)-s.i < 5 {
			return false
		}
		for k := 1; k <= 4; k++ {
			if hexDigit[s.b[s.i+k]] > 15 {
				return false
			}
		}
		s.i += 4
		return true
	}
	return false
}

func (s *scanner) number() bool {
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else if !s.digits() {
		return false
	}
	if s.peek() == '.' {
		if s.i++; !s.digits() {
			return false
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		return s.digits()
	}
	return true
}

// digits reads one or more decimal digits.
func (s *scanner) digits() bool {
	from := s.i
	for s.i < len(s.b) && s.b[s.i]-'0' <= 9 {
		s.i++
	}
	return s.i > from
}
