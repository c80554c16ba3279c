// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"errors"
	"reflect"
	"slices"
	"testing"
)

// Times of the matrix: the record changed at start, the event comes at now.
const (
	start  = int64(1_000)
	now    = int64(5_000)
	later  = int64(9_000) // RetryAt of outcomes and read-backs
	window = int64(100_000)
	fresh  = start + window // ExpiresAt of a record at rest
	anew   = now + window   // ExpiresAt after the event
)

// cell is one row of the matrix: a record, an event, and what comes of them.
type cell struct {
	name   string // STATE/event, with the transition it implements
	record Record
	event  Event

	state   State
	reason  Reason
	epoch   uint32
	owed    bool
	repeat  bool
	next    int64
	expires int64
	acts    Actions
	more    func(*Record) // fields besides these that change
	err     error
}

// no is a cell whose event has no effect.
func no(name string, r Record, e Event, err error) cell {
	return cell{
		name: name, record: r, event: e, err: err,
		state: r.State, reason: r.Reason, epoch: r.Epoch, owed: r.Owed,
		repeat: r.MayRepeat, next: r.NextAt, expires: r.ExpiresAt,
	}
}

// only is a cell whose event leaves the record as it is but asks for something.
func only(name string, r Record, e Event, acts Actions) cell {
	c := no(name, r, e, nil)
	c.acts = acts
	return c
}

