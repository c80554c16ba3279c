// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/identity"
	"github.com/hookonce/hookonce/caddymodule/spool"
	"github.com/hookonce/hookonce/caddymodule/verify"
)

// call is one request on its way through the pipeline.
type call struct {
	h       *Handler
	w       http.ResponseWriter
	r       *http.Request
	next    caddyhttp.Handler
	started time.Time

	body    []byte
	charged int64
	vreq    *verify.Request
	checked verify.Result
	keys    identity.Keys
	arrival delivery.Arrival
	lease   nodeLease
	payload *[]byte       // what is kept, until it is durable
	ticket  *spool.Ticket // its way to the disk, when somebody must wait
	status  string        // value of Hookonce-Status
	verdict delivery.Verdict
	outcome delivery.Outcome
}

// prepare removes what only we may set and publishes the placeholders.
func (c *call) prepare() {
	for name := range c.r.Header {
		if strings.HasPrefix(name, "Hookonce-") {
			delete(c.r.Header, name)
		}
	}
	if repl, ok := c.r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
		repl.Map(c.placeholder)
	}
	if s, ok := c.r.Context().Value(caddyhttp.ServerCtxKey).(*caddyhttp.Server); ok && c.h.server.Load() != s {
		c.h.server.Store(s)
	}
}

// placeholder resolves {http.hookonce.*}. Only words from the configuration,
// enum words, hex digits and numbers are ever published, never text that a
// sender chose.
func (c *call) placeholder(key string) (any, bool) {
	name, ok := strings.CutPrefix(key, "http.hookonce.")
	if !ok {
		return nil, false
	}
	switch name {
	case "provider":
		return c.h.Provider, true
	case "sender":
		return c.arrival.Sender, true
	case "status":
		return c.status, true
	case "key":
		if c.verdict.Record.ID.IsZero() {
			return "", true
		}
		return c.verdict.Record.ID.Short(), true
	case "strength":
		return c.arrival.Strength.String(), true
	case "decision":
		return decisionOf(c.verdict.Kind), true
	case "attempt":
		return int(c.verdict.Record.Attempts), true
	}
	return nil, false
}

// precheck refuses what can be refused without reading a body.
func (c *call) precheck() error {
	err := c.plausible()
	if err != nil {
		c.unread()
	}
	return err
}

func (c *call) plausible() error {
	r := c.r
	if r.TLS != nil && !r.TLS.HandshakeComplete || r.Header.Get("Early-Data") == "1" {
		// Early data can be replayed by anybody who saw it (RFC 8470).
		return c.refuse(http.StatusTooEarly, "early_data", nil)
	}
	if caddyhttp.IsIncremental(r.Header) {
		// RFC 10036: who buffers must not pretend to stream.
		return c.refuse(http.StatusNotImplemented, "incremental", nil)
	}
	if r.ContentLength > c.h.MaxBody {
		return c.refuse(http.StatusRequestEntityTooLarge, "body_too_large", nil)
	}
	c.vreq = verify.NewRequest(r, nil)
	if why := c.h.verifier.HeadersPlausible(c.vreq, c.started); why != verify.OK {
		return c.unauthorized(why)
	}
	return nil
}

// unread prepares an answer that goes out while the body is still to come.
// net/http would first read up to 256 KiB of it, for as long as that takes, and
// even ask for it by 100 Continue: it does not know the body that Caddy wrapped.
// Only the last answer of a connection goes out at once.
func (c *call) unread() {
	if c.r.ContentLength != 0 && c.r.ProtoMajor == 1 {
		c.w.Header().Set("Connection", "close")
		// Best effort: not every writer has a deadline to set.
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(c.h.bodyTimeout))
	}
}

// readBody takes the whole body into memory, within its limits.
func (c *call) readBody() error {
	h, r := c.h, c.r
	ctl := http.NewResponseController(c.w)
	timed := ctl.SetReadDeadline(time.Now().Add(h.bodyTimeout)) == nil
	body, charged, err := h.app.budget.read(r.Body, r.ContentLength, h.MaxBody)
	c.charged = charged
	if timed {
		_ = ctl.SetReadDeadline(time.Time{}) // the connection goes on without our limit
	}
	if err == nil {
		c.body = body
		c.vreq.Body = body
		// The Content-Length replaces chunked framing, and the body that was read
		// needs no permission any more.
		r.ContentLength, r.TransferEncoding = int64(len(body)), nil
		r.Header.Del("Expect")
		return nil
	}
	c.unread()
	var tooLarge *http.MaxBytesError
	var netErr net.Error
	var he caddyhttp.HandlerError
	switch {
	case errors.As(err, &he):
		return err // an earlier handler, such as request_body, has decided
	case errors.Is(err, errBodyTooLarge), errors.As(err, &tooLarge):
		return c.refuse(http.StatusRequestEntityTooLarge, "body_too_large", nil)
	case errors.Is(err, errNoBodyMemory):
		return c.retryLater("no_capacity", 1, err)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return c.refuse(http.StatusRequestTimeout, "body_timeout", nil)
	default:
		return c.refuse(http.StatusBadRequest, "body_cut", nil)
	}
}

// releaseBody gives back what the body was charged. The memory itself belongs
// to the collector: a transport may read a request body after the answer came.
func (c *call) releaseBody() {
	if c.charged > 0 {
		c.h.app.budget.release(c.charged)
		c.charged = 0
	}
	if c.lease != nil {
		if err := c.lease.Release(); err != nil {
			c.h.logger.Error("closing the store failed", zap.Error(err))
		}
	}
}

// verify checks the signature over the raw bytes.
func (c *call) verify() error {
	res, why := c.h.verifier.Verify(c.vreq, c.started)
	if why != verify.OK {
		return c.unauthorized(why)
	}
	c.checked = res
	c.h.metrics.secret(res.SecretID)
	return nil
}

// detached is the context of an attempt: it lives longer than the provider's
// connection, and ends by our own deadline (row O24).
func (c *call) detached() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.r.Context()), c.h.upstreamTimeout)
}
