// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const day = 24 * time.Hour

func TestNeededWindows(t *testing.T) {
	with := func(h Horizons) Horizons {
		h.Tolerance, h.Skew = DefaultTolerance, DefaultSkew
		return h
	}
	schedule := 75*time.Hour + 35*time.Minute + 5*time.Second
	for name, c := range map[string]struct {
		h    Horizons
		want Windows
	}{
		"Standard Webhooks": {with(Horizons{Retry: schedule, SignedTimestamp: true}),
			Windows{schedule + 7*time.Minute, schedule + 7*time.Minute, 12 * time.Minute, 10 * time.Minute}},
		"Stripe": {with(Horizons{Retry: 3 * day, Resend: 30 * day, SignedTimestamp: true}),
			Windows{30*day + 7*time.Minute, 30*day + 7*time.Minute, 12 * time.Minute, 10 * time.Minute}},
		"GitHub": {with(Horizons{Resend: 3 * day}),
			Windows{3*day + 2*time.Minute, 90 * day, 12 * time.Minute, 10 * time.Minute}},
		"Shopify": {with(Horizons{Retry: 4 * time.Hour}),
			Windows{4*time.Hour + 2*time.Minute, 90 * day, 12 * time.Minute, 10 * time.Minute}},
		"Slack": {with(Horizons{Retry: 6 * time.Minute, SignedTimestamp: true}),
			Windows{13 * time.Minute, 13 * time.Minute, 12 * time.Minute, 6 * time.Minute}},
		"rotation in 30 days": {with(Horizons{Resend: 3 * day, NextRotation: 30 * day, RotationGrace: day}),
			Windows{3*day + 2*time.Minute, 31*day + 2*time.Minute, day + 2*time.Minute, day + 2*time.Minute}},
		"nothing known": {Horizons{}, Windows{0, 90 * day, 0, 10 * time.Minute}},
		"negative":      {Horizons{Retry: -day, Skew: -1}, Windows{0, 90 * day, 0, 10 * time.Minute}},
	} {
		if got := c.h.Needed(); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestChosenWindows(t *testing.T) {
	stripe := Horizons{Retry: 3 * day, Resend: 30 * day, Tolerance: DefaultTolerance, Skew: DefaultSkew, SignedTimestamp: true}
	want := Windows{30*day + 7*time.Minute, 90 * day, 12 * time.Minute, 10 * time.Minute}
	if got := stripe.Windows(Windows{}); got != want {
		t.Errorf("Stripe: got %v, want %v", got, want)
	}
	want = Windows{7 * day, 90 * day, 12 * time.Minute, 10 * time.Minute}
	if got := (Horizons{}).Windows(Windows{}); got != want {
		t.Errorf("unknown: got %v, want %v", got, want)
	}
	set := Windows{day, 2 * day, time.Minute, time.Second}
	if got := stripe.Windows(set); got != set {
		t.Errorf("set: got %v, want %v", got, set)
	}
}

func TestShortfalls(t *testing.T) {
	h := Horizons{Retry: 4 * time.Hour, Resend: 3 * day, Tolerance: DefaultTolerance, Skew: DefaultSkew}
	if got := h.Shortfalls(Windows{}); got != nil {
		t.Errorf("nothing set: %v", got)
	}
	enough := Windows{3*day + 2*time.Minute, 90 * day, 12 * time.Minute, 2 * time.Minute}
	if got := h.Shortfalls(enough); got != nil {
		t.Errorf("just enough: %v", got)
	}
	got := h.Shortfalls(Windows{day, day, time.Minute, time.Minute})
	want := []Shortfall{
		{"window", day, 3*day + 2*time.Minute}, {"body_window", day, 90 * day},
		{"nonce window", time.Minute, 12 * time.Minute}, {"fallback_window", time.Minute, 2 * time.Minute},
	}
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
	const text = "window 24h0m0s is below the horizon of 72h2m0s: a later repeat would be forwarded again"
	if got[0].String() != text {
		t.Errorf("got %q", got[0])
	}
}

func TestWindowProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.Map(rapid.Int64Range(math.MinInt64, math.MaxInt64), func(i int64) time.Duration { return time.Duration(i) })
		h := Horizons{
			Retry: any.Draw(t, "retry"), Resend: any.Draw(t, "resend"), Tolerance: any.Draw(t, "tolerance"),
			Skew: any.Draw(t, "skew"), RotationGrace: any.Draw(t, "grace"), NextRotation: any.Draw(t, "rotation"),
			SignedTimestamp: rapid.Bool().Draw(t, "signed"),
		}
		w, c := h.Needed(), h.clamped()
		for _, got := range []time.Duration{w.ID, w.Body, w.Nonce, w.Fallback} {
			if got < c.RotationGrace+2*c.Skew {
				t.Fatalf("%v is below the rotation grace and skew of %+v", w, h)
			}
		}
		if w.ID < max(c.Retry, c.Resend)+2*c.Skew {
			t.Fatalf("%v does not reach the horizon of %+v", w, h)
		}
		if h.Shortfalls(w) != nil || h.Shortfalls(h.Windows(Windows{})) != nil {
			t.Fatalf("needed or chosen windows fall short of %+v", h)
		}
	})
}
