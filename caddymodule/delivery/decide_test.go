// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"reflect"
	"testing"
)

// TestFirst is T1: everything the delivery says is on the record before it is sent.
func TestFirst(t *testing.T) {
	a := unsigned("1", "A")
	a.Sender, a.EventID = "tenant", "e1"
	a.Identity = append(a.Identity, Key{ID: named("e", "e1"), Kind: 'e'})
	v := Decide(&a, Found{Identity: []*Record{nil, nil}})
	want := Verdict{
		Kind: First, Actions: Save | Send, NewKeys: []ID{named("e", "e1")}, SetBody: true, SetID: true,
		Record: Record{
			ID: named("d", "1", "A"), Source: "shop", Provider: "acme", Sender: "tenant",
			State: Running, Epoch: 1, Owner: 8, Attempts: 1, Kept: true, Spool: a.Spool,
			Created: now, SentAt: now, Changed: now, LastSeen: now, Seen: 1,
			Body: bodyOf("A"), Strength: StrengthMedium, SecretID: "s1",
			DeliveryID: "1", EventID: "e1", Aliases: []ID{named("e", "e1")}, Window: window,
		},
	}
	if !reflect.DeepEqual(v, want) {
		t.Errorf("got\n%+v, want\n%+v", v, want)
	}
}

// TestAccepted is T2: taken in, owed, due at once, not sent.
func TestAccepted(t *testing.T) {
	a := signed("1", "A").by(accept)
	v := Decide(&a, Found{Identity: []*Record{nil}})
	r := v.Record
	if v.Kind != Accepted || v.Actions != Save|Wake || v.SetBody || v.SetID || v.NewKeys != nil {
		t.Errorf("verdict %+v", v)
	}
	if r.State != Ready || r.Reason != ReasonAccepted || !r.Owed || r.NextAt != now || r.Epoch != 0 || r.ExpiresAt != 0 {
		t.Errorf("record %+v", r)
	}
}

// TestOtherContentAfterFailure is I-09: nothing was done and nothing is owed, so
// what the provider says now is what it wants to be done.
func TestOtherContentAfterFailure(t *testing.T) {
	a := signed("1", "B")
	v := Decide(&a, Found{Identity: []*Record{found(Ready)}})
	if v.Kind != TakeOver || v.Record.Body != bodyOf("B") || v.Record.ID != named("d", "1") {
		t.Errorf("got %s: %+v", v.Kind, v.Record)
	}
	for name, r := range map[string]*Record{
		"owed": found(Ready, owed), "may have been done": found(Ready, func(r *Record) { r.MayRepeat = true }),
	} {
		if v := Decide(&a, Found{Identity: []*Record{r}}); v.Kind != HoldNew {
			t.Errorf("%s: %s, want hold_new", name, v.Kind)
		}
	}
	a.Policy.Accept = true
	if v := Decide(&a, Found{Identity: []*Record{found(Ready)}}); v.Kind != HoldNew {
		t.Errorf("accept mode: %s, want hold_new", v.Kind)
	}
}

// TestOtherContentInEveryState is T30: what became of the first content does not
// matter unless it is known not to be done; the other one is neither skipped nor
// sent.
func TestOtherContentInEveryState(t *testing.T) {
	for s := Running; s <= Dropped; s++ {
		t.Run(s.String(), func(t *testing.T) {
			a := signed("1", "B")
			v := Decide(&a, Found{Identity: []*Record{found(s, ownRun)}})
			r := v.Record
			if v.Kind != HoldNew || r.Reason != ReasonContentMismatch || r.Peer != named("d", "1") || r.ID == named("d", "1") {
				t.Errorf("got %s: %+v", v.Kind, r)
			}
			if r.Body != bodyOf("B") || !r.Kept || !r.Owed || v.Sibling != r.ID {
				t.Errorf("held: %+v", r)
			}
		})
	}
}

// TestWeakerRecordIsNoMismatch: content is compared only with what a signed
// identity stood for.
func TestWeakerRecordIsNoMismatch(t *testing.T) {
	a := signed("1", "B")
	r := found(Confirmed, func(r *Record) { r.Strength = StrengthFallback })
	if v := Decide(&a, Found{Identity: []*Record{r}}); v.Kind != Duplicate {
		t.Errorf("got %s", v.Kind)
	}
}

