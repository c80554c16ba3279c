// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import "testing"

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name   string
		record Record
		event  Event
	}{
		{"same", in(Confirmed), ev(Same)},
		{"claim", in(Ready), ev(Claim)},
		{"done", in(Running), ev(Done)},
		{"not done", in(Running), ev(NotDoneRetry)},
		{"unknown", in(Running), ev(Unknown)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := Step(c.record, c.event); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// decisions are the arrivals that make up nearly all traffic, and the rare ones.
func decisions() []struct {
	name    string
	arrival Arrival
	found   Found
	kind    VerdictKind
} {
	two := both(signed("1", "A"), signed("event", "A"))
	return []struct {
		name    string
		arrival Arrival
		found   Found
		kind    VerdictKind
	}{
		{"first", signed("1", "A"), Found{Identity: []*Record{nil}}, First},
		{"first with event", two, Found{Identity: []*Record{nil, nil}}, First},
		{"duplicate", signed("1", "A"), Found{Identity: []*Record{found(Confirmed)}}, Duplicate},
		{"join", signed("1", "A"), Found{Identity: []*Record{found(Running, ownRun)}}, Join},
		{"take over", signed("1", "A"), Found{Identity: []*Record{found(Ready)}}, TakeOver},
		{"new alias", two, Found{Identity: []*Record{found(Confirmed), nil}}, Duplicate},
		{"hold", signed("1", "B"), Found{Identity: []*Record{found(Confirmed)}}, HoldNew},
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, c := range decisions() {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if v := Decide(&c.arrival, c.found); v.Kind != c.kind {
					b.Fatal(v.Kind)
				}
			}
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	b.ReportAllocs()
	e := full(200)
	for b.Loop() {
		if out := Classify(e, contract); out.Class != Done {
			b.Fatal(out)
		}
	}
}

// TestAllocations holds the hot path to its budget: none for a step or an
// outcome, at most three for a decision.
func TestAllocations(t *testing.T) {
	running, done := in(Running), ev(Done)
	if n := testing.AllocsPerRun(100, func() { _, _, _ = Step(running, done) }); n != 0 {
		t.Errorf("Step: %v allocations", n)
	}
	e := full(200)
	if n := testing.AllocsPerRun(100, func() { Classify(e, contract) }); n != 0 {
		t.Errorf("Classify: %v allocations", n)
	}
	for _, c := range decisions() {
		if n := testing.AllocsPerRun(100, func() { Decide(&c.arrival, c.found) }); n > 3 {
			t.Errorf("Decide %s: %v allocations", c.name, n)
		}
	}
}
