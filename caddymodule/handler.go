// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/forward"
	"github.com/hookonce/hookonce/caddymodule/verify"
)

func init() { caddy.RegisterModule(new(Handler)) }

// Handler passes each webhook delivery to the app once. It verifies the
// signature, recognises repeats, joins a repeat to the attempt that is still
// running, answers what was done before with 200, and keeps what nobody can
// decide for a person.
//
// Placeholders that it sets for logs and later handlers:
//
// Placeholder | Description
// ------------|------------
// `{http.hookonce.provider}` | The provider of the route
// `{http.hookonce.sender}` | The tenant, when the route names one
// `{http.hookonce.status}` | What the provider was told, as in the header Hookonce-Status
// `{http.hookonce.key}` | The first 8 hex digits of the delivery's key
// `{http.hookonce.strength}` | strong, medium or fallback: what the identity is worth
// `{http.hookonce.decision}` | process, skip or review
// `{http.hookonce.attempt}` | The number of the attempt that was made, if one was made
type Handler struct {
	Config

	app       *App
	preset    *verify.Preset // never nil: an empty one without a provider
	verifier  *verify.Verifier
	derivers  atomic.Pointer[derivers]
	forwarder *forward.Forwarder
	routes    caddyhttp.RouteList // compiled forward block
	chain     caddyhttp.Handler   // entry of routes, nil without a forward block
	bypass    []bypassRule
	policy    delivery.Policy
	contract  delivery.Contract

	fallbackWindow  time.Duration
	inflightWait    time.Duration
	upstreamTimeout time.Duration
	bodyTimeout     time.Duration

	server  atomic.Pointer[caddyhttp.Server] // the server that this route was last seen in
	logger  *zap.Logger
	metrics *routeMetrics
	now     func() time.Time
}

// CaddyModule returns the Caddy module information.
func (*Handler) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "http.handlers.hookonce", New: func() caddy.Module { return new(Handler) }}
}

// ServeHTTP is the pipeline. Every step either ends the request or hands it to
// the next one; nothing is read from or written to the store before the
// signature is verified (invariant I1).
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request, next caddyhttp.Handler) error {
	c := &call{h: h, w: w, r: r, next: next, started: h.now()}
	defer c.releaseBody()
	c.prepare()
	if c.isHandshakeByMethod() {
		return c.handshake()
	}
	if err := c.precheck(); err != nil {
		return err
	}
	if err := c.readBody(); err != nil {
		return err
	}
	if err := c.verify(); err != nil {
		return err
	}
	if c.bypassed() {
		return c.pass("bypass")
	}
	if err := c.identify(); err != nil {
		return err
	}
	return c.decide()
}

// Interface guards.
var (
	_ caddy.Provisioner           = (*Handler)(nil)
	_ caddyhttp.MiddlewareHandler = (*Handler)(nil)
)
