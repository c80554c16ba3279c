// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"strconv"
	"testing"
)

type identityRow struct {
	name    string
	history []Arrival // each of them was forwarded and done
	arrival Arrival

	kind     VerdictKind
	reason   Reason
	idReused bool
	bodySeen bool
}

// The identity table: one row for each line of it, and for what follows from it.
var identityRows = []identityRow{
	{name: "signed, new, body new", arrival: signed("1", "A"), kind: First},
	{name: "signed, new, body seen", history: []Arrival{signed("1", "A")}, arrival: signed("2", "A"), kind: First},
	{name: "signed, seen, same body", history: []Arrival{signed("1", "A")}, arrival: signed("1", "A"), kind: Duplicate},
	{
		name: "signed, seen, other body", history: []Arrival{signed("1", "A")}, arrival: signed("1", "B"),
		kind: HoldNew, reason: ReasonContentMismatch,
	},
	{
		name: "signed, seen, other body, skip is no rule for that", history: []Arrival{signed("1", "A")},
		arrival: signed("1", "B").by(mismatch(RuleSkip)), kind: HoldNew, reason: ReasonContentMismatch,
	},
	{
		name: "signed, seen, other body, forward", history: []Arrival{signed("1", "A")},
		arrival: signed("1", "B").by(mismatch(RuleForward)), kind: First,
	},
	{
		name: "signed, seen, other body, forward, accept mode", history: []Arrival{signed("1", "A")},
		arrival: signed("1", "B").by(mismatch(RuleForward)).by(accept), kind: Accepted,
	},
	{
		name: "signed, forgotten, other body", history: []Arrival{signed("1", "A")},
		arrival: signed("1", "B").by(at(anew)), kind: First,
	},
	{name: "unsigned, new, body new", history: []Arrival{unsigned("1", "A")}, arrival: unsigned("2", "B"), kind: First},
	{name: "unsigned, seen, same body", history: []Arrival{unsigned("1", "A")}, arrival: unsigned("1", "A"), kind: Duplicate},
	{
		name: "unsigned, seen, body new", history: []Arrival{unsigned("1", "A")}, arrival: unsigned("1", "B"),
		kind: First, idReused: true,
	},
	{
		name: "unsigned, new, body seen: hold", history: []Arrival{unsigned("1", "A")}, arrival: unsigned("2", "A"),
		kind: HoldNew, reason: ReasonSameBody, bodySeen: true,
	},
	{
		name: "unsigned, new, body seen: skip", history: []Arrival{unsigned("1", "A")},
		arrival: unsigned("2", "A").by(sameBody(RuleSkip)), kind: Duplicate, bodySeen: true,
	},
	{
		name: "unsigned, new, body seen: process", history: []Arrival{unsigned("1", "A")},
		arrival: unsigned("2", "A").by(sameBody(RuleForward)), kind: First, bodySeen: true,
	},
	{
		name: "unsigned, new, body seen, effect forgotten: hold", history: []Arrival{unsigned("1", "A")},
		arrival: unsigned("2", "A").by(at(anew)), kind: HoldNew, reason: ReasonSameBody, bodySeen: true,
	},
	{
		name: "unsigned, new, body seen, effect forgotten: skip has nothing to skip to", history: []Arrival{unsigned("1", "A")},
		arrival: unsigned("2", "A").by(at(anew)).by(sameBody(RuleSkip)), kind: HoldNew, reason: ReasonSameBody, bodySeen: true,
	},
	{
		name: "unsigned, seen, body seen, effect forgotten", history: []Arrival{unsigned("1", "A")},
		arrival: unsigned("1", "A").by(at(anew)), kind: HoldNew, reason: ReasonSameBody, bodySeen: true,
	},
	{
		name: "unsigned, new, body forgotten", history: []Arrival{unsigned("1", "A")},
		arrival: unsigned("2", "A").by(at(now + 100*window)), kind: First,
	},
	{
		name: "unsigned, seen, body seen under another ID", history: []Arrival{unsigned("1", "A"), unsigned("2", "B")},
		arrival: unsigned("2", "A"), kind: HoldNew, reason: ReasonSameBody, bodySeen: true,
	},
	{
		name: "ID removed, body seen", history: []Arrival{unsigned("1", "A")},
		arrival: anonymous("A").by(func(a *Arrival) { a.BodyKey = named("b", "A") }),
		kind:    HoldNew, reason: ReasonSameBody, bodySeen: true,
	},
	{name: "none, new", history: []Arrival{anonymous("A")}, arrival: anonymous("B"), kind: First},
	{name: "none, seen in window", history: []Arrival{anonymous("A")}, arrival: anonymous("A").by(at(anew - 1)), kind: Duplicate},
	{name: "none, seen before the window", history: []Arrival{anonymous("A")}, arrival: anonymous("A").by(at(anew)), kind: First},
	{
		name: "none, no safe key", arrival: Arrival{Problem: ReasonNoSafeKey, Kept: true},
		kind: HoldNew, reason: ReasonNoSafeKey,
	},
	{name: "none, no key and no reason given", arrival: arrival("A"), kind: HoldNew, reason: ReasonNoSafeKey},
	{
		name: "any, ambiguous ID", history: []Arrival{signed("1", "A")},
		arrival: signed("1", "A").by(func(a *Arrival) { a.Problem = ReasonAmbiguousID }),
		kind:    HoldNew, reason: ReasonAmbiguousID,
	},
	{
		name: "any, keys point to two effects", history: []Arrival{signed("1", "A"), signed("2", "B")},
		arrival: both(signed("1", "A"), signed("2", "B")), kind: HoldNew, reason: ReasonAliasConflict,
	},
	{
		name: "any, keys point to two effects, forward rules", history: []Arrival{signed("1", "A"), signed("2", "B")},
		arrival: both(signed("1", "A"), signed("2", "B")).by(mismatch(RuleForward)).by(sameBody(RuleForward)),
		kind:    HoldNew, reason: ReasonAliasConflict,
	},
}

