// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"crypto/sha256"
	"net/http"

	"github.com/caddyserver/caddy/v2"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/identity"
)

// identify opens the node and derives the keys of a verified delivery.
func (c *call) identify() error {
	h := c.h
	l, err := h.app.acquire(c.r.Context())
	if err != nil {
		return c.retryLater("store_unavailable", 5, err)
	}
	c.lease = l
	deriver, err := c.deriver()
	if err != nil {
		return c.retryLater("store_unavailable", 5, err)
	}
	req := identity.Request{Header: c.r.Header, RawQuery: c.r.URL.RawQuery, Body: c.body}
	if c.checked.SignedID && h.DeliveryID == nil {
		req.SignedID = c.checked.ID // of the header family that was verified
	}
	if h.Sender != "" {
		if repl, ok := c.r.Context().Value(caddy.ReplacerCtxKey).(*caddy.Replacer); ok {
			req.Sender = repl.ReplaceAll(h.Sender, "")
		}
	}
	c.keys = deriver.Derive(&req)
	if h.preset.Identity.Required && c.keys.Strength == identity.Fallback && c.keys.Problem.Code == "" {
		return c.refuse(http.StatusBadRequest, "id_missing", nil)
	}
	c.fillArrival(&req)
	return nil
}

// fillArrival says to the core what it needs to know.
func (c *call) fillArrival(req *identity.Request) {
	h, a := c.h, &c.arrival
	a.At = c.started.UnixMilli()
	a.Boot = c.lease.Value().boot
	a.Source, a.Provider, a.Sender = h.Name, h.Provider, req.Sender
	a.DeliveryID, a.EventID = c.keys.DeliveryID, c.keys.EventID
	a.SecretID = c.checked.SecretID
	a.Policy = h.policy
	copy(a.Body[:], c.keys.Digest[:])
	if c.keys.FingerprintOK {
		copy(a.Fingerprint[:], c.keys.Fingerprint[:])
	}
	a.HoldKey = a.Body
	if len(c.body) == 0 {
		sum := sha256.Sum256([]byte(c.r.Method + " " + c.r.RequestURI))
		copy(a.HoldKey[:], sum[:])
	}
	switch c.keys.Strength {
	case identity.Strong:
		a.Strength = delivery.StrengthStrong
	case identity.Medium:
		a.Strength = delivery.StrengthMedium
	default:
		a.Strength = delivery.StrengthFallback
		a.Policy.Window = h.fallbackWindow.Milliseconds()
	}
	a.Rationale = c.keys.Problem.String()
	switch c.keys.Problem.Code {
	case "":
	case identity.ProblemAmbiguousID:
		a.Problem = delivery.ReasonAmbiguousID
	default:
		a.Problem = delivery.ReasonNoSafeKey
	}
	for i := range c.keys.Aliases {
		al := &c.keys.Aliases[i]
		switch {
		case al.Identity:
			a.Identity = append(a.Identity, delivery.Key{
				ID: delivery.ID(al.Key), Kind: al.Kind[0], Signed: al.Trust == identity.Signed,
			})
		case al.Kind == identity.KindBody:
			a.BodyKey = delivery.ID(al.Key)
		case al.Kind == identity.KindDeliveryID:
			a.PlainID = delivery.ID(al.Key)
		}
	}
	h.metrics.strength(a.Strength)
}
