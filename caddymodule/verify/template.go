// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// maxParts bounds the parts of a template, literals included, so that the
// values of a message need no allocation.
const maxParts = 16

type partKind int

const (
	partText partKind = iota
	partBody
	partTimestamp
	partMethod
	partSource
)

// part is one piece of a message template.
type part struct {
	kind    partKind
	name    string // as written, for patterns and errors
	text    string
	source  locator
	pattern *regexp.Regexp
}

// template is a parsed message template with what it covers.
type template struct {
	method      string // "" for any
	contentType string // "" for any
	parts       []part
	covers      Coverage
}

// fits reports whether the template is for this kind of request.
func (t *template) fits(r *Request) bool {
	return (t.method == "" || t.method == r.Method) &&
		(t.contentType == "" || t.contentType == r.contentType())
}

// parseTemplate reads a message template. Its errors say what is wrong with the
// template, without naming it.
func parseTemplate(text string, s *Scheme, publicURL string) (*template, error) {
	t := &template{}
	literal := ""
	flush := func() {
		if literal != "" {
			t.parts = append(t.parts, part{kind: partText, text: literal})
			literal = ""
		}
	}
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			literal += text
			break
		}
		literal, text = literal+text[:i], text[i:]
		if len(text) > 1 && text[1] == text[0] { // {{ or }}
			literal, text = literal+text[:1], text[2:]
			continue
		}
		end := strings.IndexByte(text, '}')
		if text[0] == '}' || end < 0 {
			return nil, errors.New("has a brace without its partner; a literal brace is written {{ or }}")
		}
		p, err := t.part(text[1:end], s, publicURL)
		if err != nil {
			return nil, err
		}
		if p.kind == partText {
			literal += p.text
		} else {
			flush()
			t.parts = append(t.parts, p)
		}
		text = text[end+1:]
	}
	flush()
	if len(t.parts) > maxParts {
		return nil, fmt.Errorf("has more than %d parts", maxParts)
	}
	return t, t.attachPatterns(s)
}

// part reads the inside of a pair of braces and notes what it covers.
func (t *template) part(name string, s *Scheme, publicURL string) (part, error) {
	switch name {
	case "body":
		t.covers.Body = true
		return part{kind: partBody, name: name}, nil
	case "timestamp":
		if !s.Timestamp.set() {
			return part{}, errors.New("uses {timestamp}, but no timestamp is configured")
		}
		t.covers.Time = true
		t.covers.add(s.Timestamp.Source)
		return part{kind: partTimestamp, name: name}, nil
	case "method", "http.request.method": // a Caddyfile expands the short form
		t.covers.Method = true
		return part{kind: partMethod, name: name}, nil
	case "url":
		if publicURL == "" {
			return part{}, errors.New("covers the public URL: set public_url to the URL exactly as it is " +
				"registered with the provider, with scheme, path and any trailing slash")
		}
		t.covers.URL = true
		return part{kind: partText, text: publicURL}, nil
	}
	source := s.ID
	if name != "id" {
		var err error
		if source, err = parsePart(name); err != nil {
			return part{}, err
		}
	} else if source.IsZero() {
		return part{}, errors.New("uses {id}, but no id is configured")
	}
	l, err := source.locate()
	if err != nil {
		return part{}, fmt.Errorf("part {%s}: %w", name, err)
	}
	t.covers.add(source)
	return part{kind: partSource, name: name, source: l}, nil
}

func parsePart(name string) (Source, error) {
	kind, arg, _ := strings.Cut(name, ":")
	switch kind {
	case "header":
		return Source{Header: arg}, nil
	case "query":
		return Source{Query: arg}, nil
	case "json":
		return Source{JSON: arg}, nil
	case "form":
		return Source{Form: arg}, nil
	}
	return Source{}, fmt.Errorf("has the unknown part {%s}; known are {body}, {timestamp}, {id}, {method}, {url}, "+
		"{header:Name}, {query:name}, {form:name} and {json:/pointer}", name)
}

// attachPatterns compiles the patterns for the parts of this template. That
// every pattern has a part in some template is checked by the caller.
func (t *template) attachPatterns(s *Scheme) error {
	for i := range t.parts {
		p := &t.parts[i]
		expr, ok := s.Patterns[p.name]
		if !ok || p.kind == partText {
			continue
		}
		re, err := regexp.Compile(`\A(?:` + expr + `)\z`)
		if err != nil {
			return fmt.Errorf("pattern of {%s}: %w", p.name, err)
		}
		p.pattern = re
	}
	return nil
}

// allows reports whether the value fits the pattern of the part, if it has one.
func (p *part) allows(value string) bool { return p.pattern == nil || p.pattern.MatchString(value) }

// misfit is the reason for a value that the pattern does not allow.
func (p *part) misfit() Reason {
	if p.kind == partTimestamp {
		return TimestampMalformed
	}
	return SignatureMalformed
}

// has reports whether a part of that name takes a pattern here.
func (t *template) has(name string) bool {
	return slices.ContainsFunc(t.parts, func(p part) bool { return p.kind != partText && p.name == name })
}
