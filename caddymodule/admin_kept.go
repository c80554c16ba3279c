// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/spool"
)

// redacted stands in place of a value that is nobody's business.
const redacted = "(redacted)"

// requestView is a kept request without its body: whoever may decide about a
// delivery need not read the customer's data.
type requestView struct {
	Received   time.Time   `json:"received,omitzero"`
	Method     string      `json:"method"`
	Host       string      `json:"host"`
	Path       string      `json:"path"`
	Query      []string    `json:"query,omitempty"` // names of the parameters alone
	Headers    http.Header `json:"headers"`
	BodySize   int         `json:"body_size"`
	BodySHA256 string      `json:"body_sha256"`
}

// keptRequest reads the request of a delivery. Without one it returns nil and
// says why.
func (c *adminCall) keptRequest(r *delivery.Record) (*requestView, string) {
	if !r.Kept {
		if r.State.Final() {
			return nil, "not kept any more, because the delivery is settled"
		}
		return nil, "not kept"
	}
	data, err := c.n.spool.Get(r.Spool)
	if err != nil {
		if errors.Is(err, spool.ErrNotFound) {
			return nil, "missing"
		}
		return nil, "cannot be read: " + err.Error()
	}
	req, err := spool.Decode(data)
	if err != nil {
		return nil, "cannot be read: " + err.Error()
	}
	return viewRequest(&req, c.signatureHeaders(r.Source)), ""
}

// signatureHeaders are the headers in which the route looks for a signature.
func (c *adminCall) signatureHeaders(route string) []string {
	h, ok := c.app.route(route)
	if !ok {
		return nil
	}
	var names []string
	for _, place := range h.verifier.LooksFor() {
		if name, ok := strings.CutPrefix(place, "header:"); ok {
			names = append(names, http.CanonicalHeaderKey(name))
		}
	}
	return names
}

func viewRequest(req *spool.Request, secret []string) *requestView {
	sum := sha256.Sum256(req.Body)
	v := &requestView{
		Received: req.Received, Method: req.Method, Host: req.Host,
		Headers: make(http.Header, len(req.Header)), BodySize: len(req.Body), BodySHA256: hex.EncodeToString(sum[:]),
	}
	path, query, _ := strings.Cut(req.URI, "?")
	v.Path = path
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if text, err := url.QueryUnescape(name); err == nil {
			name = text
		}
		if name != "" && !slices.Contains(v.Query, name) {
			v.Query = append(v.Query, name)
		}
	}
	for name, values := range req.Header {
		if sensitive(name) || slices.Contains(secret, name) {
			values = slices.Repeat([]string{redacted}, len(values))
		}
		v.Headers[name] = values
	}
	return v
}

// sensitiveParts are parts of header names whose values prove something to
// somebody: signatures can be replayed, tokens and cookies used.
var sensitiveParts = []string{
	"sign", "hmac", "digest", "token", "auth", "cookie", "secret", "key", "password", "passwd",
	"credential", "session", "jwt", "bearer", "assertion", "certificate", "cert",
}

func sensitive(header string) bool {
	lower := strings.ToLower(header)
	return slices.ContainsFunc(sensitiveParts, func(part string) bool { return strings.Contains(lower, part) })
}