// TestOneHeldItem: one item stands for one reason and one content.
func TestOneHeldItem(t *testing.T) {
	s := newMemStore()
	s.end(s.arrive(signed("1", "A")).Record.ID, Done)
	first := s.arrive(signed("1", "B"))
	again := s.arrive(signed("1", "B"))
	if first.Kind != HoldNew || again.Kind != Parked || again.Record.ID != first.Record.ID || again.Record.Seen != 2 {
		t.Errorf("again: %s, %+v", again.Kind, again.Record)
	}
	if again.Reason != ReasonContentMismatch {
		t.Errorf("reason of the copy: %q", again.Reason)
	}
	query := s.arrive(signed("1", "B").by(func(a *Arrival) { a.HoldKey = bodyOf("other query") }))
	if query.Kind != Parked {
		t.Errorf("other query: %s", query.Kind)
	}
	if other := s.arrive(signed("1", "C")); other.Kind != HoldNew {
		t.Errorf("other content: %s", other.Kind)
	}
	if tenant := s.arrive(signed("1", "B").by(func(a *Arrival) { a.Sender = "other" })); tenant.Kind != HoldNew {
		t.Errorf("other sender: %s", tenant.Kind)
	}
	problem := func(body string, why Reason) VerdictKind {
		return s.arrive(arrival(body).by(func(a *Arrival) { a.Problem = why })).Kind
	}
	for _, step := range []struct {
		body string
		why  Reason
		want VerdictKind
	}{
		{"X", ReasonNoSafeKey, HoldNew}, {"X", ReasonNoSafeKey, Parked},
		{"Y", ReasonNoSafeKey, HoldNew}, {"X", ReasonAmbiguousID, HoldNew},
	} {
		if got := problem(step.body, step.why); got != step.want {
			t.Errorf("%s %s: %s, want %s", step.body, step.why, got, step.want)
		}
	}
}

// TestDistinctEventsAreHeldApart: two signed events with the same wrong content
// are two items, and two effects where the route forwards them.
func TestDistinctEventsAreHeldApart(t *testing.T) {
	for rule, want := range map[Rule]VerdictKind{RuleHold: HoldNew, RuleForward: First} {
		s := newMemStore()
		s.end(s.arrive(signed("1", "A")).Record.ID, Done)
		s.end(s.arrive(signed("2", "A")).Record.ID, Done)
		one, two := s.arrive(signed("1", "B").by(mismatch(rule))), s.arrive(signed("2", "B").by(mismatch(rule)))
		if one.Kind != want || two.Kind != want || one.Record.ID == two.Record.ID {
			t.Errorf("got %s and %s, want %s twice", one.Kind, two.Kind, want)
		}
	}
}

// TestHeldItemDecided: copies of a held item follow what the person decided.
func TestHeldItemDecided(t *testing.T) {
	s := newMemStore()
	s.end(s.arrive(unsigned("1", "A")).Record.ID, Done)
	held := s.arrive(unsigned("2", "A")).Record.ID
	s.end(held, OperatorSend, func(e *Event) { e.Actor, e.Why = "ann", "a true event" })
	if v := s.arrive(unsigned("2", "A")); v.Kind != TakeOver || v.Record.ID != held {
		t.Errorf("released: %s", v.Kind)
	}
	s.end(held, Done)
	if v := s.arrive(unsigned("3", "A")); v.Kind != Duplicate || v.Record.ID != held {
		t.Errorf("done: %s", v.Kind)
	}
}

// TestMismatchForward: other content is an effect of its own, once.
func TestMismatchForward(t *testing.T) {
	s := newMemStore()
	s.end(s.arrive(signed("1", "A")).Record.ID, Done)
	forward := func(body string) Verdict { return s.arrive(signed("1", body).by(mismatch(RuleForward))) }
	b := forward("B")
	if b.Kind != First || b.Record.Peer != named("d", "1") {
		t.Fatalf("B: %s, %+v", b.Kind, b.Record)
	}
	if v := forward("B"); v.Kind != Join {
		t.Errorf("B running: %s", v.Kind)
	}
	s.end(b.Record.ID, NotDoneRetry)
	if v := forward("B"); v.Kind != TakeOver || v.Record.Epoch != 2 {
		t.Errorf("B failed: %s", v.Kind)
	}
	s.end(b.Record.ID, Done)
	if v := forward("B"); v.Kind != Duplicate {
		t.Errorf("B done: %s", v.Kind)
	}
	if v := forward("A"); v.Kind != Duplicate {
		t.Errorf("A: %s", v.Kind)
	}
	if v := forward("C"); v.Kind != First {
		t.Errorf("C: %s", v.Kind)
	}
}

