// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// hands are a wall clock that can be set and a clock that cannot.
type hands struct {
	mu   sync.Mutex
	wall time.Time
	mono time.Duration
}

// pass lets time go by, on both.
func (h *hands) pass(d time.Duration) {
	h.set(d)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mono += d
}

// set moves the wall clock alone.
func (h *hands) set(by time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.wall = h.wall.Add(by)
}

func (h *hands) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.wall
}

func (h *hands) elapsed() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mono
}

func TestClock(t *testing.T) {
	begin := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		name string
		move func(h *hands, c *clock)
		want time.Duration // since the beginning
		wait bool          // the wall clock is not believed
	}{
		{"goes with the wall clock", func(h *hands, _ *clock) { h.pass(time.Hour) }, time.Hour, false},
		{"follows a small step", func(h *hands, _ *clock) {
			h.set(30 * time.Second)
		}, 30 * time.Second, false},
		{"does not go back", func(h *hands, c *clock) {
			h.pass(time.Hour)
			c.read()
			h.set(-30 * time.Minute)
		}, time.Hour, false},
		{"goes on while the wall clock is behind", func(h *hands, c *clock) {
			h.set(-year)
			c.read()
			h.pass(time.Hour)
		}, time.Hour, false},
		{"does not follow a jump", func(h *hands, c *clock) {
			h.set(year)
			c.read()
			h.pass(time.Hour)
		}, time.Hour, true},
		{"believes a jump that lasts", func(h *hands, c *clock) {
			h.set(year)
			c.read()
			h.pass(2 * time.Hour)
		}, year + 2*time.Hour, false},
		{"begins to wait anew when it jumps again", func(h *hands, c *clock) {
			h.set(year)
			c.read()
			h.pass(90 * time.Minute)
			h.set(year)
			c.read()
			h.pass(90 * time.Minute)
		}, 3 * time.Hour, true},
		{"forgets a jump that was taken back", func(h *hands, c *clock) {
			h.set(year)
			c.read()
			h.pass(time.Hour)
			h.set(-year)
			c.read()
			h.pass(time.Hour)
		}, 2 * time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &hands{wall: begin}
			clock := newClock(h.now, h.elapsed, 0)
			c.move(h, clock)
			if got := time.UnixMilli(clock.read()).Sub(begin); got != c.want {
				t.Errorf("time is %v, want %v", got, c.want)
			}
			if clock.paused() != c.wait {
				t.Errorf("paused is %v", clock.paused())
			}
		})
	}
}

// TestClockOfTheLastRun starts with a wall clock that is behind the last run's.
func TestClockOfTheLastRun(t *testing.T) {
	ctx := context.Background()
	h := &hands{wall: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	b := newBench(t, func(o *Options) {
		o.Now, o.Elapsed = h.now, h.elapsed
	})
	s := b.open(t, 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	h.set(-30 * 24 * time.Hour)
	s = b.open(t, 2)
	defer s.Close()
	a := testArrival(b, 2, 1)
	a.At = h.now().UnixMilli()
	if _, err := s.Reserve(ctx, a); err != nil {
		t.Fatal(err)
	}
	ev := delivery.Event{Kind: delivery.Done, At: a.At, Epoch: 1}
	if _, _, err := s.Apply(ctx, testKey(1), ev); err != nil {
		t.Fatal(err)
	}
	// The window of seven days is counted from the later of the two clocks.
	h.pass(7*24*time.Hour - time.Minute)
	if _, err := s.Get(ctx, testKey(1)); err != nil {
		t.Fatalf("before the end of the window: %v", err)
	}
	h.pass(time.Minute)
	if _, err := s.Get(ctx, testKey(1)); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("after the window: %v", err)
	}
}
