// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"time"

	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/identity"
	"github.com/hookonce/hookonce/caddymodule/verify"
)

// clockSkew is how far the clocks of a provider and of this machine may differ.
const clockSkew = 60 * time.Second

// compileWindows sets the windows and warns where one is below what the
// provider needs.
func (h *Handler) compileWindows() error {
	hz := h.preset.Horizons
	set := identity.Windows{
		ID: time.Duration(h.Window), Body: time.Duration(h.BodyWindow), Fallback: time.Duration(h.FallbackWindow),
	}
	need := identity.Horizons{
		Retry: time.Duration(hz.Retry), Resend: time.Duration(hz.Resend),
		Skew: clockSkew, SignedTimestamp: h.verifierHasTime(), Tolerance: h.tolerance(),
	}
	for _, s := range need.Shortfalls(set) {
		h.logger.Warn(s.String(), zap.String("route", h.Name), zap.String("declared_at", h.DeclaredAt))
	}
	window := orDefault(set.ID, time.Duration(hz.Window))
	h.policy.Window = window.Milliseconds()
	h.policy.BodyWindow = orDefault(set.Body, time.Duration(hz.BodyWindow)).Milliseconds()
	h.fallbackWindow = orDefault(set.Fallback, time.Duration(hz.FallbackWindow))
	return nil
}

func (h *Handler) effectiveScheme() verify.Scheme {
	if h.Verify != nil && h.Provider != "" {
		return h.preset.Scheme.Override(*h.Verify)
	}
	return h.preset.Scheme
}

func (h *Handler) verifierHasTime() bool {
	s := h.effectiveScheme()
	return !s.Timestamp.IsZero() && s.Covers().Time
}

func (h *Handler) tolerance() time.Duration {
	if t := time.Duration(h.effectiveScheme().Timestamp.Tolerance); t > 0 {
		return t
	}
	return 300 * time.Second
}
