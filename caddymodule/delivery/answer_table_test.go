// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"reflect"
	"testing"
)

func ownRun(r *Record)    { r.Owner = 8 }
func notOwed(r *Record)   { r.Owed = false }
func due(r *Record)       { r.NextAt = now }
func lostBytes(r *Record) { r.Kept, r.Spool = false, ID{} }

// found is what Decide sees: the record has the identity of signed("1", "A").
func found(s State, change ...func(*Record)) *Record {
	r := in(s, append([]func(*Record){func(r *Record) {
		r.ID, r.Body, r.Spool, r.SecretID = named("d", "1"), bodyOf("A"), named("old"), "s0"
	}}, change...)...)
	return &r
}

type answerRow struct {
	name    string
	record  *Record
	change  func(*Arrival)
	kind    VerdictKind
	state   State
	epoch   uint32
	owed    bool
	acts    Actions
	rebound bool
	stale   bool
}

func unkept(a *Arrival)      { a.Kept, a.Spool = false, ID{} }
func acceptRetry(a *Arrival) { a.Policy.Accept, a.Policy.RetryUncertain = true, true }

// The answer table, and the transitions that an arrival causes.
var repeatRows = []answerRow{
	{name: "RUNNING not owed, relay T16", record: found(Running, ownRun), kind: Join, state: Running, epoch: 2},
	{name: "RUNNING not owed, accept", record: found(Running, ownRun), change: accept, kind: Owed, state: Running, epoch: 2, owed: true, acts: Save},
	{name: "RUNNING owed, relay T16", record: found(Running, ownRun, owed), kind: Owed, state: Running, epoch: 2, owed: true},
	{name: "RUNNING owed, accept", record: found(Running, ownRun, owed), change: accept, kind: Owed, state: Running, epoch: 2, owed: true},
	{name: "RUNNING owed, bytes lost", record: found(Running, ownRun, owed, lostBytes), kind: Owed, state: Running, epoch: 2, owed: true, acts: Save, rebound: true},
	{name: "RUNNING of a lost owner T15", record: found(Running), kind: Parked, state: Uncertain, epoch: 2, owed: true, acts: Save | SaveLazy | Alarm},
	{name: "RUNNING of a lost owner, owed T15", record: found(Running, owed), kind: Parked, state: Uncertain, epoch: 2, owed: true, acts: Save | SaveLazy | Alarm},
	{name: "RUNNING of a lost owner, retry T15 T23", record: found(Running), change: retrying, kind: TakeOver, state: Running, epoch: 3, owed: true, acts: Save | Send | Alarm, stale: true},
	{name: "READY not owed, relay T6", record: found(Ready), kind: TakeOver, state: Running, epoch: 3, acts: Save | Send, stale: true},
	{name: "READY not owed, due now T6", record: found(Ready, due), kind: TakeOver, state: Running, epoch: 3, acts: Save | Send, stale: true},
	{name: "READY not owed, bytes lost T6", record: found(Ready, lostBytes), kind: TakeOver, state: Running, epoch: 3, acts: Save | Send},
	{name: "READY not owed, no new bytes T6", record: found(Ready), change: unkept, kind: TakeOver, state: Running, epoch: 3, acts: Save | Send},
	{name: "READY not owed, Retry-After runs", record: found(Ready, notDue), kind: NotYet, state: Ready, epoch: 2, acts: SaveLazy},
	{name: "READY not owed, accept takes it in", record: found(Ready), change: accept, kind: Owed, state: Ready, epoch: 2, owed: true, acts: Save | SaveLazy | Wake},
	{name: "READY not owed, Retry-After runs, accept", record: found(Ready, notDue), change: accept, kind: Owed, state: Ready, epoch: 2, owed: true, acts: Save | SaveLazy | Wake},
	{name: "READY owed, relay: Redeliver sends it T6", record: found(Ready, owed), kind: TakeOver, state: Running, epoch: 3, owed: true, acts: Save | Send, stale: true},
	{name: "READY owed, relay, due later T7", record: found(Ready, owed, notDue), kind: Owed, state: Ready, epoch: 2, owed: true, acts: SaveLazy},
	{name: "READY owed, accept T7", record: found(Ready, owed), change: accept, kind: Owed, state: Ready, epoch: 2, owed: true, acts: SaveLazy},
	{name: "READY owed, bytes lost T6", record: found(Ready, owed, lostBytes), kind: TakeOver, state: Running, epoch: 3, owed: true, acts: Save | Send},
	{name: "READY owed, bytes lost, due later T7", record: found(Ready, owed, lostBytes, notDue), kind: Owed, state: Ready, epoch: 2, owed: true, acts: Save | SaveLazy, rebound: true},
	{name: "CONFIRMED, relay T29", record: found(Confirmed), kind: Duplicate, state: Confirmed, epoch: 2, acts: SaveLazy},
	{name: "CONFIRMED, accept T29", record: found(Confirmed), change: accept, kind: Duplicate, state: Confirmed, epoch: 2, acts: SaveLazy},
	{name: "CONFIRMED, bytes freed long ago", record: found(Confirmed, lostBytes), kind: Duplicate, state: Confirmed, epoch: 2, acts: SaveLazy},
	{name: "UNCERTAIN, relay T24", record: found(Uncertain), kind: Parked, state: Uncertain, epoch: 2, owed: true, acts: SaveLazy},
	{name: "UNCERTAIN, accept T24", record: found(Uncertain), change: accept, kind: Parked, state: Uncertain, epoch: 2, owed: true, acts: SaveLazy},
	{name: "UNCERTAIN not owed yet T24", record: found(Uncertain, notOwed), kind: Parked, state: Uncertain, epoch: 2, owed: true, acts: Save | SaveLazy},
	{name: "UNCERTAIN, bytes lost T24", record: found(Uncertain, lostBytes), kind: Parked, state: Uncertain, epoch: 2, owed: true, acts: Save | SaveLazy, rebound: true},
	{name: "UNCERTAIN, bytes lost, none new T24", record: found(Uncertain, lostBytes), change: unkept, kind: Parked, state: Uncertain, epoch: 2, owed: true, acts: SaveLazy},
	{name: "UNCERTAIN not owed, retry T23", record: found(Uncertain, notOwed), change: retrying, kind: TakeOver, state: Running, epoch: 3, acts: Save | Send, stale: true},
	{name: "UNCERTAIN owed, retry T23 keeps the debt", record: found(Uncertain), change: retrying, kind: TakeOver, state: Running, epoch: 3, owed: true, acts: Save | Send, stale: true},
	{name: "UNCERTAIN, retry, accept leaves it to the dispatcher", record: found(Uncertain), change: acceptRetry, kind: Parked, state: Uncertain, epoch: 2, owed: true, acts: SaveLazy},
	{name: "HELD, relay T28", record: found(Held), kind: Parked, state: Held, owed: true, acts: SaveLazy},
	{name: "HELD, accept T28", record: found(Held), change: accept, kind: Parked, state: Held, owed: true, acts: SaveLazy},
	{name: "HELD, bytes lost T28", record: found(Held, lostBytes), kind: Parked, state: Held, owed: true, acts: Save | SaveLazy, rebound: true},
	{name: "DROPPED, relay", record: found(Dropped), kind: Duplicate, state: Dropped, epoch: 2, acts: SaveLazy},
	{name: "DROPPED, accept", record: found(Dropped), change: accept, kind: Duplicate, state: Dropped, epoch: 2, acts: SaveLazy},
}

