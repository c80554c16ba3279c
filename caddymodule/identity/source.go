// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a configuration. They bound the work of one request, and no known
// provider comes near them.
const (
	maxParts   = 8   // parts of one composite source
	maxNameLen = 256 // bytes of a header, form or query name, or of one pointer token
)

// Source says where in a request an ID is found. Exactly one field is set.
//
// Its text form is "header X-GitHub-Delivery", "json /data/id", "form
// MessageSid" or "query id". A composite joins parts with a plus sign: "header
// X-GitHub-Hook-ID + header X-GitHub-Delivery". A name with a space in it is
// put in double quotes.
type Source struct {
	// Header is the name of a request header. It must occur exactly once.
	Header string `json:"header,omitempty"`
	// JSON is an RFC 6901 pointer into the body, such as /data/object/id.
	JSON string `json:"json,omitempty"`
	// Form is the name of a field in an application/x-www-form-urlencoded body.
	// The Content-Type is not looked at: no signature covers it, so whoever
	// replays a capture could hide the ID by changing it.
	Form string `json:"form,omitempty"`
	// Query is the name of a parameter in the query of the URL.
	Query string `json:"query,omitempty"`
	// All makes a composite of two to eight simple sources, for providers whose
	// ID is unique only together with another value. It is missing when any of
	// its parts is.
	All []Source `json:"all,omitempty"`
}

// Validate reports the first thing that is wrong with the source.
func (s Source) Validate() error {
	set := 0
	for _, name := range []string{s.Header, s.JSON, s.Form, s.Query} {
		if name != "" {
			set++
		}
	}
	if len(s.All) > 0 {
		set++
	}
	if set != 1 {
		return errors.New("a source needs exactly one of header, json, form, query, all")
	}
	if len(s.All) > 0 {
		return s.validateComposite()
	}
	kind, name := s.leaf()
	if err := validateName(name); err != nil {
		return fmt.Errorf("source %s %q: %w", kind, name, err)
	}
	switch kind {
	case "header":
		if strings.ContainsFunc(name, notTokenRune) {
			return fmt.Errorf("source header %q: not a header name", name)
		}
	case "json":
		if _, err := ParsePointer(name); err != nil {
			return fmt.Errorf("source json: %w", err)
		}
	}
	return nil
}

func (s Source) validateComposite() error {
	if len(s.All) < 2 || len(s.All) > maxParts {
		return fmt.Errorf("a composite source has %d parts, want 2 to %d", len(s.All), maxParts)
	}
	for _, part := range s.All {
		if len(part.All) > 0 {
			return errors.New("a composite source cannot contain another composite")
		}
		if err := part.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// validateName refuses what has no one reading in the text form. Such names are
// not known from any provider.
func validateName(name string) error {
	switch {
	case !utf8.ValidString(name):
		return errors.New("name is not valid UTF-8")
	case strings.ContainsAny(name, "\"`\\"):
		return errors.New("name must not contain quotes or backslashes")
	case strings.ContainsFunc(name, unicode.IsControl):
		return errors.New("name must not contain control characters")
	case len(name) > maxNameLen && !strings.HasPrefix(name, "/"):
		return fmt.Errorf("name is longer than %d bytes", maxNameLen)
	}
	return nil
}

// notTokenRune is the complement of the tchar set of RFC 9110.
func notTokenRune(r rune) bool {
	if r >= utf8.RuneSelf {
		return true
	}
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("!#$%&'*+-.^_`|~", r))
}

// leaf returns kind and name of a simple source.
func (s Source) leaf() (kind, name string) {
	switch {
	case s.Header != "":
		return "header", s.Header
	case s.JSON != "":
		return "json", s.JSON
	case s.Form != "":
		return "form", s.Form
	default:
		return "query", s.Query
	}
}

// Leaves returns the simple sources that this source reads: itself, or the
// parts of a composite.
func (s Source) Leaves() []Source {
	if len(s.All) > 0 {
		return s.All
	}
	return []Source{s}
}

// String returns the text form, which ParseSource reads back.
func (s Source) String() string {
	var b strings.Builder
	for i, part := range s.Leaves() {
		if i > 0 {
			b.WriteString(" + ")
		}
		kind, name := part.leaf()
		b.WriteString(kind)
		b.WriteByte(' ')
		if strings.ContainsFunc(name, unicode.IsSpace) {
			name = `"` + name + `"`
		}
		b.WriteString(name)
	}
	return b.String()
}

// Candidate is a source together with what the signature says about it.
type Candidate struct {
	Source Source
	// Signed tells that the verified signature covers the value, so that nobody
	// but the sender can choose it. A composite is signed when all of its parts
	// are.
	Signed bool
}

// Candidates pairs each source with its trust. It asks signed about every
// simple source, one part of a composite at a time.
func Candidates(sources []Source, signed func(simple Source) bool) []Candidate {
	out := make([]Candidate, 0, len(sources))
	for _, s := range sources {
		c := Candidate{Source: s, Signed: true}
		for _, part := range s.Leaves() {
			c.Signed = c.Signed && signed(part)
		}
		out = append(out, c)
	}
	return out
}

// Interface guard.
var _ fmt.Stringer = Source{}
