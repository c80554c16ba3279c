// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Request is a received delivery that goes to the app. Nothing in it is
// changed. Header and Body must not be changed or reused afterwards either:
// the transport may read them after [Forwarder.Do] has returned.
type Request struct {
	Method string
	URI    string // request target as it was received: path, "?" and query
	Host   string
	Header http.Header
	Body   []byte

	ProtoMajor, ProtoMinor int  // what the provider spoke, for Via
	TLS                    bool // the provider came over TLS, for X-Forwarded-Proto
	EarlyData              bool // it came before the TLS handshake was over

	RemoteIP     string // address of the peer, empty for unix sockets
	TrustedProxy bool   // the peer's X-Forwarded-* headers are believed

	Key     string // Hookonce-Key, sent unless empty
	Attempt int    // Hookonce-Attempt, sent unless 0

	// Overflow is asked once, when the answer turns out to be longer than
	// Config.KeepBody: the attempt has its status, its header and the first
	// bytes of its body. What it returns gets the bytes that follow; nil
	// throws them away. It must bound the time of its writes, since an attempt
	// waits for them. Its errors do not end the attempt.
	Overflow func(*Attempt) io.Writer
}

// build makes the request for one target.
func (r *Request) build(ctx context.Context, t *target, header http.Header) *http.Request {
	req := t.request.WithContext(ctx)
	req.Method = r.Method
	req.URL = requestURL(t.request.URL, r.URI)
	req.Host = r.Host
	req.Header = header
	req.Body = io.NopCloser(bytes.NewReader(r.Body)) // of all types this one leaves with the head in one write
	req.ContentLength = int64(len(r.Body))
	if len(r.Body) == 0 {
		// A request without a body counts as repeatable when the provider sent
		// an Idempotency-Key, and an HTTP/2 transport repeats it after any
		// PROTOCOL_ERROR. A reader that happens to be empty does not, but has
		// no length in the eyes of net/http: identity keeps it from chunking,
		// and the length is written by setEmptyLength.
		req.TransferEncoding = identity
	}
	return req
}

var (
	identity   = []string{"identity"}
	zeroLength = []string{"0"}
)

// setEmptyLength announces an empty body where an app expects to hear of one.
// The name is not in canonical form, since net/http drops its own name here;
// header names have no case. HTTP/2 says the same by ending the stream.
func (r *Request) setEmptyLength(h http.Header) {
	if len(r.Body) == 0 && r.Method != http.MethodGet && r.Method != http.MethodHead {
		h["content-length"] = zeroLength
	}
}

// requestURL makes net/http write a request target byte for byte. It writes
// Opaque as it is, except when that begins with two slashes; then the path and
// its escaped form say the same, unless the path has bytes that belong escaped.
func requestURL(base *url.URL, uri string) *url.URL {
	u := *base
	if !strings.HasPrefix(uri, "/") && uri != "*" {
		uri = originForm(uri)
	}
	if !strings.HasPrefix(uri, "//") {
		u.Opaque = uri
		return &u
	}
	path, query, found := strings.Cut(uri, "?")
	u.RawQuery, u.ForceQuery = query, found
	u.Path, u.RawPath = path, path
	if plain, err := url.PathUnescape(path); err == nil {
		u.Path = plain
	}
	return &u
}

// originForm turns http://host/path?query into /path?query.
func originForm(uri string) string {
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		i := strings.IndexAny(rest, "/?")
		switch {
		case i < 0:
			return "/"
		case rest[i] == '?':
			return "/" + rest[i:]
		default:
			return rest[i:]
		}
	}
	return "/" + uri
}