func TestAnswerTable(t *testing.T) {
	for _, row := range repeatRows {
		t.Run(row.name, func(t *testing.T) {
			a, before := signed("1", "A"), *row.record
			if row.change != nil {
				row.change(&a)
			}
			v := Decide(&a, Found{Identity: []*Record{row.record}})
			if v.Kind != row.kind || v.Actions != row.acts || v.Rebound != row.rebound || v.Stale.IsZero() == row.stale {
				t.Errorf("got %s, actions %b, rebound %v, stale %v", v.Kind, v.Actions, v.Rebound, v.Stale)
			}
			r := v.Record
			if r.State != row.state || r.Epoch != row.epoch || r.Owed != row.owed {
				t.Errorf("got %s, epoch %d, owed %v", r.State, r.Epoch, r.Owed)
			}
			if r.Seen != before.Seen+1 || r.LastSeen != now || r.Created != before.Created {
				t.Errorf("seen %d, last %d", r.Seen, r.LastSeen)
			}
			if r.Owed && r.ExpiresAt != 0 {
				t.Error("an owed record would be forgotten (I4)")
			}
			if !reflect.DeepEqual(*row.record, before) {
				t.Error("what the store gave was changed")
			}
		})
	}
}

// TestTakeOver: the new delivery's bytes, secret and time count from now on.
func TestTakeOver(t *testing.T) {
	a := signed("1", "A")
	v := Decide(&a, Found{Identity: []*Record{found(Ready)}})
	r := v.Record
	if r.Spool != a.Spool || !r.Kept || r.SecretID != "s1" || v.Stale != named("old") {
		t.Errorf("bytes %v, kept %v, secret %s, stale %v", r.Spool, r.Kept, r.SecretID, v.Stale)
	}
	if r.Owner != a.Boot || r.SentAt != now || r.Attempts != 3 || r.ExpiresAt != 0 || r.MayRepeat {
		t.Errorf("claim: %+v", r)
	}
	if v = Decide(&a, Found{Identity: []*Record{found(Ready, func(r *Record) { r.Spool = a.Spool })}}); !v.Stale.IsZero() {
		t.Error("bytes in use are called stale")
	}
	unkept(&a)
	v = Decide(&a, Found{Identity: []*Record{found(Ready)}})
	if v.Record.Spool != named("old") || !v.Record.Kept {
		t.Errorf("bytes that are still there were forgotten: %+v", v.Record)
	}
}