// in returns the record of a state, with the facts that the state implies.
func in(s State, change ...func(*Record)) Record {
	if s == None {
		return Record{}
	}
	r := Record{
		ID: ID{1}, Source: "shop", State: s, Epoch: 2, Attempts: 2, Kept: true,
		Created: 500, SentAt: 900, Changed: start, LastSeen: start, Seen: 1,
		Body: Digest{2}, Strength: StrengthStrong, Window: window,
		Aliases: []ID{{3}},
	}
	switch s {
	case Ready:
		r.Reason, r.ExpiresAt = ReasonUpstreamFail, fresh
	case Running:
		r.Owner = 7
	case Confirmed:
		r.Reason, r.ExpiresAt = ReasonDone, fresh
	case Uncertain:
		r.Reason, r.Owed = ReasonTimeout, true
	case Held:
		r.Reason, r.Owed, r.Epoch, r.Attempts, r.SentAt = ReasonSameBody, true, 0, 0, 0
	case Dropped:
		r.Reason, r.ExpiresAt = ReasonOperator, fresh
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

func owed(r *Record)      { r.Owed, r.ExpiresAt = true, 0 }
func mayRepeat(r *Record) { r.MayRepeat = true }
func absent(r *Record)    { r.Reason = ReasonAbsent }
func notKept(r *Record)   { r.Kept = false }
func notDue(r *Record)    { r.NextAt = now + 1 }
func expired(r *Record)   { r.ExpiresAt = now }

// ev returns an event with the facts that its kind usually brings.
func ev(k EventKind, change ...func(*Event)) Event {
	e := Event{Kind: k, At: now, Epoch: 2, Boot: 8}
	switch k {
	case Done:
		e.Reason, e.Status, e.ExternalRef = ReasonDone, 200, "order-9"
	case NotDoneRetry:
		e.Reason, e.Status, e.RetryAt = ReasonUpstreamBusy, 503, later
	case NotDoneFinal:
		e.Reason, e.Status, e.RetryAt = ReasonRefused, 422, later
	case Unknown:
		e.Reason, e.Status, e.RetryAt = ReasonTimeout, 504, later
	case OlderOutcome:
		e.Epoch = 1
	case ReadBackDone:
		e.ExternalRef = "order-9"
	case ReadBackNotDone, ReadBackNoVerdict:
		e.RetryAt = later
	case OperatorConfirm, OperatorSend, OperatorDrop, OperatorForget:
		e.Actor, e.Why = "ann", "looked it up"
	}
	for _, f := range change {
		f(&e)
	}
	return e
}

func epoch(n uint32) func(*Event) { return func(e *Event) { e.Epoch = n } }
func peer(e *Event)               { e.Peer = ID{9} }
func proof(e *Event)              { e.AbsenceProof = true }
func retryUncertain(e *Event)     { e.RetryUncertain = true }
func process(e *Event)            { e.Process = true }
func exhausted(e *Event)          { e.Exhausted = true }
func ancient(e *Event)            { e.At = now + 1000*window }

func seenAgain(r *Record) { r.Seen, r.LastSeen = 2, now }
func reported(status int) func(*Record) {
	return func(r *Record) { r.UpstreamStatus = status }
}
func reportedDone(r *Record) { r.UpstreamStatus, r.ExternalRef = 200, "order-9" }
func hasPeer(r *Record)      { r.Peer = ID{9} }

// want is the whole record that a cell expects, so that a change of any other
// field is found as well.
func (c cell) want() Record {
	r := c.record
	if c.state != r.State || c.err == nil && c.event.Kind == Timer && c.event.Exhausted {
		r.Changed, r.Owner = c.event.At, 0
	}
	r.State, r.Reason, r.Epoch, r.Owed = c.state, c.reason, c.epoch, c.owed
	r.MayRepeat, r.NextAt, r.ExpiresAt = c.repeat, c.next, c.expires
	if c.more != nil {
		c.more(&r)
	}
	return r
}

func matrix() []cell {
	return slices.Concat(cellsNone(), cellsReady(), cellsRunning(), cellsUncertain(),
		cellsHeld(), cellsFinal(Confirmed, "CONFIRMED"), cellsFinal(Dropped, "DROPPED"))
}

func TestMatrix(t *testing.T) {
	for _, c := range matrix() {
		t.Run(c.name, func(t *testing.T) {
			before := c.record
			before.Aliases = slices.Clone(c.record.Aliases)
			got, acts, err := Step(c.record, c.event)
			if !errors.Is(err, c.err) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if acts != c.acts {
				t.Errorf("actions %b, want %b", acts, c.acts)
			}
			if want := c.want(); !reflect.DeepEqual(got, want) {
				t.Errorf("record\n got %+v\nwant %+v", got, want)
			}
			if !reflect.DeepEqual(c.record, before) {
				t.Error("the given record was changed")
			}
		})
	}
}

// TestMatrixComplete holds the table to every state with every event.
func TestMatrixComplete(t *testing.T) {
	names := map[string]bool{}
	have := map[State]map[EventKind]bool{}
	for _, c := range matrix() {
		if names[c.name] {
			t.Errorf("two cells are named %s", c.name)
		}
		names[c.name] = true
		if have[c.record.State] == nil {
			have[c.record.State] = map[EventKind]bool{}
		}
		have[c.record.State][c.event.Kind] = true
	}
	for s := None; s <= Dropped; s++ {
		for k := Same; int(k) <= EventKinds; k++ {
			if !have[s][k] {
				t.Errorf("no cell for %s at %s", k, s)
			}
		}
	}
}

// TestOperatorNeedsReason: no state lets a person act without saying who and why.
func TestOperatorNeedsReason(t *testing.T) {
	for s := None; s <= Dropped; s++ {
		for _, k := range []EventKind{OperatorConfirm, OperatorSend, OperatorDrop, OperatorForget} {
			for name, change := range map[string]func(*Event){
				"no actor":  func(e *Event) { e.Actor = "" },
				"no reason": func(e *Event) { e.Why = "" },
			} {
				t.Run(s.String()+"/"+k.String()+"/"+name, func(t *testing.T) {
					r := in(s)
					got, acts, err := Step(r, ev(k, change))
					if !errors.Is(err, ErrNoReason) || acts != 0 || !reflect.DeepEqual(got, r) {
						t.Errorf("got %+v, %b, %v", got, acts, err)
					}
				})
			}
		}
	}
}

// TestUnknownEvent: an event of a later version has no effect.
func TestUnknownEvent(t *testing.T) {
	for s := None; s <= Dropped; s++ {
		for _, k := range []EventKind{0, EventKind(EventKinds + 1)} {
			r := in(s)
			got, acts, err := Step(r, Event{Kind: k, At: now})
			if !errors.Is(err, ErrImpossible) || acts != 0 || !reflect.DeepEqual(got, r) {
				t.Errorf("%s at %s: got %+v, %b, %v", k, s, got, acts, err)
			}
		}
	}
}
