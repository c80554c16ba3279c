// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// compareWithModel drives a store and the model with the same random history and
// expects the same answers, step by step, over restarts as well.
func compareWithModel(t *testing.T, harness func(t *testing.T) Harness) {
	rapid.Check(t, func(r *rapid.T) {
		e := newEnv(t, harness(t))
		p := &pair{T: r, e: e, model: NewModel(e.h.Clock, e.boot), copies: map[delivery.ID]delivery.ID{}}
		r.Repeat(map[string]func(*rapid.T){
			"arrive":  p.arrive,
			"outcome": p.outcome,
			"person":  p.person,
			"other":   p.other,
			"wait":    p.wait,
			"restart": p.restart,
			"sweep":   p.sweep,
			"":        p.compare,
		})
		if err := e.s.Close(); err != nil {
			r.Fatalf("close: %v", err)
		}
	})
}

// pair is a store and its model.
type pair struct {
	*rapid.T
	e      *env
	model  *Model
	ids    []delivery.ID               // effects of the store
	copies map[delivery.ID]delivery.ID // copies have random IDs: store's to model's
}

func (p *pair) modelID(id delivery.ID) delivery.ID {
	if m, ok := p.copies[id]; ok {
		return m
	}
	return id
}

func (p *pair) arrival(t *rapid.T) *delivery.Arrival {
	var a *delivery.Arrival
	if rapid.Bool().Draw(t, "signed") {
		a = p.e.signed(rapid.SliceOfNDistinct(rapid.Uint64Range(1, 5), 1, 3, rapid.ID[uint64]).Draw(t, "keys")...)
		a.Body = delivery.Digest{byte(rapid.IntRange(1, 2).Draw(t, "content"))}
		a.HoldKey = a.Body
		a.Policy.Mismatch = delivery.Rule(rapid.IntRange(0, 1).Draw(t, "mismatch"))
	} else {
		a = p.e.unsigned(rapid.Uint64Range(1, 3).Draw(t, "id"), rapid.Uint64Range(1, 3).Draw(t, "body"))
		a.Policy.SameBody = delivery.Rule(rapid.IntRange(0, 2).Draw(t, "same body"))
	}
	a.Policy.Accept = rapid.IntRange(0, 4).Draw(t, "mode") == 0
	a.Policy.RetryUncertain = rapid.IntRange(0, 3).Draw(t, "on uncertain") == 0
	if rapid.IntRange(0, 9).Draw(t, "problem") == 0 {
		a.Problem = delivery.ReasonNoSafeKey
	}
	return a
}

func (p *pair) arrive(t *rapid.T) {
	a := p.arrival(t)
	got, ok, err := p.e.s.Peek(p.e.ctx, a)
	if err == nil && !ok {
		got, err = p.e.s.Reserve(p.e.ctx, a)
	}
	want, wantErr := p.model.Reserve(p.e.ctx, a)
	if err != nil || wantErr != nil {
		t.Fatalf("reserve: %v, model: %v", err, wantErr)
	}
	if got.Kind != want.Kind || got.Reason != want.Reason || got.IDReused != want.IDReused ||
		got.BodySeen != want.BodySeen || p.modelID(got.Record.ID) != want.Record.ID {
		t.Fatalf("verdict %s of %s (%s), model %s of %s (%s)", got.Kind, got.Record.ID, got.Reason,
			want.Kind, want.Record.ID, want.Reason)
	}
	p.remember(got.Record.ID)
}

func (p *pair) remember(id delivery.ID) {
	if slices.Contains(p.ids, id) {
		return
	}
	p.ids = append(p.ids, id)
}

