// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"net/http"
	"time"
)

// KeyHeaders are the request headers that the ledger keeps. Those that
// identify a delivery come first, in the order in which Key asks them.
var KeyHeaders = []string{
	"X-GitHub-Delivery", "Webhook-Id", "Svix-Id", "X-Shopify-Webhook-Id",
	"X-Request-UUID", "X-Gitlab-Webhook-UUID", "X-Gitea-Delivery", "X-Xquik-Delivery-Id",
	"Idempotency-Key", "Hookonce-Key", "Hookonce-Attempt",
}

// identifying is how many of KeyHeaders name the delivery rather than the attempt.
var identifying = len(KeyHeaders) - 3

// Effect is one thing the app did, as the ledger keeps it.
type Effect struct {
	// Seq counts the effects of the ledger from 1, across restarts. It is 0 in
	// an arrival whose effect has not been recorded (yet).
	Seq  int64     `json:"seq"`
	Time time.Time `json:"time"`

	// Conn numbers the connections of this process from 1; Reused says that
	// the connection had carried a request before.
	Conn   int64 `json:"conn"`
	Reused bool  `json:"reused"`

	Proto  string `json:"proto,omitempty"`
	Method string `json:"method,omitempty"`
	Host   string `json:"host,omitempty"`
	// Path is the request target as sent, with the query.
	Path string `json:"path,omitempty"`
	// Headers holds the first value of each of KeyHeaders that was present.
	Headers map[string]string `json:"headers,omitempty"`

	// Bytes and SHA256 (lower-case hex) are of the body as far as it was read;
	// Complete says that this was all of it.
	Bytes    int64  `json:"bytes"`
	SHA256   string `json:"sha256,omitempty"`
	Complete bool   `json:"complete"`

	// Did describes the behaviour that the request met.
	Did string `json:"did,omitempty"`

	// Header and Body are the whole request, in this process only; Body needs
	// Config.KeepBodies.
	Header http.Header `json:"-"`
	Body   []byte      `json:"-"`
}

// Key names the delivery: the first identifying header that was present, else
// the digest of the body.
func (e Effect) Key() string {
	for _, name := range KeyHeaders[:identifying] {
		if v := e.Headers[name]; v != "" {
			return name + ":" + v
		}
	}
	return "sha256:" + e.SHA256
}

// keyHeaders picks the headers that go to the ledger.
func keyHeaders(h http.Header) map[string]string {
	var kept map[string]string
	for _, name := range KeyHeaders {
		if v := h.Get(name); v != "" {
			if kept == nil {
				kept = make(map[string]string)
			}
			kept[name] = v
		}
	}
	return kept
}
