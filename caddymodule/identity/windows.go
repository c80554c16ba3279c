// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"math"
	"time"
)

// Defaults of the windows and of what they are computed from.
const (
	DefaultIDWindow       = 7 * 24 * time.Hour
	DefaultBodyWindow     = 90 * 24 * time.Hour
	DefaultNonceWindow    = 12 * time.Minute
	DefaultFallbackWindow = 10 * time.Minute
	DefaultTolerance      = 5 * time.Minute
	DefaultSkew           = time.Minute
)

// Windows are how long the keys of a delivery are remembered after its effect
// was confirmed.
type Windows struct {
	ID       time.Duration // delivery, event and action IDs
	Body     time.Duration // the raw body, as evidence beside an unsigned ID
	Nonce    time.Duration
	Fallback time.Duration // the content of a delivery without ID
}

// withDefaults fills the windows that are not set.
func (w Windows) withDefaults() Windows {
	return w.or(Windows{DefaultIDWindow, DefaultBodyWindow, DefaultNonceWindow, DefaultFallbackWindow})
}

// or takes each window that is not set from other.
func (w Windows) or(other Windows) Windows {
	pick := func(a, b time.Duration) time.Duration {
		if a > 0 {
			return a
		}
		return b
	}
	return Windows{
		ID:       pick(w.ID, other.ID),
		Body:     pick(w.Body, other.Body),
		Nonce:    pick(w.Nonce, other.Nonce),
		Fallback: pick(w.Fallback, other.Fallback),
	}
}

// Horizons are the facts about a provider and a route from which the windows
// follow. Negative durations count as zero.
type Horizons struct {
	// Retry is how long after the first attempt the provider may still retry by
	// itself. Zero: never, or not known.
	Retry time.Duration
	// Resend is how long somebody may ask the provider to send again.
	Resend time.Duration
	// Tolerance is the accepted age of a signed timestamp.
	Tolerance time.Duration
	// Skew is the allowed difference of the two clocks.
	Skew time.Duration
	// RotationGrace is how long a replaced secret is still accepted.
	RotationGrace time.Duration
	// NextRotation is the time until the secret is replaced. Zero: never.
	NextRotation time.Duration
	// SignedTimestamp tells that a captured request expires after Tolerance.
	SignedTimestamp bool
}

// Needed computes the windows that cover the horizons.
//
// The ID must outlive the last retry or resend, plus what the clocks and an
// accepted timestamp add. Without a signed timestamp a captured body verifies
// until its secret is dead, so the body window reaches until then, but no
// further than DefaultBodyWindow. With one, the body needs no more than the ID.
// A content key is too weak to be kept longer than DefaultFallbackWindow,
// whatever the provider does. All of them cover the rotation of a secret,
// because keys do not contain it and both secrets share one record.
func (h Horizons) Needed() Windows {
	h = h.clamped()
	id := sum(max(h.Retry, h.Resend), 2*h.Skew)
	body := DefaultBodyWindow
	if h.NextRotation > 0 {
		body = min(sum(h.NextRotation, h.RotationGrace, 2*h.Skew), DefaultBodyWindow)
	}
	if h.SignedTimestamp {
		id = sum(id, h.Tolerance)
		body = id
	}
	// A retry horizon of zero says nothing about proxies and clients on the
	// way, which repeat within minutes.
	fallback := DefaultFallbackWindow
	if h.Retry > 0 {
		fallback = min(h.Retry, DefaultFallbackWindow)
	}
	floor := h.floor()
	return Windows{
		ID:       max(id, floor),
		Body:     max(body, floor),
		Nonce:    max(sum(2*h.Tolerance, 2*h.Skew), floor),
		Fallback: max(fallback, floor),
	}
}

// floor is what every window must cover while a secret is being replaced.
func (h Horizons) floor() time.Duration { return sum(h.RotationGrace, 2*h.Skew) }

// Windows returns the windows to use: those that are set, else the default or
// the needed one, whichever is longer.
func (h Horizons) Windows(set Windows) Windows {
	needed := h.Needed()
	return set.or(Windows{
		ID:       max(needed.ID, DefaultIDWindow),
		Body:     max(needed.Body, DefaultBodyWindow),
		Nonce:    needed.Nonce,
		Fallback: needed.Fallback,
	}).withDefaults()
}

// Shortfall is a window that was set below what the provider needs, so that a
// late repeat would be taken for a new delivery.
type Shortfall struct {
	Name        string // "window", "body_window", "nonce window" or "fallback_window"
	Set, Needed time.Duration
}

// String is the text of the warning, with both figures.
func (s Shortfall) String() string {
	return fmt.Sprintf("%s %s is below the horizon of %s: a later repeat would be forwarded again",
		s.Name, s.Set, s.Needed)
}

// Shortfalls compares the windows that are set with the needed ones. It returns
// nil when all of them reach. A fallback window is short on purpose and need
// only cover the rotation of a secret.
func (h Horizons) Shortfalls(set Windows) []Shortfall {
	needed := h.Needed()
	needed.Fallback = h.clamped().floor()
	var out []Shortfall
	for _, s := range []Shortfall{
		{"window", set.ID, needed.ID},
		{"body_window", set.Body, needed.Body},
		{"nonce window", set.Nonce, needed.Nonce},
		{"fallback_window", set.Fallback, needed.Fallback},
	} {
		if s.Set > 0 && s.Set < s.Needed {
			out = append(out, s)
		}
	}
	return out
}

// maxHorizon keeps the arithmetic far from overflow. Nothing lasts longer.
const maxHorizon = time.Duration(math.MaxInt64 / 16)

func (h Horizons) clamped() Horizons {
	for _, d := range []*time.Duration{
		&h.Retry, &h.Resend, &h.Tolerance, &h.Skew, &h.RotationGrace, &h.NextRotation,
	} {
		*d = min(max(*d, 0), maxHorizon)
	}
	return h
}

func sum(durations ...time.Duration) (total time.Duration) {
	for _, d := range durations {
		total += d
	}
	return total
}

// Interface guard.
var _ fmt.Stringer = Shortfall{}
