// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import "slices"

// The reference is the semantics as its tables say it, in words and without any
// of the package's code. It knows effects by name.
type reference struct {
	effects map[ID]*effect
	bodies  map[ID]seenBody
}

type effect struct {
	state          string
	epoch          uint32
	owner          uint64
	owed, repeat   bool
	absent, strong bool
	next, changed  int64
	expires        int64
	body           Digest
	keys           []ID
}

func (e *effect) rest(state string, t int64) {
	final := state == "confirmed" || state == "dropped"
	e.state, e.changed, e.next, e.expires, e.absent = state, t, 0, 0, false
	if final {
		e.owed = false
	}
	if final || state == "ready" && !e.owed {
		e.expires = t + window
	}
}

func (e *effect) expired(t int64) bool { return e.expires != 0 && t >= e.expires }

func (e *effect) claim(t int64, boot uint64) {
	e.state, e.owner, e.changed, e.next, e.expires = "running", boot, t, 0, 0
	e.epoch++
}

// on is the transition table; false: the cell is empty.
func (e *effect) on(v Event) bool {
	t := v.At
	outcome := v.Kind >= Done && v.Kind <= Unknown
	if outcome && v.Epoch < e.epoch {
		return true // T33
	}
	if outcome && v.Epoch > e.epoch {
		return false
	}
	switch e.state + " " + v.Kind.String() {
	case "ready claim": // T6
		if t < e.next {
			return false
		}
		e.claim(t, v.Boot)
	case "running done", "uncertain done", "uncertain readback_done", "uncertain operator_confirm": // T11, T21, T18, T22
		e.rest("confirmed", t)
	case "ready done": // T21 for an attempt that was given up without its own outcome
		if !e.repeat && !e.absent {
			return false
		}
		e.rest("confirmed", t)
	case "running not_done_retry", "uncertain not_done_retry": // T12, T21
		e.rest("ready", t)
		e.next = v.RetryAt
	case "running not_done_final", "uncertain not_done_final": // T13, T21
		e.rest("ready", t)
	case "running unknown": // T14, T23
		if v.RetryUncertain {
			e.rest("ready", t)
			e.repeat, e.next = true, v.RetryAt
			return true
		}
		e.rest("uncertain", t)
		e.owed = true
	case "running owner_gone": // T15
		e.rest("uncertain", t)
		e.owed = true
	case "running timer": // T17
		if v.Exhausted {
			return false
		}
		e.owed = true
	case "ready timer": // T8
		if !v.Exhausted {
			return false
		}
		e.rest("ready", t)
	case "uncertain readback_not_done": // T19
		if !v.AbsenceProof {
			e.next = v.RetryAt
			return true
		}
		e.rest("ready", t)
		e.next, e.absent = t, true
	case "uncertain readback_no_verdict": // T20
		e.next = v.RetryAt
	case "uncertain operator_send": // T22
		e.rest("ready", t)
		e.repeat, e.next = true, t
	case "held operator_send": // T25
		e.rest("ready", t)
		e.next = t
	case "ready operator_send":
		e.next, e.changed = t, t
	case "confirmed operator_send", "dropped operator_send": // T32: a copy, this one stays
	case "ready operator_drop", "uncertain operator_drop", "held operator_drop": // T9, T22, T26
		e.rest("dropped", t)
	case "held advisor": // T27
		if v.Process {
			e.rest("ready", t)
			e.next = t
			return true
		}
		e.rest("dropped", t)
	case "confirmed window_over", "dropped window_over", "ready window_over": // T10, T31
		return e.expired(t)
	case "confirmed operator_forget", "dropped operator_forget":
	case "ready operator_forget":
		return !e.owed
	default:
		return false
	}
	return true
}

// live returns the name and the effect behind a key.
func (w *reference) live(key ID, t int64) (ID, *effect) {
	for name, e := range w.effects {
		if (name == key || slices.Contains(e.keys, key)) && !e.expired(t) {
			return name, e
		}
	}
	return ID{}, nil
}

