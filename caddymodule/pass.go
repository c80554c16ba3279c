// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"net/http"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// bypassRule is one compiled bypass line.
type bypassRule struct {
	source verify.Source
	values []string
}

func (h *Handler) compileBypass() error {
	for _, b := range h.Bypass {
		if err := b.Source.Validate(); err != nil {
			return err
		}
		s := verify.Source{Header: b.Source.Header, JSON: b.Source.JSON, Form: b.Source.Form, Query: b.Source.Query}
		h.bypass = append(h.bypass, bypassRule{source: s, values: b.Values})
	}
	return nil
}

// isHandshakeByMethod reports whether the request cannot be a delivery: a
// probe, or a challenge by GET. One that has a body, or any signature, is a
// delivery and must verify (Gitea and Shopware can be told to use GET).
func (c *call) isHandshakeByMethod() bool {
	switch c.r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return c.r.ContentLength == 0 &&
			c.h.verifier.HeadersPlausible(verify.NewRequest(c.r, nil), c.started) == verify.SignatureMissing
	}
	return false
}

// handshake passes what is no delivery to the app, or refuses it.
func (c *call) handshake() error {
	if c.h.Handshake == "off" {
		c.w.Header().Set("Allow", http.MethodPost)
		return c.refuse(http.StatusMethodNotAllowed, "method", nil)
	}
	return c.pass("handshake")
}

// bypassed reports whether a verified delivery is a test event or a challenge
// that the preset or the route names.
func (c *call) bypassed() bool {
	if c.h.Handshake != "off" && c.h.preset.Handshake(c.vreq, true, "") != nil {
		return true
	}
	for i := range c.h.bypass {
		b := &c.h.bypass[i]
		found := b.source.Get(c.vreq)
		for _, v := range b.values {
			if found != "" && found == v {
				return true
			}
		}
	}
	return false
}

// pass hands a request to the app as if we were not there, and records nothing.
func (c *call) pass(kind string) error {
	h := c.h
	h.metrics.passed(kind)
	c.status = kind
	setBody(c.r, c.body)
	switch {
	case h.forwarder != nil:
		ctx, cancel := c.detached()
		defer cancel()
		a := h.forwarder.Do(ctx, forwardRequest(c.r, c.body))
		if a.Status == 0 || a.Err != nil {
			return caddyhttp.Error(http.StatusBadGateway, a.Err)
		}
		c.write(&answer{status: a.Status, header: a.Header, trailer: a.Trailer, body: a.Body}, kind)
		return nil
	case h.chain != nil:
		return h.chain.ServeHTTP(c.w, c.r)
	default:
		return c.next.ServeHTTP(c.w, c.r)
	}
}