// TestPolicyRetryIsFlagged: T23 says on the record that the work may repeat (I7).
func TestPolicyRetryIsFlagged(t *testing.T) {
	a := signed("1", "A").by(retrying)
	for _, r := range []*Record{found(Uncertain), found(Running)} {
		if v := Decide(&a, Found{Identity: []*Record{r}}); !v.Record.MayRepeat {
			t.Errorf("%s was sent again without a flag", r.State)
		}
	}
}

// TestAcceptTakesInWhatRelayLeft: the record waits for its time and is owed.
func TestAcceptTakesInWhatRelayLeft(t *testing.T) {
	a := signed("1", "A").by(accept)
	for next, want := range map[int64]int64{0: now, now - 1: now, later: later} {
		v := Decide(&a, Found{Identity: []*Record{found(Ready, func(r *Record) { r.NextAt = next })}})
		r := v.Record
		if r.NextAt != want || r.Reason != ReasonAccepted || r.ExpiresAt != 0 {
			t.Errorf("next %d: %+v", next, r)
		}
	}
	v := Decide(&a, Found{Identity: []*Record{found(Ready, lostBytes)}})
	if !v.Rebound || v.Record.Spool != a.Spool {
		t.Errorf("the bytes of the new delivery are not kept: %+v", v)
	}
}

// TestNeedsBytes: whatever is sent or held for somebody needs its bytes first; a
// repeat of what is settled or kept does not.
func TestNeedsBytes(t *testing.T) {
	needs := map[VerdictKind]bool{First: true, TakeOver: true, Accepted: true, HoldNew: true}
	for k := First; k <= HoldNew; k++ {
		v := Verdict{Kind: k}
		if v.NeedsBytes() != needs[k] {
			t.Errorf("%s: %v", k, v.NeedsBytes())
		}
		if v.Rebound = true; !v.NeedsBytes() {
			t.Errorf("%s that replaces lost bytes needs none", k)
		}
	}
}
