// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

var errDisk = errors.New("injected: the disk does not answer")

var faultTests = []testCase{
	{"a failed reservation leaves nothing", func(e *env) {
		e.h.Fail(e.T, e.s, errDisk)
		if _, err := e.s.Reserve(e.ctx, e.signed(1, 2)); !errors.Is(err, errDisk) {
			e.Fatalf("error %v", err)
		}
		e.wantNone(key(1))
		if st := e.s.Stats(); st.Running != 0 {
			e.Fatalf("%+v", st)
		}
		if e.s.Ready() == nil {
			e.Fatal("ready in spite of the disk")
		}
		e.h.Fail(e.T, e.s, nil)
		e.reserve(e.signed(1, 2), delivery.First)
		if err := e.s.Ready(); err != nil {
			e.Fatalf("not ready again: %v", err)
		}
	}},
	{"a failed take-over leaves the effect READY", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.apply(key(1), delivery.Event{Kind: delivery.NotDoneRetry, Epoch: 1, Reason: delivery.ReasonUpstreamFail})
		e.h.Fail(e.T, e.s, errDisk)
		if _, err := e.s.Reserve(e.ctx, e.signed(1)); !errors.Is(err, errDisk) {
			e.Fatalf("error %v", err)
		}
		e.want(key(1), delivery.Ready, delivery.ReasonUpstreamFail)
		e.h.Fail(e.T, e.s, nil)
		if v := e.reserve(e.signed(1), delivery.TakeOver); v.Record.Epoch != 2 {
			e.Fatalf("%+v", v.Record)
		}
	}},
	{"a failing disk does not stop what needs no write", func(e *env) {
		e.confirmed()
		e.h.Fail(e.T, e.s, errDisk)
		e.peek(e.signed(1), delivery.Duplicate)
		e.reserve(e.signed(1), delivery.Duplicate)
		e.h.Fail(e.T, e.s, nil)
	}},
	{"T34 an outcome that cannot be written is kept", func(e *env) {
		for k := range uint64(4) {
			e.reserve(e.signed(k+1), delivery.First)
		}
		e.h.Fail(e.T, e.s, errDisk)
		at := e.h.Clock.Milli()
		for k, ev := range []delivery.Event{
			{Kind: delivery.Done, Epoch: 1, At: at},
			{Kind: delivery.NotDoneFinal, Epoch: 1, At: at, Reason: delivery.ReasonRefused},
			{Kind: delivery.Unknown, Epoch: 1, At: at, Reason: delivery.ReasonTimeout},
		} {
			_, acts, err := e.s.Apply(e.ctx, key(uint64(k+1)), ev)
			if acts == 0 || ev.Kind != delivery.Done && !errors.Is(err, errDisk) {
				e.Fatalf("%s: actions %b, error %v", ev.Kind, acts, err)
			}
		}
		e.want(key(1), delivery.Confirmed, delivery.ReasonDone)
		e.want(key(2), delivery.Ready, delivery.ReasonRefused)
		e.want(key(3), delivery.Uncertain, delivery.ReasonTimeout)
		e.want(key(4), delivery.Running, "")
		e.h.Fail(e.T, e.s, nil)
		// A later write cannot overtake the ones that wait.
		e.reserve(e.signed(2), delivery.TakeOver)
		e.restart()
		e.want(key(1), delivery.Confirmed, delivery.ReasonDone)
		e.want(key(2), delivery.Running, "")
		e.want(key(3), delivery.Uncertain, delivery.ReasonTimeout)
		if got, err := e.s.Recover(e.ctx, at); err != nil || len(got) != 2 {
			e.Fatalf("recovered %v, %v", got, err)
		}
	}},
	{"T34 lost in a crash it is uncertain", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.h.Fail(e.T, e.s, errDisk)
		_, _, err := e.s.Apply(e.ctx, key(1), delivery.Event{
			Kind: delivery.NotDoneFinal, Epoch: 1, At: e.h.Clock.Milli(), Reason: delivery.ReasonRefused,
		})
		if !errors.Is(err, errDisk) {
			e.Fatalf("error %v", err)
		}
		if e.h.Damage == nil || e.h.Unsure {
			e.h.Fail(e.T, e.s, nil)
			return // this store has lost nothing
		}
		e.crash()
		if _, err := e.s.Recover(e.ctx, e.h.Clock.Milli()); err != nil {
			e.Fatal(err)
		}
		e.want(key(1), delivery.Uncertain, delivery.ReasonOwnerLost)
	}},
	{"a person's action that cannot be written has no effect", func(e *env) {
		e.uncertain()
		e.h.Fail(e.T, e.s, errDisk)
		e.refuse(key(1), person(delivery.OperatorConfirm), errDisk)
		e.refuse(key(1), person(delivery.OperatorDrop), errDisk)
		e.h.Fail(e.T, e.s, nil)
		if got, err := e.s.Audit(e.ctx, key(1), 10); err != nil || len(got) != 0 {
			e.Fatalf("audit %v, %v", got, err)
		}
		e.apply(key(1), person(delivery.OperatorConfirm))
	}},
	{"T17 a debt that cannot be written is not taken on", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		e.h.Fail(e.T, e.s, errDisk)
		e.refuse(key(1), delivery.Event{Kind: delivery.Timer}, errDisk)
		e.h.Fail(e.T, e.s, nil)
	}},
	{"T35 a damaged record refuses its key alone", func(e *env) {
		if e.h.Damage == nil {
			return
		}
		e.confirmed()
		e.reserve(e.signed(2), delivery.First)
		e.h.Damage(e.T, e.s, key(1))
		if _, _, err := e.s.Peek(e.ctx, e.signed(1)); !errors.Is(err, store.ErrCorrupt) {
			e.Fatalf("peek: %v", err)
		}
		if _, err := e.s.Reserve(e.ctx, e.signed(1)); !errors.Is(err, store.ErrCorrupt) {
			e.Fatalf("reserve: %v", err)
		}
		if _, _, err := e.s.Apply(e.ctx, key(1), person(delivery.OperatorSend)); !errors.Is(err, store.ErrCorrupt) {
			e.Fatalf("apply: %v", err)
		}
		if e.s.Stats().Corrupt == 0 {
			e.Fatal("not counted")
		}
		e.peek(e.signed(2), delivery.Join)
		e.reserve(e.signed(3), delivery.First)
	}},
	{"a closed store says so", func(e *env) {
		if err := e.s.Close(); err != nil {
			e.Fatal(err)
		}
		if err := e.s.Close(); err != nil {
			e.Fatalf("closed twice: %v", err)
		}
		_, err := e.s.Reserve(e.ctx, e.signed(1))
		if !errors.Is(err, store.ErrClosed) || !errors.Is(e.s.Ready(), store.ErrClosed) {
			e.Fatalf("error %v", err)
		}
	}},
}
