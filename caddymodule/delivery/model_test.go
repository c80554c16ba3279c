// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// machine drives the package through a store in memory, beside the reference and
// an app whose truth only the test knows.
type machine struct {
	store *memStore
	ref   *reference
	at    int64
	boot  uint64
	app   map[ID]*truth
}

// truth is what really happened to one effect, since it was last forgotten.
type truth struct {
	attempts []attempt
	sends    int
	allowed  int // sends that are justified: the first, after a known failure, flagged
	flagged  int // sends that a person or a policy allowed to repeat the work
	told     bool
}

type attempt struct {
	epoch uint32
	done  bool // the app did the work
}

func (tr *truth) done() (n int) {
	for _, a := range tr.attempts {
		if a.done {
			n++
		}
	}
	return n
}

func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{
			store: newMemStore(), at: now, boot: 1, app: map[ID]*truth{},
			ref: &reference{effects: map[ID]*effect{}, bodies: map[ID]seenBody{}},
		}
		t.Repeat(map[string]func(*rapid.T){
			"":        m.check,
			"arrive":  m.arrive,
			"arrive2": m.arrive, // arrivals are what happens most
			"outcome": m.outcome,
			"late":    m.outcome,
			"event":   m.event,
			"restart": m.restart,
			"time": func(t *rapid.T) {
				m.at += rapid.SampledFrom([]int64{1, window / 2, window, 9 * window}).Draw(t, "pass")
			},
			"sweep": m.sweep,
		})
	})
}

func drawArrival(t *rapid.T, m *machine) Arrival {
	id := rapid.SampledFrom([]string{"1", "2"}).Draw(t, "id")
	body := rapid.SampledFrom([]string{"A", "B"}).Draw(t, "body")
	var a Arrival
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		a = anonymous(body)
	case 1:
		event := rapid.SampledFrom([]string{"e1", "e2"}).Draw(t, "event")
		a = both(signed(event, body), signed(id, body))
	case 2:
		a = signed(id, body)
	default:
		a = unsigned(id, body)
	}
	a.At, a.Boot = m.at, m.boot
	a.Policy.BodyWindow = 3 * window
	a.Policy.Accept = rapid.IntRange(0, 3).Draw(t, "accept") == 0
	a.Policy.RetryUncertain = rapid.IntRange(0, 3).Draw(t, "retry") == 0
	a.Policy.Mismatch = Rule(rapid.IntRange(0, 2).Draw(t, "mismatch"))
	a.Policy.SameBody = Rule(rapid.IntRange(0, 2).Draw(t, "same body"))
	return a
}

func (m *machine) arrive(t *rapid.T) {
	a := drawArrival(t, m)
	before := maps.Clone(m.store.records)
	v := m.store.arrive(a)
	answer, name := m.ref.arrive(a, v.Record.ID)
	if v.Kind.String() != answer || v.Record.ID != name {
		t.Fatalf("answered %s about %s, the reference %s about %s", v.Kind, v.Record.ID.Short(), answer, name.Short())
	}
	old, there := before[name]
	if v.Record.Seen == 1 {
		if there && !old.Expired(m.at) {
			t.Fatalf("a live record was replaced: %+v", old)
		}
		m.app[name] = &truth{allowed: 1}
	} else if old.State == Uncertain || old.State == Running {
		if v.Kind == TakeOver { // T23
			m.app[name].flag()
		}
	}
	for id, r := range before {
		if now, ok := m.store.records[id]; id != name && (!ok || now.State != r.State || now.Epoch != r.Epoch) {
			t.Fatalf("an arrival for %s changed %s (I11)", name.Short(), id.Short())
		}
	}
	m.sent(t, v.Record, v.Actions)
	m.answered(t, v)
}