// both is a delivery with the keys of two.
func both(a, b Arrival) Arrival {
	a.Identity = append(a.Identity[:1:1], b.Identity...)
	return a
}

func TestIdentityTable(t *testing.T) {
	for _, row := range identityRows {
		t.Run(row.name, func(t *testing.T) {
			s := newMemStore()
			for _, a := range row.history {
				if v := s.arrive(a); v.Kind != First {
					t.Fatalf("history: %s", v.Kind)
				}
				s.end(a.Identity[0].ID, Done)
			}
			v := s.arrive(row.arrival)
			if v.Kind != row.kind || v.Reason != row.reason || v.IDReused != row.idReused || v.BodySeen != row.bodySeen {
				t.Fatalf("got %s, reason %q, ID reused %v, body seen %v", v.Kind, v.Reason, v.IDReused, v.BodySeen)
			}
			switch v.Kind {
			case First:
				if v.Record.State != Running || v.Record.Epoch != 1 || !v.Actions.Has(Save|Send) {
					t.Errorf("not sent: %+v, %b", v.Record, v.Actions)
				}
			case HoldNew:
				if v.Record.State != Held || v.Record.Reason != row.reason || !v.Record.Owed || v.Actions != Save|Alarm {
					t.Errorf("not held: %+v, %b", v.Record, v.Actions)
				}
			case Duplicate:
				if v.Actions.Has(Send) || v.Record.Epoch != 1 {
					t.Errorf("sent: %+v, %b", v.Record, v.Actions)
				}
			}
		})
	}
}

// TestMintedIDs: a captured body under ten thousand invented IDs makes one effect
// and one item for a person.
func TestMintedIDs(t *testing.T) {
	s := newMemStore()
	v := s.arrive(unsigned("genuine", "A"))
	s.end(v.Record.ID, Done)
	sends := 1
	for i := range 10_000 {
		v = s.arrive(unsigned("minted "+strconv.Itoa(i), "A"))
		if v.Actions.Has(Send) {
			sends++
		}
		if want := Parked; i > 0 && v.Kind != want {
			t.Fatalf("copy %d: %s", i, v.Kind)
		}
	}
	if sends != 1 || len(s.records) != 2 || len(s.keys) != 0 {
		t.Errorf("%d sends, %d records, %d aliases; want 1, 2, 0", sends, len(s.records), len(s.keys))
	}
	if v.Record.Seen != 10_000 || v.Reason != ReasonSameBody || !v.BodySeen {
		t.Errorf("held item: seen %d, reason %s", v.Record.Seen, v.Reason)
	}
}

// TestPoisoning: a captured body under the ID of a coming event does not keep the
// genuine delivery away.
func TestPoisoning(t *testing.T) {
	s := newMemStore()
	old := s.arrive(unsigned("1", "captured"))
	s.end(old.Record.ID, Done)
	if v := s.arrive(unsigned("2", "captured")); v.Kind != HoldNew {
		t.Fatalf("poison: %s", v.Kind)
	}
	if v := s.arrive(unsigned("2", "genuine")); v.Kind != First {
		t.Fatalf("genuine: %s", v.Kind)
	}
}

// TestAliasLimit: under same_body skip minted IDs are skipped without end, and
// the record stops learning them.
func TestAliasLimit(t *testing.T) {
	s := newMemStore()
	first := s.arrive(unsigned("genuine", "A"))
	s.end(first.Record.ID, Done)
	for i := range 200 {
		v := s.arrive(unsigned("minted "+strconv.Itoa(i), "A").by(sameBody(RuleSkip)))
		if v.Kind != Duplicate || v.Record.ID != first.Record.ID {
			t.Fatalf("copy %d: %s", i, v.Kind)
		}
		if i >= maxAliases && v.Actions != SaveLazy {
			t.Fatalf("copy %d waits for a write", i)
		}
	}
	if n := len(s.records[first.Record.ID].Aliases); n != maxAliases || len(s.keys) != maxAliases {
		t.Errorf("%d aliases, %d keys; want %d", n, len(s.keys), maxAliases)
	}
}
