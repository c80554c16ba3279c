// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"maps"

	"github.com/hookonce/hookonce/caddymodule/identity"
	"github.com/hookonce/hookonce/caddymodule/verify"
)

// derivers caches one deriver for each way of signing of a route: what the
// signature covers decides which IDs can be trusted.
type derivers struct {
	node  *node
	byWay map[*verify.Coverage]*identity.Deriver
}

// deriver returns the deriver for the signature that was verified. The
// pepper belongs to the open store, so the first delivery compiles it.
func (c *call) deriver() (*identity.Deriver, error) {
	n, way := c.lease.Value(), c.checked.Covers
	if d := c.h.derivers.Load(); d != nil && d.node == n {
		if der := d.byWay[way]; der != nil {
			return der, nil
		}
	}
	return c.h.compileDeriver(n, way)
}

func (h *Handler) compileDeriver(n *node, way *verify.Coverage) (*identity.Deriver, error) {
	p := h.preset.Identity
	deliveryID, eventID := h.DeliveryID, h.EventID
	if deliveryID == nil {
		deliveryID = sourcesOf(p.DeliveryID)
	}
	if eventID == nil {
		eventID = sourcesOf(p.EventID)
	}
	signed := func(s identity.Source) bool {
		return way.Signed(verify.Source{Header: s.Header, Query: s.Query, Form: s.Form, JSON: s.JSON})
	}
	der, err := identity.New(identity.Config{
		Pepper: n.pepper, Namespace: h.Name, Provider: h.Provider,
		DeliveryID:    identity.Candidates(deliveryID, signed),
		EventID:       identity.Candidates(eventID, signed),
		Fingerprint:   h.Fingerprint.Ignoring(p.Volatile),
		HashForbidden: p.HashFallback == "forbidden",
	})
	if err != nil {
		return nil, err
	}
	next := &derivers{node: n, byWay: map[*verify.Coverage]*identity.Deriver{way: der}}
	if old := h.derivers.Load(); old != nil && old.node == n {
		maps.Copy(next.byWay, old.byWay)
		next.byWay[way] = der
	}
	h.derivers.Store(next) // a lost race only compiles once more
	return der, nil
}

func sourcesOf(in []verify.Source) []identity.Source {
	out := make([]identity.Source, 0, len(in))
	for _, s := range in {
		out = append(out, identity.Source{Header: s.Header, Query: s.Query, Form: s.Form, JSON: s.JSON})
	}
	return out
}