// answered is I3: what a 2xx needs.
func (m *machine) answered(t *rapid.T, v Verdict) {
	r := m.store.records[v.Record.ID]
	switch v.Kind {
	case Duplicate:
		if !r.State.Final() {
			t.Fatalf("duplicate of %s", r.State)
		}
	case Parked, Owed, Accepted, HoldNew:
		if !r.State.Open() || !r.Owed || !r.Kept {
			t.Fatalf("%s without a debt: %+v", v.Kind, r)
		}
		m.app[r.ID].told = true
	}
}

func (tr *truth) flag() {
	tr.allowed++
	tr.flagged++
}

// sent starts an attempt when an action asks for it; what it does to the app is
// decided here and seen by nobody.
func (m *machine) sent(t *rapid.T, r Record, acts Actions) {
	if !acts.Has(Send) {
		return
	}
	tr := m.app[r.ID]
	tr.sends++
	tr.attempts = append(tr.attempts, attempt{r.Epoch, rapid.Bool().Draw(t, "app does it")})
}

func (m *machine) pick(t *rapid.T) (ID, bool) {
	ids := slices.SortedFunc(maps.Keys(m.store.records), func(a, b ID) int { return cmp.Compare(a.String(), b.String()) })
	if len(ids) == 0 {
		return ID{}, false
	}
	return rapid.SampledFrom(ids).Draw(t, "effect"), true
}

// outcome reports an attempt, in any order and as often as the network likes.
// Evidence is true: done only when it was done, not done only when it was not.
func (m *machine) outcome(t *rapid.T) {
	id, ok := m.pick(t)
	if !ok || len(m.app[id].attempts) == 0 {
		return
	}
	tr := m.app[id]
	a := rapid.SampledFrom(tr.attempts).Draw(t, "attempt")
	kinds := []EventKind{NotDoneRetry, NotDoneFinal, Unknown}
	if a.done {
		kinds = []EventKind{Done, Unknown}
	}
	m.step(t, id, Event{
		Kind: rapid.SampledFrom(kinds).Draw(t, "outcome"), Epoch: a.epoch, Reason: ReasonTimeout,
		RetryAt:        rapid.SampledFrom([]int64{0, m.at + 5}).Draw(t, "retry at"),
		RetryUncertain: rapid.Bool().Draw(t, "policy"),
	})
}

// failing is T34 and I10: the provider is told that its delivery is parked, the
// write fails, and the process dies before it can try again.
func (m *machine) failing(t *rapid.T) {
	id, ok := m.pick(t)
	if !ok || m.store.records[id].State != Running {
		return
	}
	m.boot++
	m.step(t, id, Event{Kind: OwnerGone})
	m.app[id].told = true
}

// event is everything else that may happen, sensible or not.
func (m *machine) event(t *rapid.T) {
	id, ok := m.pick(t)
	if !ok {
		return
	}
	kinds := []EventKind{
		OtherContent, Claim, OwnerGone, ReadBackDone, ReadBackNotDone, ReadBackNoVerdict,
		OperatorConfirm, OperatorSend, OperatorDrop, Advisor, Timer, WindowOver, OperatorForget,
	}
	e := Event{
		Kind: rapid.SampledFrom(kinds).Draw(t, "event"), Boot: m.boot, Actor: "ann", Why: "looked", RetryAt: m.at + 3,
		AbsenceProof: rapid.Bool().Draw(t, "proof"), Process: rapid.Bool().Draw(t, "process"), Exhausted: rapid.Bool().Draw(t, "exhausted"),
	}
	if did := m.app[id].done() > 0; did && e.Kind == ReadBackNotDone || !did && e.Kind == ReadBackDone {
		e.Kind = ReadBackNoVerdict // a read-back tells the truth or nothing
	}
	m.step(t, id, e)
}

