// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/spool"
)

// Errors of sending a kept delivery again.
var (
	errNoRoute  = errors.New("the route of this delivery is not in the running configuration; add it again, then retry")
	errNoOwnWay = errors.New("this route has no way of its own to the app, so nothing can be sent from here: " +
		"add \"upstream <address>\" or a forward block to it, or use the provider's redelivery")
	errNotKept = errors.New("the request of this delivery is not kept any more; use the provider's redelivery")
)

// sendResult is what came of sending a kept delivery.
type sendResult struct {
	Sent    bool
	Outcome delivery.Outcome
	Record  delivery.Record
	Note    string
}

// canSend reports why a kept delivery cannot be sent from here, before anything
// is changed.
func (a *App) canSend(n *node, r delivery.Record) error {
	h, ok := a.route(r.Source)
	if !ok {
		return errNoRoute
	}
	if h.forwarder == nil && h.chain == nil {
		return errNoOwnWay
	}
	if !r.Kept {
		return errNotKept
	}
	if _, err := n.spool.Get(r.Spool); err != nil {
		if errors.Is(err, spool.ErrNotFound) {
			return errNotKept
		}
		return fmt.Errorf("the kept request cannot be read: %w", err)
	}
	return nil
}

// sendKept claims a READY delivery (T6) and makes one attempt with the bytes as
// they came. The caller keeps a lease of n for as long as it runs.
func (a *App) sendKept(ctx context.Context, n *node, r delivery.Record) (sendResult, error) {
	if err := a.canSend(n, r); err != nil {
		return sendResult{Record: r}, err
	}
	h, _ := a.route(r.Source)
	data, err := n.spool.Get(r.Spool)
	if err != nil {
		return sendResult{Record: r}, fmt.Errorf("the kept request cannot be read: %w", err)
	}
	kept, err := spool.Decode(data)
	if err != nil {
		return sendResult{Record: r}, fmt.Errorf("the kept request cannot be read: %w", err)
	}
	claimed, _, err := n.store.Apply(ctx, r.ID, delivery.Event{
		Kind: delivery.Claim, At: h.now().UnixMilli(), Boot: n.boot,
	})
	if err != nil {
		return sendResult{Record: r}, fmt.Errorf("claiming the delivery: %w", err)
	}
	o, after := h.sendAgain(n, claimed, &kept)
	return sendResult{Sent: true, Outcome: o, Record: after}, nil
}

// sendAgain makes an attempt without a provider that waits.
func (h *Handler) sendAgain(n *node, r delivery.Record, kept *spool.Request) (delivery.Outcome, delivery.Record) {
	w := discardWriter{header: make(http.Header)}
	c := &call{h: h, w: w, started: h.now(), body: kept.Body, status: "resend"}
	c.verdict = delivery.Verdict{Kind: delivery.TakeOver, Record: r}
	c.arrival = delivery.Arrival{Body: r.Body, Strength: r.Strength, SecretID: r.SecretID, Sender: r.Sender}
	c.r = h.rebuild(kept, w)
	n.hub.start(r.ID)
	concluded := false
	defer func() {
		if !concluded {
			c.conclude(n, r, &sent{evidence: delivery.Evidence{Panicked: true, Connections: 1}})
		}
	}()
	s := c.send("resend")
	o := c.conclude(n, r, s)
	concluded = true
	h.metrics.attempt(o, h.now().Sub(c.started))
	if s.cause != nil {
		c.logAttempt(o, s.cause)
	}
	c.logDecision()
	return o, c.verdict.Record
}

// rebuild makes a request from kept bytes, with a replacer and variables of its
// own: nothing of the request that brought them lives any more. FastCGI and
// reverse_proxy need the server in the context.
func (h *Handler) rebuild(kept *spool.Request, w http.ResponseWriter) *http.Request {
	u, err := url.ParseRequestURI(kept.URI)
	if err != nil {
		u = &url.URL{Path: kept.URI}
	}
	r := &http.Request{
		Method: kept.Method, URL: u, RequestURI: kept.URI, Host: kept.Host, RemoteAddr: kept.RemoteAddr,
		Proto: kept.Proto, ProtoMajor: 1, ProtoMinor: 1, Header: kept.Header, Trailer: kept.Trailer,
		Body: io.NopCloser(bytes.NewReader(kept.Body)), ContentLength: int64(len(kept.Body)),
	}
	if major, minor, ok := http.ParseHTTPVersion(kept.Proto); ok {
		r.ProtoMajor, r.ProtoMinor = major, minor
	}
	r = r.WithContext(context.Background())
	server := h.server.Load()
	if server == nil {
		server = h.app.anyServer()
	}
	return caddyhttp.PrepareRequest(r, caddy.NewReplacer(), w, server)
}

// anyServer is a server for attempts of a route that has seen no request since
// the start.
func (a *App) anyServer() *caddyhttp.Server {
	if mod, err := a.ctx.AppIfConfigured("http"); err == nil {
		for _, s := range mod.(*caddyhttp.App).Servers {
			return s
		}
	}
	return new(caddyhttp.Server)
}

// discardWriter takes the answer of an attempt that nobody waits for.
type discardWriter struct{ header http.Header }

func (d discardWriter) Header() http.Header         { return d.header }
func (d discardWriter) Write(p []byte) (int, error) { return len(p), nil }
func (d discardWriter) WriteHeader(int)             {}
