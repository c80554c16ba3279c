// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parsePointer splits an RFC 6901 pointer into its decoded tokens.
func parsePointer(text string) ([]string, error) {
	if !strings.HasPrefix(text, "/") {
		return nil, fmt.Errorf("json pointer %q: must begin with a slash, as in /data/id", text)
	}
	tokens := strings.Split(text[1:], "/")
	for i, t := range tokens {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(t), "~") {
			return nil, fmt.Errorf("json pointer %q: a tilde is written ~0 and a slash ~1", text)
		}
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens, nil
}

// lookupJSON finds the scalar that pointer leads to and returns the decoded
// text of a string, or the literal text of a number or boolean, so that 64-bit
// numbers keep every digit. A key that occurs twice on the way is ambiguous,
// and so is a body that is not valid JSON from end to end: different parsers
// would see different values. Null, objects and arrays count as absent.
func lookupJSON(body []byte, pointer []string) (string, occurs) {
	s := scanner{b: body}
	s.bom()
	found, ok := s.find(pointer, 0)
	if !ok || !s.atEnd() {
		return "", ambiguous
	}
	if found.to == 0 {
		return "", absent
	}
	raw := body[found.from:found.to]
	switch raw[0] {
	case '"':
		var text string
		if !utf8.Valid(raw) || json.Unmarshal(raw, &text) != nil {
			return "", ambiguous
		}
		return text, once
	case '{', '[', 'n':
		return "", absent
	default:
		return string(raw), once
	}
}

// span is a half-open range of the scanned bytes; to is 0 when nothing was
// found, because no value can end at offset 0.
type span struct{ from, to int }

// find reads one value completely and returns where the value that pointer
// leads to lies within it.
func (s *scanner) find(pointer []string, depth int) (span, bool) {
	s.space()
	if len(pointer) == 0 || s.peek() != '{' && s.peek() != '[' {
		from := s.i
		if !s.value(depth) {
			return span{}, false
		}
		if len(pointer) > 0 {
			return span{}, true
		}
		return span{from, s.i}, true
	}
	if depth >= maxDepth {
		return span{}, false
	}
	if s.peek() == '{' {
		return s.findMember(pointer, depth+1)
	}
	return s.findElement(pointer, depth+1)
}

func (s *scanner) findMember(pointer []string, depth int) (span, bool) {
	var found span
	matched := false
	s.i++
	for first := true; ; first = false {
		more, ok := s.next('}', first)
		if !ok || !more {
			return found, ok
		}
		from := s.i
		if !s.str() {
			return span{}, false
		}
		name := s.b[from:s.i]
		s.space()
		if s.peek() != ':' {
			return span{}, false
		}
		s.i++
		if !sameKey(name, pointer[0]) {
			if s.space(); !s.value(depth) {
				return span{}, false
			}
			continue
		}
		if matched {
			return span{}, false
		}
		matched = true
		if found, ok = s.find(pointer[1:], depth); !ok {
			return span{}, false
		}
	}
}

func (s *scanner) findElement(pointer []string, depth int) (span, bool) {
	var found span
	index, err := strconv.ParseUint(pointer[0], 10, 31)
	if err != nil || strconv.FormatUint(index, 10) != pointer[0] {
		index = 1 << 32 // an impossible index: read on, find nothing
	}
	s.i++
	for n := uint64(0); ; n++ {
		more, ok := s.next(']', n == 0)
		if !ok || !more {
			return found, ok
		}
		if n != index {
			if s.space(); !s.value(depth) {
				return span{}, false
			}
			continue
		}
		if found, ok = s.find(pointer[1:], depth); !ok {
			return span{}, false
		}
	}
}

// sameKey compares a quoted key with the wanted name, and decodes the key only
// when it contains an escape.
func sameKey(quoted []byte, want string) bool {
	inner := quoted[1 : len(quoted)-1]
	if slices.Contains(inner, '\\') {
		var name string
		return json.Unmarshal(quoted, &name) == nil && name == want
	}
	return string(inner) == want
}

// present reports whether any value, of whatever kind, is at the pointer.
func present(body []byte, pointer []string) bool {
	s := scanner{b: body}
	s.bom()
	found, ok := s.find(pointer, 0)
	return ok && s.atEnd() && found.to > 0
}