// TestFreshIDAfterFailure: a redelivery under a fresh unsigned ID repairs what is
// known to have failed, and its own retries are known from then on.
func TestFreshIDAfterFailure(t *testing.T) {
	s := newMemStore()
	first := s.arrive(unsigned("1", "A")).Record.ID
	if v := s.arrive(unsigned("2", "A")); v.Kind != HoldNew {
		t.Fatalf("while the first runs: %s", v.Kind)
	}
	s.end(first, NotDoneFinal)
	v := s.arrive(unsigned("3", "A"))
	if v.Kind != TakeOver || v.Record.ID != first || !v.BodySeen || !reflect.DeepEqual(v.NewKeys, []ID{named("d", "3", "A")}) {
		t.Fatalf("after the failure: %s, %+v", v.Kind, v.NewKeys)
	}
	s.end(first, Done)
	for _, id := range []string{"1", "3"} {
		if v := s.arrive(unsigned(id, "A")); v.Kind != Duplicate {
			t.Errorf("%s afterwards: %s", id, v.Kind)
		}
	}
	if v := s.arrive(unsigned("4", "A")); v.Kind == TakeOver || v.Kind == First {
		t.Errorf("a third ID was sent: %s", v.Kind)
	}
}

// TestFreshIDBeforeItsTime: Retry-After holds for a fresh ID as well.
func TestFreshIDBeforeItsTime(t *testing.T) {
	s := newMemStore()
	first := s.arrive(unsigned("1", "A")).Record.ID
	s.end(first, NotDoneRetry, func(e *Event) { e.RetryAt = later })
	if v := s.arrive(unsigned("2", "A")); v.Kind != NotYet || v.Record.ID != first {
		t.Errorf("got %s", v.Kind)
	}
}

// TestNewAlias is T24 in every state: a key nobody knew is synced and finds the
// effect from then on.
func TestNewAlias(t *testing.T) {
	for s := Ready; s <= Dropped; s++ {
		t.Run(s.String(), func(t *testing.T) {
			m := newMemStore()
			m.records[named("d", "1")] = *found(s, ownRun)
			a := both(signed("1", "A"), signed("event", "A"))
			v := m.arrive(a)
			if !v.Actions.Has(Save) || !reflect.DeepEqual(v.NewKeys, []ID{named("d", "event")}) {
				t.Fatalf("%b, %v", v.Actions, v.NewKeys)
			}
			if !reflect.DeepEqual(v.Record.Aliases, []ID{{3}, named("d", "event")}) {
				t.Errorf("aliases %v", v.Record.Aliases)
			}
			if v = m.arrive(signed("event", "A")); v.Record.ID != named("d", "1") || v.NewKeys != nil {
				t.Errorf("by the new key: %s, %v", v.Record.ID, v.NewKeys)
			}
		})
	}
}

// TestAliasOfSameEffect: two known keys of one effect are no conflict (I11).
func TestAliasOfSameEffect(t *testing.T) {
	s := newMemStore()
	a := both(signed("1", "A"), signed("event", "A"))
	s.end(s.arrive(a).Record.ID, Done)
	if v := s.arrive(a); v.Kind != Duplicate || v.NewKeys != nil {
		t.Errorf("got %s, %v", v.Kind, v.NewKeys)
	}
}

// TestSecondEventOfOneAction: a known stronger key wins over a new weaker one.
func TestSecondEventOfOneAction(t *testing.T) {
	s := newMemStore()
	s.end(s.arrive(both(signed("action", "A"), signed("event 1", "A"))).Record.ID, Done)
	v := s.arrive(both(signed("action", "A"), signed("event 2", "A")))
	if v.Kind != Duplicate || !reflect.DeepEqual(v.NewKeys, []ID{named("d", "event 2")}) {
		t.Errorf("got %s, %v", v.Kind, v.NewKeys)
	}
}
