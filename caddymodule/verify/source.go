// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
)

// Source names one place of a request. Exactly one field is set.
type Source struct {
	// Header is a header name, in any case.
	Header string `json:"header,omitempty"`
	// Query is the name of a query parameter; its decoded value counts.
	Query string `json:"query,omitempty"`
	// JSON is an RFC 6901 pointer into a JSON body, such as "/event/id". It
	// must lead to a string, a number or a boolean.
	JSON string `json:"json,omitempty"`
	// Form is the name of a field of a form body; its decoded value counts.
	Form string `json:"form,omitempty"`
}

// IsZero reports whether no place is named.
func (s Source) IsZero() bool { return s == Source{} }

// String returns the form that a message template and a Caddyfile use, with a
// colon between kind and name.
func (s Source) String() string {
	switch {
	case s.Header != "":
		return "header:" + s.Header
	case s.Query != "":
		return "query:" + s.Query
	case s.JSON != "":
		return "json:" + s.JSON
	case s.Form != "":
		return "form:" + s.Form
	}
	return ""
}

// Get returns the value found there. It is empty when there is none, and when
// the place occurs more than once, because two values are no value.
func (s Source) Get(r *Request) string {
	l, err := s.locate()
	if err != nil {
		return ""
	}
	text, n := l.get(r)
	if n != once {
		return ""
	}
	return text
}

// occurs counts how often a place was found.
type occurs int

const (
	absent occurs = iota
	once
	ambiguous
)

type sourceKind int

const (
	inHeader sourceKind = iota + 1
	inQuery
	inJSON
	inForm
)

// locator is a checked Source with its name in the form that lookups need.
type locator struct {
	kind    sourceKind
	name    string
	pointer []string
}

func (s Source) locate() (locator, error) {
	set := 0
	for _, name := range []string{s.Header, s.Query, s.JSON, s.Form} {
		if name != "" {
			set++
		}
	}
	if set != 1 {
		return locator{}, errors.New("want exactly one of header, query, json and form")
	}
	switch {
	case s.Header != "":
		if strings.ContainsAny(s.Header, " \t\r\n:") {
			return locator{}, fmt.Errorf("%q is not a header name", s.Header)
		}
		return locator{kind: inHeader, name: textproto.CanonicalMIMEHeaderKey(s.Header)}, nil
	case s.Query != "":
		return locator{kind: inQuery, name: s.Query}, nil
	case s.Form != "":
		return locator{kind: inForm, name: s.Form}, nil
	}
	pointer, err := parsePointer(s.JSON)
	return locator{kind: inJSON, name: s.JSON, pointer: pointer}, err
}

func (l *locator) get(r *Request) (string, occurs) {
	switch l.kind {
	case inHeader:
		return headerValue(r.Header, l.name)
	case inQuery:
		return formValue(r.queryValues(), l.name)
	case inForm:
		return formValue(r.formValues(), l.name)
	default:
		return lookupJSON(r.Body, l.pointer)
	}
}

// headerValue treats an empty header as absent: Gitea and Documenso send their
// signature header empty when no secret is set.
func headerValue(h http.Header, name string) (string, occurs) {
	switch v := h[name]; len(v) {
	case 0:
		return "", absent
	case 1:
		if v[0] == "" {
			return "", absent
		}
		return v[0], once
	default:
		return "", ambiguous
	}
}

func formValue(values url.Values, name string) (string, occurs) {
	switch v := values[name]; len(v) {
	case 0:
		return "", absent
	case 1:
		return v[0], once
	default:
		return "", ambiguous
	}
}

// Interface guards
var _ fmt.Stringer = Source{}
