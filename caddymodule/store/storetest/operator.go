// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

var operatorTests = []testCase{
	{"T9 drop what is ready", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.NotDoneFinal, Epoch: 1, Reason: delivery.ReasonRefused})
		e.apply(key(1), person(delivery.OperatorDrop))
		e.crash()
		e.want(key(1), delivery.Dropped, delivery.ReasonOperator)
		e.peek(e.signed(1), delivery.Duplicate)
		e.wantAudit(key(1), "operator_drop", "ready", "dropped")
	}},
	{"T22 confirm", func(e *env) {
		e.uncertain()
		e.apply(key(1), person(delivery.OperatorConfirm))
		e.crash()
		e.want(key(1), delivery.Confirmed, delivery.ReasonOperator)
		e.wantAudit(key(1), "operator_confirm", "uncertain", "confirmed")
	}},
	{"T22 retry", func(e *env) {
		e.uncertain()
		e.apply(key(1), person(delivery.OperatorSend))
		e.crash()
		if r := e.want(key(1), delivery.Ready, delivery.ReasonRetry); !r.MayRepeat || !r.Owed {
			e.Fatalf("%+v", r)
		}
		r, acts := e.apply(key(1), delivery.Event{Kind: delivery.Claim, Boot: e.boot})
		if r.Epoch != 2 || !acts.Has(delivery.Send) {
			e.Fatalf("%+v, %b", r, acts)
		}
		e.crash()
		if got, err := e.s.Recover(e.ctx, e.h.Clock.Milli()); err != nil || len(got) != 1 {
			e.Fatalf("recovered %v, %v", got, err)
		}
	}},
	{"T25 release", func(e *env) {
		id := e.held()
		e.apply(id, person(delivery.OperatorSend))
		e.crash()
		e.want(id, delivery.Ready, delivery.ReasonReleased)
		e.wantAudit(id, "operator_send", "held", "ready")
	}},
	{"T26 duplicate of another one", func(e *env) {
		e.confirmed()
		id := e.held()
		ev := person(delivery.OperatorDrop)
		ev.Peer = key(99)
		e.refuse(id, ev, store.ErrNotFound)
		ev.Peer = key(1)
		e.apply(id, ev)
		if r := e.want(id, delivery.Dropped, delivery.ReasonDuplicateOf); r.Peer != key(1) {
			e.Fatalf("%+v", r)
		}
	}},
	{"T27 advisor", func(e *env) {
		id := e.held()
		e.apply(id, delivery.Event{Kind: delivery.Advisor, Process: true})
		e.want(id, delivery.Ready, delivery.ReasonAdvisor)
	}},
	{"T31 forget by hand", func(e *env) {
		v := e.reserve(e.unsigned(1, 7), delivery.First)
		e.apply(v.Record.ID, delivery.Event{Kind: delivery.Done, Epoch: 1})
		e.apply(v.Record.ID, person(delivery.OperatorForget))
		e.wantAudit(v.Record.ID, "operator_forget", "confirmed", "none")
		e.crash()
		e.wantNone(v.Record.ID)
		e.reserve(e.unsigned(1, 7), delivery.First)
	}},
	{"T31 an owed one cannot be forgotten", func(e *env) {
		e.uncertain()
		e.refuse(key(1), person(delivery.OperatorForget), delivery.ErrImpossible)
	}},
	{"T32 send again is an effect of its own", func(e *env) {
		e.confirmed()
		made, acts := e.apply(key(1), person(delivery.OperatorSend))
		if !acts.Has(delivery.Copy) || made.ID == key(1) || made.ID.IsZero() {
			e.Fatalf("%+v, %b", made, acts)
		}
		e.crash()
		r := e.want(made.ID, delivery.Ready, delivery.ReasonRetry)
		if !r.MayRepeat || !r.Owed || r.Kept || r.Peer != key(1) || r.DeliveryID != "d-1" {
			e.Fatalf("%+v", r)
		}
		e.want(key(1), delivery.Confirmed, delivery.ReasonDone)
		e.wantAudit(key(1), "operator_send", "confirmed", "confirmed")
	}},
	{"nothing without a reason", func(e *env) {
		e.uncertain()
		e.refuse(key(1), delivery.Event{Kind: delivery.OperatorConfirm, Actor: "ann"}, delivery.ErrNoReason)
		if got, err := e.s.Audit(e.ctx, key(1), 10); err != nil || len(got) != 0 {
			e.Fatalf("audit %v, %v", got, err)
		}
	}},
	{"audit is complete and newest first", func(e *env) {
		e.uncertain()
		e.apply(key(1), person(delivery.OperatorSend))
		e.h.Clock.Advance(time.Second)
		e.apply(key(1), person(delivery.OperatorDrop))
		id := e.held()
		e.h.Clock.Advance(time.Second)
		e.apply(id, person(delivery.OperatorDrop))
		e.restart()
		all, err := e.s.Audit(e.ctx, delivery.ID{}, 10)
		if err != nil || len(all) != 3 || all[0].Effect != id || all[2].Action != "operator_send" {
			e.Fatalf("%+v, %v", all, err)
		}
		if some, err := e.s.Audit(e.ctx, key(1), 1); err != nil || len(some) != 1 || some[0].Action != "operator_drop" {
			e.Fatalf("%+v, %v", some, err)
		}
	}},
	{"answers are kept as long as their effect", func(e *env) {
		if err := e.s.PutAnswer(e.ctx, key(1), []byte("x")); !errors.Is(err, store.ErrNotFound) {
			e.Fatalf("answer of nothing: %v", err)
		}
		e.confirmed()
		if _, err := e.s.Answer(e.ctx, key(1)); !errors.Is(err, store.ErrNotFound) {
			e.Fatalf("no answer: %v", err)
		}
		if err := e.s.PutAnswer(e.ctx, key(1), []byte("HTTP/1.1 201 Created")); err != nil {
			e.Fatal(err)
		}
		e.restart()
		got, err := e.s.Answer(e.ctx, key(1))
		if err != nil || string(got) != "HTTP/1.1 201 Created" {
			e.Fatalf("%q, %v", got, err)
		}
		e.h.Clock.Advance(span)
		if _, err := e.s.Answer(e.ctx, key(1)); !errors.Is(err, store.ErrNotFound) {
			e.Fatalf("after the window: %v", err)
		}
	}},
}

// wantAudit expects that the newest audit entry of an effect says this.
func (e *env) wantAudit(id delivery.ID, action, from, to string) {
	e.Helper()
	got, err := e.s.Audit(e.ctx, id, 1)
	if err != nil || len(got) != 1 {
		e.Fatalf("audit: %v, %v", got, err)
	}
	a := got[0]
	if a.Effect != id || a.ID != id.String() || a.Action != action || a.From != from || a.To != to ||
		a.Actor != "ann" || a.Why != "called the shop" || a.Source != "shop" || a.At.UnixMilli() != e.h.Clock.Milli() {
		e.Fatalf("audit entry %+v", a)
	}
}
