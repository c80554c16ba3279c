// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import "slices"

// Coverage says which parts of a request the signature covers. What it does not
// cover, anybody who saw one delivery can change.
type Coverage struct {
	Body, Method, URL, Time     bool
	Headers, Query, Form, JSONs []string
}

// Signed reports whether the value at the source is covered. A nil Coverage
// covers nothing.
func (c *Coverage) Signed(s Source) bool {
	if c == nil {
		return false
	}
	l, err := s.locate()
	if err != nil {
		return false
	}
	switch l.kind {
	case inHeader:
		return slices.Contains(c.Headers, l.name)
	case inQuery:
		return slices.Contains(c.Query, l.name)
	case inForm:
		return c.Body || slices.Contains(c.Form, l.name)
	default:
		return c.Body || slices.Contains(c.JSONs, l.name)
	}
}

func (c *Coverage) add(s Source) {
	l, err := s.locate()
	if err != nil {
		return
	}
	switch l.kind {
	case inHeader:
		c.Headers = append(c.Headers, l.name)
	case inQuery:
		c.Query = append(c.Query, l.name)
	case inForm:
		c.Form = append(c.Form, l.name)
	default:
		c.JSONs = append(c.JSONs, l.name)
	}
}

// Covers returns what the first way of signing of the scheme covers, before any
// secret is known. A scheme with an error in it covers nothing.
func (s *Scheme) Covers() Coverage {
	if s.Algorithm == staticToken {
		return Coverage{}
	}
	t, err := parseTemplate(s.Message, s, "https://example.com/")
	if err != nil {
		return Coverage{}
	}
	return t.covers
}