// arrive is the identity table. It returns the answer, and for an ambiguous
// delivery the effect that it must not touch.
func (w *reference) arrive(a Arrival, derived ID) (string, ID) {
	hits := map[ID]*effect{}
	for _, k := range a.Identity {
		if name, e := w.live(k.ID, a.At); e != nil {
			hits[name] = e
		}
	}
	if len(hits) > 1 {
		return w.held(a, derived)
	}
	for name, e := range hits {
		anew := e.state == "ready" && !e.owed && !e.repeat && !a.Policy.Accept
		if a.Identity[0].Signed && e.strong && e.body != a.Body && !anew {
			if a.Policy.Mismatch != RuleForward {
				return w.held(a, derived)
			}
			if _, there := w.live(derived, a.At); there != nil {
				return w.repeat(there, a), derived
			}
			return w.create(a, derived), derived
		}
		w.join(e, name, a)
		return w.repeat(e, a), name
	}
	seen, ok := w.bodies[a.BodyKey]
	if ok && a.At < seen.until {
		name, e := w.live(seen.effect, a.At)
		failed := e != nil && e.state == "ready" && !e.owed
		switch {
		case failed, a.Policy.SameBody == RuleSkip && e != nil:
			w.join(e, name, a)
			return w.repeat(e, a), name
		case a.Policy.SameBody != RuleForward:
			return w.held(a, derived)
		}
	} else if !a.BodyKey.IsZero() {
		w.bodies[a.BodyKey] = seenBody{a.Identity[0].ID, a.At + a.Policy.BodyWindow}
	}
	name := a.Identity[0].ID
	answer := w.create(a, name)
	w.join(w.effects[name], name, a)
	return answer, name
}

func (w *reference) join(e *effect, name ID, a Arrival) {
	for _, k := range a.Identity {
		if _, known := w.live(k.ID, a.At); known == nil && k.ID != name {
			e.keys = append(e.keys, k.ID)
		}
	}
}

func (w *reference) create(a Arrival, name ID) string {
	e := &effect{state: "ready", body: a.Body, strong: a.Strength == StrengthStrong, changed: a.At}
	w.effects[name] = e
	if a.Policy.Accept { // T2
		e.owed, e.next = true, a.At
		return "accepted"
	}
	e.claim(a.At, a.Boot) // T1
	return "first"
}

// held is T4 and T30: one item for one reason and content.
func (w *reference) held(a Arrival, derived ID) (string, ID) {
	if _, there := w.live(derived, a.At); there != nil {
		return w.repeat(there, a), derived
	}
	w.effects[derived] = &effect{
		state: "held", owed: true, body: a.Body, strong: a.Strength == StrengthStrong, changed: a.At,
	}
	return "hold_new", derived
}

// repeat is the answer table.
func (w *reference) repeat(e *effect, a Arrival) string {
	if e.state == "running" && e.owner != a.Boot { // T15
		e.rest("uncertain", a.At)
		e.owed = true
	}
	if e.state == "uncertain" && a.Policy.RetryUncertain && !a.Policy.Accept { // T23
		e.rest("ready", a.At)
		e.repeat = true
	}
	if e.expires != 0 {
		e.expires = max(e.expires, min(a.At+window, e.changed+4*window))
	}
	switch e.state {
	case "confirmed", "dropped": // T29
		return "duplicate"
	case "uncertain", "held": // T24, T28
		e.owed = true
		return "parked"
	case "running": // T16
		e.owed = e.owed || a.Policy.Accept
		if e.owed {
			return "owed"
		}
		return "join"
	}
	switch {
	case e.owed && (a.Policy.Accept || a.At < e.next): // T7
		return "owed"
	case a.Policy.Accept:
		next := max(e.next, a.At)
		e.owed = true
		e.rest("ready", a.At)
		e.next = next
		return "owed"
	case a.At < e.next:
		return "not_yet"
	}
	e.claim(a.At, a.Boot) // T6
	e.body = a.Body
	return "take_over"
}
