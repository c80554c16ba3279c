// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"net/http"
	"strconv"
)

// recorder takes the answer of a handler without giving it to the provider,
// who may be gone or may have to hear something else. Beyond its limit it passes
// the answer on as it comes.
type recorder struct {
	header   http.Header
	status   int
	body     []byte
	size     int64
	limit    int
	overflow func(*recorder) http.ResponseWriter
	live     http.ResponseWriter
	aborted  bool
}

// Header returns the header that the handler fills in. It is not shared with
// the provider's.
func (r *recorder) Header() http.Header {
	if r.header == nil {
		r.header = make(http.Header)
	}
	return r.header
}

// WriteHeader notes the final status; interim ones are dropped.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
}

// Write keeps the body up to the limit.
func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.size += int64(len(p))
	if r.live == nil && len(r.body)+len(p) > r.limit {
		r.live = r.overflow(r)
	}
	if r.live != nil {
		_, _ = boundedWriter{r.live}.Write(p) // a provider that left does not end the attempt
		return len(p), nil
	}
	r.body = append(r.body, p...)
	return len(p), nil
}

// Flush does nothing: the answer is complete before the provider hears of it.
func (r *recorder) Flush() {}

// complete reports whether the body ended as its head announced.
func (r *recorder) complete() bool {
	if r.aborted || r.status == 0 {
		return false
	}
	length := r.Header().Get("Content-Length")
	if length == "" || r.size == 0 {
		return true // nothing announced, or an answer to HEAD
	}
	n, err := strconv.ParseInt(length, 10, 64)
	return err != nil || n == r.size
}

// Interface guards.
var (
	_ http.ResponseWriter = (*recorder)(nil)
	_ http.Flusher        = (*recorder)(nil)
)
