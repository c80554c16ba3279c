// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"strings"
	"testing"
)

func TestStateNames(t *testing.T) {
	seen := map[string]bool{}
	for s := None; s <= Dropped; s++ {
		name := s.String()
		back, ok := ParseState(name)
		if !ok || back != s || seen[name] {
			t.Errorf("%q reads as %v, %v", name, back, ok)
		}
		seen[name] = true
	}
	if got := State(99).String(); got != "state(99)" {
		t.Errorf("got %q", got)
	}
	if s, ok := ParseState("gone"); ok || s != None {
		t.Errorf("got %v, %v", s, ok)
	}
}

func TestStateKinds(t *testing.T) {
	open := map[State]bool{Ready: true, Running: true, Uncertain: true, Held: true}
	final := map[State]bool{Confirmed: true, Dropped: true}
	for s := None; s <= Dropped+1; s++ {
		if s.Open() != open[s] || s.Final() != final[s] {
			t.Errorf("%s: open %v, final %v", s, s.Open(), s.Final())
		}
	}
}

func TestEventNames(t *testing.T) {
	seen := map[string]bool{}
	for k := Same; int(k) <= EventKinds; k++ {
		name := k.String()
		if name == "" || strings.Contains(name, "(") || seen[name] {
			t.Errorf("event %d is named %q", k, name)
		}
		seen[name] = true
	}
	if len(eventNames) != EventKinds+1 {
		t.Errorf("%d names for %d kinds", len(eventNames)-1, EventKinds)
	}
	for k, want := range map[EventKind]string{0: "event(0)", EventKind(EventKinds + 1): "event(20)"} {
		if got := k.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestVerdictNames(t *testing.T) {
	seen := map[string]bool{}
	for k := First; k <= HoldNew; k++ {
		if name := k.String(); name == "" || name == "unknown" || seen[name] {
			t.Errorf("verdict %d is named %q", k, name)
		} else {
			seen[name] = true
		}
	}
	if got := (HoldNew + 1).String(); got != "unknown" {
		t.Errorf("got %q", got)
	}
}

func TestStrengthNames(t *testing.T) {
	for s, want := range map[Strength][2]string{
		StrengthNone: {"none", "low"}, StrengthFallback: {"fallback", "low"},
		StrengthMedium: {"medium", "medium"}, StrengthStrong: {"strong", "high"},
	} {
		if s.String() != want[0] || s.Confidence() != want[1] {
			t.Errorf("got %s, %s, want %v", s, s.Confidence(), want)
		}
	}
}

func TestIDs(t *testing.T) {
	id := named("x")
	back, err := ParseID(id.String())
	if err != nil || back != id || id.IsZero() || len(id.String()) != 32 || id.Short() != id.String()[:8] {
		t.Errorf("got %v, %v", back, err)
	}
	if !(ID{}).IsZero() {
		t.Error("the zero ID is set")
	}
	if d := Digest(id); d.Short() != id.Short() {
		t.Errorf("got %s", d.Short())
	}
	for _, bad := range []string{"", "00", id.String() + "0", strings.Repeat("g", 32)} {
		if got, err := ParseID(bad); err == nil || !got.IsZero() {
			t.Errorf("%q was read as %v", bad, got)
		}
	}
}

func TestDeadLetter(t *testing.T) {
	for name, c := range map[string]struct {
		record Record
		want   bool
	}{
		"exhausted": {in(Ready, owed), true},
		"due later": {in(Ready, owed, notDue), false},
		"not owed":  {in(Ready), false},
		"uncertain": {in(Uncertain), false},
		"held":      {in(Held), false},
	} {
		if got := c.record.DeadLetter(); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestExpired: age forgets only what is settled or never promised.
func TestExpired(t *testing.T) {
	for s := None; s <= Dropped; s++ {
		r := in(s)
		r.ExpiresAt = now
		want := s.Final() || s == Ready
		if r.Expired(now-1) || r.Expired(now) != want {
			t.Errorf("%s: %v", s, r.Expired(now))
		}
		r.Owed = true
		if want = s.Final(); r.Expired(now) != want {
			t.Errorf("%s owed: %v", s, r.Expired(now))
		}
		r.ExpiresAt = 0
		if r.Expired(now + 1000*window) {
			t.Errorf("%s without a time expired", s)
		}
	}
}

// TestClockBackwards: a clock that jumps back shortens no window.
func TestClockBackwards(t *testing.T) {
	r := in(Confirmed)
	r, _, err := Step(r, ev(Same, func(e *Event) { e.At = 1 }))
	if err != nil || r.ExpiresAt != fresh || r.LastSeen != start {
		t.Errorf("got %+v, %v", r, err)
	}
}
