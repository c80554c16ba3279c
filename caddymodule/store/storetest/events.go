// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// uncertain makes effect 1 UNCERTAIN.
func (e *env) uncertain() {
	e.Helper()
	e.reserve(e.signed(1), delivery.First)
	e.apply(key(1), delivery.Event{Kind: delivery.Unknown, Epoch: 1, Reason: delivery.ReasonNoAnswer})
}

// confirmed makes effect 1 CONFIRMED.
func (e *env) confirmed() {
	e.Helper()
	e.reserve(e.signed(1), delivery.First)
	e.apply(key(1), delivery.Event{Kind: delivery.Done, Epoch: 1, Status: 204, ExternalRef: "ref-1"})
}

// held makes an effect HELD and returns its ID.
func (e *env) held() delivery.ID {
	e.Helper()
	a := e.signed()
	a.Problem = delivery.ReasonAmbiguousID
	return e.reserve(a, delivery.HoldNew).Record.ID
}

var eventTests = []testCase{
	{"T11 done is confirmed", func(e *env) {
		e.confirmed()
		e.peek(e.signed(1), delivery.Duplicate)
		e.restart()
		r := e.want(key(1), delivery.Confirmed, delivery.ReasonDone)
		if r.UpstreamStatus != 204 || r.ExternalRef != "ref-1" || r.Kept {
			e.Fatalf("%+v", r)
		}
		e.peek(e.signed(1), delivery.Duplicate)
	}},
	{"T13 refused survives", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.NotDoneFinal, Epoch: 1, Reason: delivery.ReasonRefused, Status: 422})
		e.crash()
		e.want(key(1), delivery.Ready, delivery.ReasonRefused)
	}},
	{"T14 unknown is parked and survives", func(e *env) {
		e.uncertain()
		e.crash()
		r := e.want(key(1), delivery.Uncertain, delivery.ReasonNoAnswer)
		if !r.Owed || !r.Kept {
			e.Fatalf("%+v", r)
		}
		e.peek(e.signed(1), delivery.Parked)
	}},
	{"T15 an attempt of an ended process is uncertain", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.reserve(e.signed(2), delivery.First)
		e.apply(key(2), delivery.Event{Kind: delivery.NotDoneFinal, Epoch: 1, Reason: delivery.ReasonRefused})
		e.crash()
		got, err := e.s.Recover(e.ctx, e.h.Clock.Milli())
		if err != nil || len(got) != 1 || got[0].ID != key(1) {
			e.Fatalf("recovered %v, %v", got, err)
		}
		e.want(key(1), delivery.Uncertain, delivery.ReasonOwnerLost)
		e.want(key(2), delivery.Ready, delivery.ReasonRefused)
		e.crash()
		if got, err := e.s.Recover(e.ctx, e.h.Clock.Milli()); err != nil || len(got) != 0 {
			e.Fatalf("recovered again: %v, %v", got, err)
		}
		e.want(key(1), delivery.Uncertain, delivery.ReasonOwnerLost)
	}},
	{"T15 recovery leaves its own attempts alone", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		if got, err := e.s.Recover(e.ctx, e.h.Clock.Milli()); err != nil || len(got) != 0 {
			e.Fatalf("recovered %v, %v", got, err)
		}
		e.want(key(1), delivery.Running, "")
	}},
	{"T15 found by an arrival before recovery", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.crash()
		if _, ok, err := e.s.Peek(e.ctx, e.signed(1)); ok || err != nil {
			e.Fatalf("peek: %v, %v", ok, err)
		}
		e.reserve(e.signed(1), delivery.Parked)
		e.want(key(1), delivery.Uncertain, delivery.ReasonOwnerLost)
	}},
	{"T15 recovers many", func(e *env) {
		for k := range uint64(700) {
			e.reserve(e.signed(k+1, k+100_000), delivery.First)
		}
		for k := range uint64(100) {
			e.apply(key(k+1), delivery.Event{Kind: delivery.Unknown, Epoch: 1, Reason: delivery.ReasonTimeout})
		}
		e.crash()
		got, err := e.s.Recover(e.ctx, e.h.Clock.Milli())
		if st := e.s.Stats(); err != nil || len(got) != 600 || st.Uncertain != 700 || st.Running != 0 {
			e.Fatalf("recovered %d, %v, %+v", len(got), err, st)
		}
	}},
	{"T17 owed while it runs", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.Timer})
		e.crash()
		if r := e.want(key(1), delivery.Running, ""); !r.Owed {
			e.Fatalf("%+v", r)
		}
	}},
	{"T18 read-back says done", func(e *env) {
		e.uncertain()
		e.apply(key(1), delivery.Event{Kind: delivery.ReadBackDone, ExternalRef: "x9"})
		e.crash()
		if r := e.want(key(1), delivery.Confirmed, delivery.ReasonReadBack); r.ExternalRef != "x9" {
			e.Fatalf("%+v", r)
		}
	}},
	{"T19 read-back proves absence", func(e *env) {
		e.uncertain()
		e.apply(key(1), delivery.Event{Kind: delivery.ReadBackNotDone, AbsenceProof: true})
		e.crash()
		e.want(key(1), delivery.Ready, delivery.ReasonAbsent)
	}},
	{"T20 read-back without verdict", func(e *env) {
		e.uncertain()
		e.apply(key(1), delivery.Event{Kind: delivery.ReadBackNoVerdict, RetryAt: 77})
		if r := e.want(key(1), delivery.Uncertain, delivery.ReasonNoAnswer); r.NextAt != 77 {
			e.Fatalf("%+v", r)
		}
		e.restart()
		if r := e.want(key(1), delivery.Uncertain, delivery.ReasonNoAnswer); r.NextAt != 77 {
			e.Fatalf("%+v", r)
		}
	}},
	{"T21 late outcome of the same attempt", func(e *env) {
		e.uncertain()
		e.apply(key(1), delivery.Event{Kind: delivery.Done, Epoch: 1})
		e.crash()
		e.want(key(1), delivery.Confirmed, delivery.ReasonDone)
	}},
	{"T33 I5 outcome of an older attempt changes nothing", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.NotDoneRetry, Epoch: 1, Reason: delivery.ReasonNotDelivered})
		e.reserve(e.signed(1), delivery.TakeOver)
		_, acts := e.apply(key(1), delivery.Event{Kind: delivery.Done, Epoch: 1})
		if acts != delivery.PossibleDouble {
			e.Fatalf("actions %b", acts)
		}
		if r := e.want(key(1), delivery.Running, ""); r.Epoch != 2 {
			e.Fatalf("%+v", r)
		}
	}},
	{"I5 a claim needs READY", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.refuse(key(1), delivery.Event{Kind: delivery.Claim, Boot: e.boot}, delivery.ErrImpossible)
		if n := e.s.Stats().Impossible; n != 1 {
			e.Fatalf("%d impossible events counted", n)
		}
	}},
	{"I6 age does not end an attempt", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.h.Clock.Advance(100 * span)
		if _, err := e.s.Sweep(e.ctx, e.h.Clock.Milli()); err != nil {
			e.Fatal(err)
		}
		e.refuse(key(1), delivery.Event{Kind: delivery.WindowOver}, delivery.ErrImpossible)
		e.refuse(key(1), delivery.Event{Kind: delivery.Done, Epoch: 2}, delivery.ErrImpossible)
		e.want(key(1), delivery.Running, "")
	}},
	{"I8 confirmed stays confirmed", func(e *env) {
		e.confirmed()
		for _, k := range []delivery.EventKind{delivery.NotDoneRetry, delivery.Unknown, delivery.Done} {
			e.refuse(key(1), delivery.Event{Kind: k, Epoch: 1}, delivery.ErrImpossible)
		}
	}},
	{"an event at nothing", func(e *env) {
		_, _, err := e.s.Apply(e.ctx, key(5), delivery.Event{Kind: delivery.Done, Epoch: 1})
		if !errors.Is(err, store.ErrNotFound) {
			e.Fatalf("error %v", err)
		}
	}},
}
