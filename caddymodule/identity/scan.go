// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import "bytes"

// maxDepth is the number of containers that may be open at once. Deeper
// documents are ambiguous: they may well hold an ID that is not looked at.
const maxDepth = 64

// finding is what the scanner knows about one pointer. The zero value means
// that the document has no such value.
type finding struct {
	raw     []byte // number as written, or string between its quotes; a view into the body
	number  bool
	escaped bool   // raw contains a backslash
	bad     Reason // why the value is ambiguous
}

// scanner reads a JSON document once and reports the values at the pointers of
// a tree. It is strict where encoding/json is strict and stricter where that
// one decides silently: duplicate names on a path and names that some parsers
// would read as the wanted one make a finding ambiguous.
//
// The whole document is always read, since a name may come again at the end.
type scanner struct {
	lexer
	found []finding
	name  []byte // scratch for names with escapes
	deep  bool
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// run fills found, which has one entry for each slot of the tree. A body that
// is not exactly one JSON value leaves every entry missing.
func (s *scanner) run(root *node, body []byte, found []finding) {
	clear(found)
	s.body, s.pos, s.found, s.deep = bytes.TrimPrefix(body, byteOrderMark), 0, found, false
	s.space()
	ok := s.value(root, 0)
	s.space()
	switch {
	case s.deep:
		s.condemn(root, ReasonTooDeep)
	case !ok || s.pos != len(s.body):
		clear(found)
	}
	s.body, s.found = nil, nil
}

// value reads any value. A nil node means that nobody wants it.
func (s *scanner) value(n *node, depth int) bool {
	if s.pos >= len(s.body) {
		return false
	}
	start := s.pos
	switch c := s.body[s.pos]; {
	case c == '"':
		wanted := n != nil && len(n.slots) > 0
		raw, escaped, ok := s.str(wanted)
		if wanted {
			s.record(n, finding{raw: raw, escaped: escaped})
		}
		return ok
	case c == '{':
		s.record(n, finding{bad: ReasonWrongType})
		return s.object(n, depth+1)
	case c == '[':
		s.record(n, finding{bad: ReasonWrongType})
		return s.array(n, depth+1)
	case c == '-' || isDigit(c):
		ok := s.number()
		s.record(n, finding{raw: s.body[start:s.pos], number: true})
		return ok
	case c == 't' || c == 'f':
		s.record(n, finding{bad: ReasonWrongType})
		return s.literal("true") || s.literal("false")
	default:
		return s.literal("null")
	}
}

func (s *scanner) object(n *node, depth int) bool {
	if depth > maxDepth {
		s.deep = true
		return false
	}
	s.pos++
	s.space()
	if s.take('}') {
		return true
	}
	var seen uint64 // one bit for each child of n
	for {
		if s.pos >= len(s.body) || s.body[s.pos] != '"' {
			return false
		}
		name, escaped, ok := s.str(false)
		s.space()
		if !ok || !s.take(':') {
			return false
		}
		s.space()
		var child *node
		if n != nil {
			child, seen = s.member(n, name, escaped, seen)
		}
		if !s.value(child, depth) {
			return false
		}
		s.space()
		if !s.take(',') {
			return s.take('}')
		}
		s.space()
	}
}

func (s *scanner) array(n *node, depth int) bool {
	if depth > maxDepth {
		s.deep = true
		return false
	}
	s.pos++
	s.space()
	if s.take(']') {
		return true
	}
	for i := 0; ; i++ {
		if !s.value(n.element(i), depth) {
			return false
		}
		s.space()
		if !s.take(',') {
			return s.take(']')
		}
		s.space()
	}
}

// element returns the child that means index i, or nil.
func (n *node) element(i int) *node {
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if c.index == i {
			return c
		}
	}
	return nil
}

// member returns the child of n that name leads to, or nil. A second or an odd
// occurrence makes everything below the child ambiguous, for good.
func (s *scanner) member(n *node, name []byte, escaped bool, seen uint64) (*node, uint64) {
	i, odd := s.match(n, name, escaped)
	if i < 0 {
		return nil, seen
	}
	bit := uint64(1) << i
	switch {
	case odd:
		s.condemn(n.children[i], ReasonOddName)
	case seen&bit != 0:
		s.condemn(n.children[i], ReasonDuplicateName)
	default:
		return n.children[i], seen | bit
	}
	return nil, seen | bit
}

// match finds the child with the given name. It is odd when the name equals
// that of a child only for parsers that drop, or cut at, bytes which are not
// text, as some do.
func (s *scanner) match(n *node, name []byte, escaped bool) (child int, odd bool) {
	for i, c := range n.children {
		if string(name) == c.name {
			return i, false
		}
	}
	if !escaped && isASCII(name) {
		return -1, false
	}
	text, flaw := unquote(s.name[:0], name)
	s.name = text
	for i, c := range n.children {
		if string(text) == c.name || flaw.found() && string(text[:flaw.at]) == c.name {
			return i, flaw.found()
		}
	}
	return -1, false
}

func (s *scanner) record(n *node, f finding) {
	if n == nil {
		return
	}
	for _, slot := range n.slots {
		s.found[slot] = f
	}
}

func (s *scanner) condemn(n *node, why Reason) {
	s.record(n, finding{bad: why})
	for _, c := range n.children {
		s.condemn(c, why)
	}
}
