// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

var arrivalTests = []testCase{
	{"T1 first arrival runs", func(e *env) {
		if _, ok, err := e.s.Peek(e.ctx, e.signed(1)); ok || err != nil {
			e.Fatalf("peek at an unknown key: %v, %v", ok, err)
		}
		v := e.reserve(e.signed(1), delivery.First)
		if !v.Actions.Has(delivery.Send) || v.Record.Epoch != 1 || v.Record.Owner != e.boot {
			e.Fatalf("verdict %+v", v)
		}
		e.crash()
		r := e.want(key(1), delivery.Running, "")
		if !sameRecord(r, v.Record) {
			e.Fatalf("after a crash:\n%+v\n%+v", r, v.Record)
		}
	}},
	{"T1 all keys are taken in one step", func(e *env) {
		v := e.reserve(e.signed(1, 2, 3), delivery.First)
		e.crash()
		for _, k := range []uint64{1, 2, 3} {
			if got := e.reserve(e.signed(k), delivery.Parked); got.Record.ID != v.Record.ID {
				e.Fatalf("key %d leads to %s", k, got.Record.ID)
			}
		}
	}},
	{"T2 accepted is owed and survives", func(e *env) {
		a := e.signed(1)
		a.Policy.Accept = true
		e.reserve(a, delivery.Accepted)
		e.crash()
		r := e.want(key(1), delivery.Ready, delivery.ReasonAccepted)
		if !r.Owed || r.NextAt == 0 {
			e.Fatalf("%+v", r)
		}
		e.peek(a, delivery.Owed)
	}},
	{"T4 ambiguous is held and survives", func(e *env) {
		a := e.signed()
		a.Problem = delivery.ReasonNoSafeKey
		v := e.reserve(a, delivery.HoldNew)
		e.crash()
		e.want(v.Record.ID, delivery.Held, delivery.ReasonNoSafeKey)
	}},
	{"T4 one item for one content, however often it comes", func(e *env) {
		a := e.signed()
		a.Problem = delivery.ReasonNoSafeKey
		v := e.reserve(a, delivery.HoldNew)
		for range 5 {
			e.peek(a, delivery.Parked)
		}
		e.restart()
		if r := e.want(v.Record.ID, delivery.Held, delivery.ReasonNoSafeKey); r.Seen != 6 {
			e.Fatalf("seen %d times, want 6", r.Seen)
		}
		if n := e.s.Stats().Held; n != 1 {
			e.Fatalf("%d held", n)
		}
	}},
	{"T6 T12 a retry takes over what is known not to be done", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.NotDoneRetry, Epoch: 1, Reason: delivery.ReasonUpstreamFail})
		e.crash()
		v := e.reserve(e.signed(1), delivery.TakeOver)
		if v.Record.Epoch != 2 || v.Record.Owner != e.boot {
			e.Fatalf("%+v", v.Record)
		}
	}},
	{"T6 not before its time", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		later := e.h.Clock.Milli() + 60_000
		e.apply(key(1), delivery.Event{Kind: delivery.NotDoneRetry, Epoch: 1, Reason: delivery.ReasonUpstreamBusy, RetryAt: later})
		e.peek(e.signed(1), delivery.NotYet)
		e.refuse(key(1), delivery.Event{Kind: delivery.Claim, Boot: e.boot}, delivery.ErrNotYet)
		e.h.Clock.Advance(time.Minute)
		e.reserve(e.signed(1), delivery.TakeOver)
	}},
	{"bytes are asked for when the decision needs them", func(e *env) {
		asked := 0
		ask := func(a *delivery.Arrival) *delivery.Arrival {
			a.Keep = func(v *delivery.Verdict) (delivery.ID, error) {
				asked++
				return delivery.ID{byte(asked)}, nil
			}
			return a
		}
		e.reserve(ask(e.signed(1)), delivery.First)
		e.reserve(ask(e.signed(1)), delivery.Join)
		if r := e.want(key(1), delivery.Running, ""); asked != 1 || !r.Kept || r.Spool != (delivery.ID{1}) {
			e.Fatalf("asked %d times, %+v", asked, r)
		}
		e.apply(key(1), delivery.Event{Kind: delivery.NotDoneFinal, Epoch: 1, Reason: delivery.ReasonRefused})
		v := e.reserve(ask(e.signed(1)), delivery.TakeOver)
		if asked != 2 || v.Record.Spool != (delivery.ID{2}) || v.Stale != (delivery.ID{1}) {
			e.Fatalf("asked %d times, %+v", asked, v)
		}
		e.crash()
		if r := e.want(key(1), delivery.Running, ""); r.Spool != (delivery.ID{2}) {
			e.Fatalf("after a crash: %+v", r)
		}
	}},
	{"bytes that cannot be kept refuse the delivery", func(e *env) {
		a := e.signed(1)
		a.Keep = func(*delivery.Verdict) (delivery.ID, error) { return delivery.ID{}, errDisk }
		if _, err := e.s.Reserve(e.ctx, a); !errors.Is(err, errDisk) {
			e.Fatalf("error %v", err)
		}
		e.wantNone(key(1))
		e.reserve(e.signed(1), delivery.First)
	}},
	{"T16 a repeat joins the running attempt", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.peek(e.signed(1), delivery.Join)
		e.reserve(e.signed(1), delivery.Join)
	}},
	{"T23 an idempotent upstream gets it again", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.Unknown, Epoch: 1, Reason: delivery.ReasonTimeout})
		a := e.signed(1)
		a.Policy.RetryUncertain = true
		if v := e.reserve(a, delivery.TakeOver); !v.Record.MayRepeat {
			e.Fatalf("%+v", v.Record)
		}
	}},
	{"T24 a new alias of a known effect is kept", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.Unknown, Epoch: 1, Reason: delivery.ReasonTimeout})
		e.reserve(e.signed(1, 2), delivery.Parked)
		e.crash()
		v := e.reserve(e.signed(2), delivery.Parked)
		if v.Record.ID != key(1) || v.Record.Seen != 3 {
			e.Fatalf("%+v", v.Record)
		}
	}},
	{"T29 duplicates are counted, sooner or later", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.Done, Epoch: 1, Status: 200})
		for range 9 {
			e.peek(e.signed(1), delivery.Duplicate)
		}
		e.reserve(e.signed(1), delivery.Duplicate)
		if r := e.want(key(1), delivery.Confirmed, delivery.ReasonDone); r.Seen != 11 {
			e.Fatalf("seen %d times, want 11", r.Seen)
		}
		e.restart()
		if r := e.want(key(1), delivery.Confirmed, delivery.ReasonDone); r.Seen != 11 {
			e.Fatalf("seen %d times after a restart, want 11", r.Seen)
		}
	}},
	{"T30 other content under a signed identity is held", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.Done, Epoch: 1, Status: 200})
		a := e.signed(1)
		a.Body, a.HoldKey = delivery.Digest{2}, delivery.Digest{2}
		v := e.reserve(a, delivery.HoldNew)
		e.crash()
		if r := e.want(v.Record.ID, delivery.Held, delivery.ReasonContentMismatch); r.Peer != key(1) {
			e.Fatalf("peer %s", r.Peer)
		}
		e.peek(a, delivery.Parked)
		e.peek(e.signed(1), delivery.Duplicate)
	}},
	{"T30 forwarded by policy as an effect of its own", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		a := e.signed(1)
		a.Body, a.HoldKey, a.Policy.Mismatch = delivery.Digest{2}, delivery.Digest{2}, delivery.RuleForward
		v := e.reserve(a, delivery.First)
		e.peek(a, delivery.Join)
		e.apply(v.Record.ID, delivery.Event{Kind: delivery.Done, Epoch: 1})
		e.peek(a, delivery.Duplicate)
	}},
	{"I11 keys of two effects are a conflict", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.reserve(e.signed(2), delivery.First)
		v := e.reserve(e.signed(1, 2), delivery.HoldNew)
		e.want(v.Record.ID, delivery.Held, delivery.ReasonAliasConflict)
		e.reserve(e.signed(1, 2), delivery.Parked)
	}},
	{"unsigned ID over a known body is held", func(e *env) {
		e.reserve(e.unsigned(1, 7), delivery.First)
		e.crash()
		v := e.reserve(e.unsigned(2, 7), delivery.HoldNew)
		if v.Reason != delivery.ReasonSameBody || v.Record.Peer != e.unsigned(1, 7).Identity[0].ID {
			e.Fatalf("%+v", v)
		}
	}},
	{"unsigned ID over a body that is known not to be done repairs it", func(e *env) {
		first := e.reserve(e.unsigned(1, 7), delivery.First)
		e.apply(first.Record.ID, delivery.Event{Kind: delivery.NotDoneFinal, Epoch: 1, Reason: delivery.ReasonRefused})
		v := e.reserve(e.unsigned(2, 7), delivery.TakeOver)
		if v.Record.ID != first.Record.ID {
			e.Fatalf("took over %s", v.Record.ID)
		}
		e.reserve(e.unsigned(2, 7), delivery.Join)
	}},
	{"unsigned ID with another body is told", func(e *env) {
		e.reserve(e.unsigned(1, 7), delivery.First)
		if v := e.reserve(e.unsigned(1, 8), delivery.First); !v.IDReused {
			e.Fatal("the reuse was not seen")
		}
	}},
	{"a body is remembered when its effect is forgotten", func(e *env) {
		v := e.reserve(e.unsigned(1, 7), delivery.First)
		e.apply(v.Record.ID, delivery.Event{Kind: delivery.Done, Epoch: 1})
		e.h.Clock.Advance(span)
		e.wantNone(v.Record.ID)
		e.restart()
		if got := e.reserve(e.unsigned(2, 7), delivery.HoldNew); got.Reason != delivery.ReasonSameBody {
			e.Fatalf("%+v", got)
		}
		e.h.Clock.Advance(3 * span)
		e.reserve(e.unsigned(3, 7), delivery.First)
	}},
	{"I8 a window is not shorter than said, and ends", func(e *env) {
		e.reserve(e.signed(1, 2), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.Done, Epoch: 1})
		e.restart()
		e.h.Clock.Advance(span - time.Millisecond)
		if _, err := e.s.Sweep(e.ctx, e.h.Clock.Milli()); err != nil {
			e.Fatal(err)
		}
		e.want(key(1), delivery.Confirmed, delivery.ReasonDone)
		e.peek(e.signed(2), delivery.Duplicate)
		// The repeat was seen at the last moment, so the window began anew.
		e.h.Clock.Advance(span - time.Millisecond)
		e.want(key(1), delivery.Confirmed, delivery.ReasonDone)
		e.h.Clock.Advance(time.Millisecond)
		e.wantNone(key(1))
		e.reserve(e.signed(2, 1), delivery.First)
	}},
	{"T10 open and not owed is forgotten after its window", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.NotDoneFinal, Epoch: 1, Reason: delivery.ReasonRefused})
		if ids, err := e.s.Sweep(e.ctx, e.h.Clock.Milli()); err != nil || len(ids) != 0 {
			e.Fatalf("swept too early: %v, %v", ids, err)
		}
		e.h.Clock.Advance(span)
		ids, err := e.s.Sweep(e.ctx, e.h.Clock.Milli())
		if err != nil || len(ids) != 1 || ids[0] != key(1) {
			e.Fatalf("swept %v, %v", ids, err)
		}
		if n := e.s.Stats().Ready; n != 0 {
			e.Fatalf("%d ready", n)
		}
		e.crash()
		e.wantNone(key(1))
	}},
	{"I4 what is owed is never forgotten", func(e *env) {
		a := e.signed(1, 2)
		a.Policy.Accept = true
		e.reserve(a, delivery.Accepted)
		e.h.Clock.Advance(50 * span)
		if ids, err := e.s.Sweep(e.ctx, e.h.Clock.Milli()); err != nil || len(ids) != 0 {
			e.Fatalf("swept %v, %v", ids, err)
		}
		e.restart()
		again := e.signed(2)
		again.Policy.Accept = true
		e.peek(again, delivery.Owed)
	}},
}
