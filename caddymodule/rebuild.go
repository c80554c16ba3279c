// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/hookonce/hookonce/caddymodule/forward"
	"github.com/hookonce/hookonce/caddymodule/spool"
)

type writer = io.Writer

// setBody gives a request its body back. GetBody stays nil: with it, and an
// Idempotency-Key from the provider, net/http would send a POST twice.
func setBody(r *http.Request, body []byte) {
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.ContentLength, r.TransferEncoding = int64(len(body)), nil
	r.GetBody = nil
	if len(body) == 0 { // reverse_proxy drops an empty body, and with it what keeps net/http from repeating
		r.Header = unrepeatable(r.Header)
	}
}

// unrepeatable returns h so that net/http does not send a request without a body
// twice when a reused connection breaks: it does that for every request with one
// of these headers, even after the app did the work. It knows them only in their
// canonical form; for the app, the case of a header's name means nothing.
func unrepeatable(h http.Header) http.Header {
	for _, name := range [...]string{"Idempotency-Key", "X-Idempotency-Key"} {
		if values, ok := h[name]; ok {
			h = maps.Clone(h)
			delete(h, name)
			h[strings.ToLower(name)] = values
		}
	}
	return h
}

// forwardRequest describes a received request to the forwarder.
func forwardRequest(r *http.Request, body []byte) *forward.Request {
	trusted, _ := caddyhttp.GetVar(r.Context(), caddyhttp.TrustedProxyVarKey).(bool)
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = ""
	}
	return &forward.Request{
		Method: r.Method, URI: r.RequestURI, Host: r.Host, Header: r.Header, Body: body,
		ProtoMajor: r.ProtoMajor, ProtoMinor: r.ProtoMinor, TLS: r.TLS != nil,
		RemoteIP: host, TrustedProxy: trusted,
	}
}

// encode makes the bytes that are kept: all that is needed to send the request
// again as it came.
func (c *call) encode(dst []byte) []byte {
	r := c.r
	req := spool.Request{
		Method: r.Method, URI: r.RequestURI, Proto: r.Proto, Host: r.Host, RemoteAddr: r.RemoteAddr,
		TLS: r.TLS != nil, Header: r.Header, Trailer: r.Trailer, Body: c.body, Received: c.started,
	}
	return req.AppendTo(dst[:0])
}

// payloads recycles the buffers of encode. The spool needs them only until the
// bytes are written, unlike a request body, which a transport may still read.
var payloads = sync.Pool{New: func() any { return new([]byte) }}

// largePayload is the size from which a buffer is not worth keeping, in bytes.
const largePayload = 64 << 10

func recyclePayload(b *[]byte) {
	if cap(*b) <= largePayload {
		payloads.Put(b)
	}
}