func (p *pair) apply(t *rapid.T, ev delivery.Event) {
	if len(p.ids) == 0 {
		return
	}
	id := rapid.SampledFrom(p.ids).Draw(t, "effect")
	ev.At = p.e.h.Clock.Milli()
	if ev.Kind == delivery.OperatorDrop && rapid.Bool().Draw(t, "peer") {
		ev.Peer = rapid.SampledFrom(p.ids).Draw(t, "of")
	}
	modelEv := ev
	modelEv.Peer = p.modelID(ev.Peer)
	got, acts, err := p.e.s.Apply(p.e.ctx, id, ev)
	want, wantActs, wantErr := p.model.Apply(p.e.ctx, p.modelID(id), modelEv)
	if acts != wantActs || (err == nil) != (wantErr == nil) {
		t.Fatalf("%s: actions %b, %v, model %b, %v", ev.Kind, acts, err, wantActs, wantErr)
	}
	for _, kind := range []error{store.ErrNotFound, delivery.ErrImpossible, delivery.ErrNotYet, delivery.ErrNoReason} {
		if errors.Is(err, kind) != errors.Is(wantErr, kind) {
			t.Fatalf("%s: error %v, model %v", ev.Kind, err, wantErr)
		}
	}
	if acts.Has(delivery.Copy) {
		p.copies[got.ID] = want.ID
		p.remember(got.ID)
	}
}

func (p *pair) outcome(t *rapid.T) {
	kind := rapid.SampledFrom([]delivery.EventKind{
		delivery.Done, delivery.NotDoneRetry, delivery.NotDoneFinal, delivery.Unknown,
	}).Draw(t, "outcome")
	ev := delivery.Event{Kind: kind, Epoch: rapid.Uint32Range(1, 3).Draw(t, "epoch"), Reason: delivery.ReasonTimeout}
	if rapid.Bool().Draw(t, "later") {
		ev.RetryAt = p.e.h.Clock.Milli() + 60_000
	}
	p.apply(t, ev)
}

func (p *pair) person(t *rapid.T) {
	p.apply(t, person(rapid.SampledFrom([]delivery.EventKind{
		delivery.OperatorConfirm, delivery.OperatorSend, delivery.OperatorDrop, delivery.OperatorForget,
	}).Draw(t, "action")))
}

func (p *pair) other(t *rapid.T) {
	p.apply(t, delivery.Event{
		Kind: rapid.SampledFrom([]delivery.EventKind{
			delivery.Claim, delivery.ReadBackDone, delivery.ReadBackNotDone, delivery.ReadBackNoVerdict,
			delivery.Advisor, delivery.Timer, delivery.WindowOver, delivery.OtherContent, delivery.OwnerGone,
		}).Draw(t, "event"),
		Boot:         p.e.boot,
		AbsenceProof: rapid.Bool().Draw(t, "proof"),
		Process:      rapid.Bool().Draw(t, "process"),
		Exhausted:    rapid.Bool().Draw(t, "exhausted"),
	})
}

func (p *pair) wait(t *rapid.T) {
	p.e.h.Clock.Advance(rapid.SampledFrom([]time.Duration{
		time.Millisecond, time.Minute, time.Hour, 2 * span / 3, span,
	}).Draw(t, "time"))
}

func (p *pair) restart(t *rapid.T) {
	p.e.restart()
	p.model.Restart(p.e.boot)
	at := p.e.h.Clock.Milli()
	got, err := p.e.s.Recover(p.e.ctx, at)
	want, wantErr := p.model.Recover(p.e.ctx, at)
	if err != nil || wantErr != nil || len(got) != len(want) {
		t.Fatalf("recovered %d, %v, model %d, %v", len(got), err, len(want), wantErr)
	}
}

func (p *pair) sweep(t *rapid.T) {
	at := p.e.h.Clock.Milli()
	got, err := p.e.s.Sweep(p.e.ctx, at)
	want, wantErr := p.model.Sweep(p.e.ctx, at)
	if err != nil || wantErr != nil || len(got) != len(want) {
		t.Fatalf("swept %v, %v, model %v, %v", got, err, want, wantErr)
	}
}

// compare expects both to hold the same records.
func (p *pair) compare(t *rapid.T) {
	for _, id := range p.ids {
		got, err := p.e.s.Get(p.e.ctx, id)
		want, wantErr := p.model.Get(p.e.ctx, p.modelID(id))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %v, model %v", id, err, wantErr)
		}
		got.ID, got.Peer = p.modelID(got.ID), p.modelID(got.Peer)
		if err == nil && !sameRecord(got, want) {
			t.Fatalf("record\n%+v\nmodel\n%+v", got, want)
		}
	}
}
