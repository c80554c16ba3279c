// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package storetest is the suite that every store has to pass, whatever it is
// built on. The subtests bear the names of the transitions and invariants that
// they hold the store to.
package storetest

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// Harness opens stores for the suite. Each one has a directory, a schema or a
// prefix of its own.
type Harness struct {
	// Open opens the store of this harness for a process with that boot ID. It is
	// called again after Close or Crash.
	Open func(t *testing.T, boot uint64) store.Store
	// Crash ends the process of a store: nothing is flushed and nothing is closed in
	// order, and what was not durable is gone.
	Crash func(t *testing.T, s store.Store)
	// Fail makes each write fail with err until it is called with nil. With Unsure
	// the writes were made all the same.
	Fail   func(t *testing.T, s store.Store, err error)
	Unsure bool
	// Damage spoils the stored record of a settled effect. Nil when the store has no
	// bytes of its own that could go bad.
	Damage func(t *testing.T, s store.Store, id delivery.ID)
	// Clock is the clock that the store reads.
	Clock *Clock
}

// Clock is a clock that tests move. It begins at a fixed time.
type Clock struct{ ms atomic.Int64 }

// NewClock returns a clock that stands at noon of 1 March 2026, UTC.
func NewClock() *Clock {
	c := new(Clock)
	c.ms.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMilli())
	return c
}

// Now returns the time.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.ms.Load()) }

// Milli returns the time in Unix milliseconds.
func (c *Clock) Milli() int64 { return c.ms.Load() }

// Advance moves the time.
func (c *Clock) Advance(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// Run runs the whole suite. Each subtest gets a harness of its own.
func Run(t *testing.T, harness func(t *testing.T) Harness) {
	for _, group := range [][]testCase{arrivalTests, eventTests, operatorTests, faultTests, raceTests, listTests} {
		for _, c := range group {
			t.Run(c.name, func(t *testing.T) { c.run(newEnv(t, harness(t))) })
		}
	}
	t.Run("Model", func(t *testing.T) { compareWithModel(t, harness) })
}

type testCase struct {
	name string
	run  func(e *env)
}

// env is one open store and short ways to use it.
type env struct {
	*testing.T
	h    Harness
	s    store.Store
	ctx  context.Context
	boot uint64
}

func newEnv(t *testing.T, h Harness) *env {
	e := &env{T: t, h: h, ctx: context.Background(), boot: 1}
	e.s = h.Open(t, e.boot)
	t.Cleanup(func() {
		if err := e.s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return e
}

// restart closes the store in order and opens it for the next process.
func (e *env) restart() {
	e.Helper()
	if err := e.s.Close(); err != nil {
		e.Fatalf("close: %v", err)
	}
	e.boot++
	e.s = e.h.Open(e.T, e.boot)
}

// crash kills the process and opens the store for the next one.
func (e *env) crash() {
	e.Helper()
	e.h.Crash(e.T, e.s)
	e.boot++
	e.s = e.h.Open(e.T, e.boot)
}

const (
	hour   = int64(time.Hour / time.Millisecond)
	window = 7 * 24 * hour
	span   = time.Duration(window) * time.Millisecond
)

// key makes an ID; its bytes are spread as those of a hash are.
func key(n uint64) delivery.ID {
	var id delivery.ID
	binary.BigEndian.PutUint64(id[:], n*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], n^0x5bd1e9955bd1e995)
	return id
}

// signed is an arrival with signed identity keys.
func (e *env) signed(keys ...uint64) *delivery.Arrival {
	a := &delivery.Arrival{
		At: e.h.Clock.Milli(), Boot: e.boot, Source: "shop", Provider: "acme", Sender: "s1",
		DeliveryID: "d-1", EventID: "e-1", SecretID: "k1", Strength: delivery.StrengthStrong,
		Body: delivery.Digest{1}, HoldKey: delivery.Digest{9}, Kept: true,
		Policy: delivery.Policy{Window: window, BodyWindow: 4 * window},
	}
	for _, k := range keys {
		a.Identity = append(a.Identity, delivery.Key{ID: key(k), Kind: 'd', Signed: true})
	}
	return a
}

// unsigned is an arrival whose ID the signature does not cover.
func (e *env) unsigned(id, body uint64) *delivery.Arrival {
	a := e.signed()
	a.Strength = delivery.StrengthMedium
	a.Identity = []delivery.Key{{ID: key(id<<16 | body), Kind: 'd'}}
	a.Body, a.HoldKey = delivery.Digest{byte(body)}, delivery.Digest{byte(body)}
	a.BodyKey, a.PlainID = key(1<<40|body), key(1<<41|id)
	return a
}

func (e *env) reserve(a *delivery.Arrival, want delivery.VerdictKind) delivery.Verdict {
	e.Helper()
	v, err := e.s.Reserve(e.ctx, a)
	if err != nil {
		e.Fatalf("reserve: %v", err)
	}
	if v.Kind != want {
		e.Fatalf("reserve: %s, want %s", v.Kind, want)
	}
	return v
}

// peek expects a decision that needs no write.
func (e *env) peek(a *delivery.Arrival, want delivery.VerdictKind) delivery.Verdict {
	e.Helper()
	v, ok, err := e.s.Peek(e.ctx, a)
	if err != nil || !ok || v.Kind != want {
		e.Fatalf("peek: %s, %v, %v, want %s", v.Kind, ok, err, want)
	}
	return v
}

// apply expects an event to be possible.
func (e *env) apply(id delivery.ID, ev delivery.Event) (delivery.Record, delivery.Actions) {
	e.Helper()
	ev.At = e.h.Clock.Milli()
	r, acts, err := e.s.Apply(e.ctx, id, ev)
	if err != nil {
		e.Fatalf("%s: %v", ev.Kind, err)
	}
	return r, acts
}

// refuse expects an event to have no effect.
func (e *env) refuse(id delivery.ID, ev delivery.Event, want error) {
	e.Helper()
	before, errBefore := e.s.Get(e.ctx, id)
	ev.At = e.h.Clock.Milli()
	_, acts, err := e.s.Apply(e.ctx, id, ev)
	if !errors.Is(err, want) || acts != 0 {
		e.Fatalf("%s: actions %b, error %v, want %v", ev.Kind, acts, err, want)
	}
	after, errAfter := e.s.Get(e.ctx, id)
	if !sameRecord(before, after) || (errBefore == nil) != (errAfter == nil) {
		e.Fatalf("%s changed the record:\n%+v\n%+v", ev.Kind, before, after)
	}
}

// want expects a live record in a state.
func (e *env) want(id delivery.ID, s delivery.State, why delivery.Reason) delivery.Record {
	e.Helper()
	r, err := e.s.Get(e.ctx, id)
	if err != nil {
		e.Fatalf("get: %v", err)
	}
	if r.State != s || r.Reason != why {
		e.Fatalf("record is %s (%s), want %s (%s)", r.State, r.Reason, s, why)
	}
	return r
}

func (e *env) wantNone(id delivery.ID) {
	e.Helper()
	if r, err := e.s.Get(e.ctx, id); !errors.Is(err, store.ErrNotFound) {
		e.Fatalf("record is %s, error %v, want %v", r.State, err, store.ErrNotFound)
	}
}

// person is an operator's event.
func person(k delivery.EventKind) delivery.Event {
	return delivery.Event{Kind: k, Actor: "ann", Why: "called the shop"}
}
