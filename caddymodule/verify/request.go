// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"mime"
	"net/http"
	"net/url"
)

// Request is what verification looks at. Header keys are canonical, as
// net/http delivers them; Body is the exact bytes that arrived, and is not
// needed by HeadersPlausible. A Request serves one delivery and must not be
// used by two goroutines at once.
type Request struct {
	Method   string
	Header   http.Header
	RawQuery string
	Body     []byte

	query, form   url.Values
	hasQ, hasForm bool
}

// NewRequest describes r, whose body has been read into body.
func NewRequest(r *http.Request, body []byte) *Request {
	return &Request{Method: r.Method, Header: r.Header, RawQuery: r.URL.RawQuery, Body: body}
}

// queryValues parses the query once. A query that does not parse has no values.
func (r *Request) queryValues() url.Values {
	if !r.hasQ {
		r.hasQ = true
		if v, err := url.ParseQuery(r.RawQuery); err == nil {
			r.query = v
		}
	}
	return r.query
}

// formValues parses a form body once. Another content type, or a body that
// does not parse, has no values.
func (r *Request) formValues() url.Values {
	if !r.hasForm {
		r.hasForm = true
		if r.contentType() == formType {
			if v, err := url.ParseQuery(string(r.Body)); err == nil {
				r.form = v
			}
		}
	}
	return r.form
}

const formType = "application/x-www-form-urlencoded"

// contentType returns the media type without parameters, or "".
func (r *Request) contentType() string {
	header := r.Header["Content-Type"]
	if len(header) != 1 {
		return ""
	}
	if header[0] == "application/json" {
		return header[0]
	}
	t, _, err := mime.ParseMediaType(header[0])
	if err != nil {
		return ""
	}
	return t
}