func (m *machine) step(t *rapid.T, id ID, e Event) {
	e.At = m.at
	before := m.store.records[id]
	if before.Expired(m.at) && e.Kind != WindowOver {
		return // a store does not find it any more
	}
	after, acts, err := m.store.apply(id, e)
	want := e.Kind == OtherContent || m.ref.effects[id].on(e)
	if (err == nil) != want {
		t.Fatalf("%s at %+v: %v, the reference says %v", e.Kind, before, err, want)
	}
	if err == nil && acts.Has(Remove) {
		delete(m.ref.effects, id)
		delete(m.app, id)
		return
	}
	m.moved(t, before, after, e)
	m.sent(t, after, acts)
	parked := before.State == Running && e.Kind == Unknown && !e.RetryUncertain && e.Epoch == before.Epoch // T14
	answered := before.State == Running && e.Kind == Timer && err == nil                                   // T17
	if parked || answered {
		m.app[id].told = true
	}
}

// moved is I5 to I8 for one step.
func (m *machine) moved(t *rapid.T, from, to Record, e Event) {
	own := e.Kind >= Done && e.Kind <= Unknown && e.Epoch == from.Epoch
	switch {
	case to.Epoch != from.Epoch && (to.Epoch != from.Epoch+1 || from.State != Ready || to.State != Running):
		t.Fatalf("I5: %+v to %+v by %s", from, to, e.Kind)
	case from.State == to.State:
	case from.State == Running && !own && to.State != Uncertain:
		t.Fatalf("I6: %+v to %+v by %s", from, to, e.Kind)
	case from.State == Uncertain && (e.Kind == Timer || e.Kind == WindowOver || e.Kind == Claim):
		t.Fatalf("I7: %+v to %+v by %s", from, to, e.Kind)
	case from.State.Final():
		t.Fatalf("I8: %+v to %+v by %s", from, to, e.Kind)
	}
	if to.State == Ready && from.State != Ready {
		tr := m.app[to.ID]
		switch e.Kind {
		case NotDoneRetry, NotDoneFinal, ReadBackNotDone:
			tr.allowed++
		case Unknown:
			tr.flag()
		case OperatorSend:
			if from.State == Uncertain {
				tr.flag()
			}
		}
	}
}

// restart gives the process a new boot ID. Recovery may come before the next
// arrival or after it.
func (m *machine) restart(t *rapid.T) {
	m.boot++
	if !rapid.Bool().Draw(t, "recover") {
		return
	}
	for id, r := range m.store.records {
		if r.State == Running {
			m.step(t, id, Event{Kind: OwnerGone})
		}
	}
}

func (m *machine) sweep(t *rapid.T) {
	for id, r := range m.store.records {
		if r.Expired(m.at) {
			m.step(t, id, Event{Kind: WindowOver})
		}
	}
}

// check compares the store with the reference and holds it to the promises.
func (m *machine) check(t *rapid.T) {
	if len(m.store.records) != len(m.ref.effects) {
		t.Fatalf("%d records, the reference has %d", len(m.store.records), len(m.ref.effects))
	}
	for id, r := range m.store.records {
		e, tr := m.ref.effects[id], m.app[id]
		if e == nil || r.State.String() != e.state || r.Epoch != e.epoch || r.Owed != e.owed ||
			r.MayRepeat != e.repeat || r.NextAt != e.next || r.ExpiresAt != e.expires {
			t.Fatalf("record %+v, reference %+v", r, e)
		}
		if r.Owed && (!r.Kept || r.State.Final() || r.Expired(m.at+1000*window)) {
			t.Fatalf("I4: %+v", r)
		}
		if tr.told && !r.Owed && !r.State.Final() {
			t.Fatalf("answered with success and not owed: %+v", r)
		}
		if r.State.Final() && r.ExpiresAt < r.Changed+window {
			t.Fatalf("I8: expires too early: %+v", r)
		}
		if tr.sends > tr.allowed || int(r.Epoch) != tr.sends {
			t.Fatalf("%d sends, %d allowed: %+v", tr.sends, tr.allowed, r)
		}
		if tr.done() > 1+tr.flagged {
			t.Fatalf("done %d times with %d flagged repeats: %+v", tr.done(), tr.flagged, r)
		}
		if r.State == Confirmed && r.Reason != ReasonOperator && tr.done() == 0 {
			t.Fatalf("confirmed and never done: %+v", r)
		}
	}
}
