// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"errors"
	"fmt"
)

// ErrImpossible is wrapped by the error of Step for an event that cannot happen
// in the record's state. The caller counts and logs it; it has no effect.
var ErrImpossible = errors.New("event is impossible in this state")

// ErrNoReason is the error of an operator's event without an actor or a reason.
var ErrNoReason = errors.New("an operator's action needs an actor and a reason")

// ErrNotYet is the error of a claim before the time that the upstream asked for.
var ErrNotYet = errors.New("not to be sent before its time")

// Step applies one event to a record. It returns the record after the event,
// what the caller must do, and an error when the event has no effect; then the
// returned record equals the given one.
//
// Guards that compare epochs live here: an outcome counts only for the attempt
// it belongs to (invariants I5 and I6).
func Step(r Record, e Event) (Record, Actions, error) {
	if e.Kind.Operator() && (e.Actor == "" || e.Why == "") {
		return r, 0, ErrNoReason
	}
	switch e.Kind {
	case Same:
		return same(r, e)
	case OtherContent: // T30, in any state: never skip, never forward
		if r.State == None {
			return impossible(r, e)
		}
		return r, Hold, nil
	case Claim:
		return claim(r, e)
	case Done, NotDoneRetry, NotDoneFinal, Unknown:
		return outcome(r, e)
	case OlderOutcome: // T33
		if r.State == None || e.Epoch >= r.Epoch {
			return impossible(r, e)
		}
		return r, PossibleDouble, nil
	case OwnerGone:
		return ownerGone(r, e)
	case ReadBackDone, ReadBackNotDone, ReadBackNoVerdict:
		return readBack(r, e)
	case OperatorConfirm, OperatorSend, OperatorDrop:
		return operator(r, e)
	case Advisor:
		return advisor(r, e)
	case Timer:
		return timer(r, e)
	case WindowOver, OperatorForget:
		return forget(r, e)
	default:
		return impossible(r, e)
	}
}

func impossible(r Record, e Event) (Record, Actions, error) {
	return r, 0, fmt.Errorf("%s at %s: %w", e.Kind, r.State, ErrImpossible)
}

// same counts a repeat: T7, T16, T24, T28, T29. What the repeat is answered is
// decided by [Decide].
func same(r Record, e Event) (Record, Actions, error) {
	if r.State == None {
		return impossible(r, e)
	}
	r.touch(e.At)
	if r.State == Running {
		return r, 0, nil // T16: the count travels with the outcome
	}
	return r, SaveLazy, nil
}

// claim is T6, and T1 for a record that Decide has just made.
func claim(r Record, e Event) (Record, Actions, error) {
	if r.State != Ready {
		return impossible(r, e)
	}
	if r.NextAt > e.At {
		return r, 0, ErrNotYet
	}
	r.State, r.Reason, r.Changed = Running, "", e.At
	r.Epoch++
	r.Attempts++
	r.Owner = e.Boot
	r.SentAt = e.At
	r.NextAt, r.ExpiresAt = 0, 0
	return r, Save | Send, nil
}

// outcome is T11 to T14, T21 for an outcome that comes late, and T33.
func outcome(r Record, e Event) (Record, Actions, error) {
	if r.State != None && e.Epoch < r.Epoch {
		return r, PossibleDouble, nil
	}
	late := lateNews(&r, e.Kind)
	if e.Epoch != r.Epoch || r.State != Running && !late {
		return impossible(r, e)
	}
	if e.Status != 0 {
		r.UpstreamStatus = e.Status
	}
	if e.ExternalRef != "" {
		r.ExternalRef = e.ExternalRef
	}
	switch e.Kind {
	case Done: // T11, T21
		r.settle(Confirmed, ReasonDone, e.At)
		if late {
			return r, Save | Free, nil
		}
		return r, SaveLazy | Free, nil
	case NotDoneRetry: // T12, T21
		r.settle(Ready, e.Reason, e.At)
		r.NextAt = e.RetryAt
		return r, Save | Wake, nil
	case NotDoneFinal: // T13, T21
		r.settle(Ready, e.Reason, e.At)
		return r, Save, nil
	default:
		return unknown(r, e)
	}
}

// lateNews reports whether an outcome of the current epoch still says something
// new about a record that does not wait for it any more. An attempt that was
// given up as READY, by a person, a policy or a read-back, may turn out to be
// done: then it must not be sent again.
func lateNews(r *Record, k EventKind) bool {
	switch r.State {
	case Uncertain:
		return k != Unknown
	case Ready:
		return k == Done && (r.MayRepeat || r.Reason == ReasonAbsent)
	default:
		return false
	}
}

// unknown is T14, and T23 when the route declares its upstream idempotent.
func unknown(r Record, e Event) (Record, Actions, error) {
	if e.RetryUncertain {
		r.MayRepeat = true
		r.settle(Ready, e.Reason, e.At)
		r.NextAt = e.RetryAt
		return r, Save | Wake, nil
	}
	r.Owed = true
	r.settle(Uncertain, e.Reason, e.At)
	return r, Save | Alarm, nil
}

// ownerGone is T15: the end of a process is no evidence about its attempts. Nor
// is it known what the process had told the provider: it may have parked the
// delivery without getting that into the store (I10). So we owe it.
func ownerGone(r Record, e Event) (Record, Actions, error) {
	if r.State != Running {
		return impossible(r, e)
	}
	r.Owed = true
	r.settle(Uncertain, ReasonOwnerLost, e.At)
	return r, Save | Alarm, nil
}

// readBack is T18 to T20.
func readBack(r Record, e Event) (Record, Actions, error) {
	if r.State != Uncertain {
		return impossible(r, e)
	}
	switch {
	case e.Kind == ReadBackDone: // T18
		if e.ExternalRef != "" {
			r.ExternalRef = e.ExternalRef
		}
		r.settle(Confirmed, ReasonReadBack, e.At)
		return r, Save | Free, nil
	case e.Kind == ReadBackNotDone && e.AbsenceProof: // T19
		r.settle(Ready, ReasonAbsent, e.At)
		r.NextAt = e.At
		return r, Save | Wake, nil
	default: // T20
		r.NextAt = e.RetryAt
		return r, SaveLazy, nil
	}
}

// operator is T9, T22, T25, T26 and T32.
func operator(r Record, e Event) (Record, Actions, error) {
	switch {
	case e.Kind == OperatorConfirm && r.State == Uncertain: // T22
		r.settle(Confirmed, ReasonOperator, e.At)
		return r, Save | Free, nil
	case e.Kind == OperatorSend && r.State == Uncertain: // T22
		r.MayRepeat = true
		r.settle(Ready, ReasonRetry, e.At)
		r.NextAt = e.At
		return r, Save | Wake, nil
	case e.Kind == OperatorSend && r.State == Held: // T25
		r.settle(Ready, ReasonReleased, e.At)
		r.NextAt = e.At
		return r, Save | Wake, nil
	case e.Kind == OperatorSend && r.State == Ready: // T6 by the operator's hand
		r.Changed, r.NextAt = e.At, e.At
		return r, Save | Wake, nil
	case e.Kind == OperatorSend && r.State.Final(): // T32
		return r, Copy | Wake, nil
	case e.Kind == OperatorDrop && (r.State == Ready || r.State == Uncertain || r.State == Held): // T9, T22, T26
		why := ReasonOperator
		if !e.Peer.IsZero() {
			why, r.Peer = ReasonDuplicateOf, e.Peer
		}
		r.settle(Dropped, why, e.At)
		return r, Save | Free, nil
	default:
		return impossible(r, e)
	}
}

// advisor is T27. The caller has checked that a skip has a real match and that
// a process has no conflict; the model only chooses between safe ways.
func advisor(r Record, e Event) (Record, Actions, error) {
	if r.State != Held {
		return impossible(r, e)
	}
	if e.Process {
		r.settle(Ready, ReasonAdvisor, e.At)
		r.NextAt = e.At
		return r, Save | Wake, nil
	}
	r.Peer = e.Peer
	r.settle(Dropped, ReasonAdvisor, e.At)
	return r, Save | Free, nil
}

// timer is T17 and T8.
func timer(r Record, e Event) (Record, Actions, error) {
	switch {
	case r.State == Running && !e.Exhausted && r.Kept: // T17
		r.Owed = true
		return r, Save, nil
	case r.State == Ready && e.Exhausted: // T8
		r.settle(Ready, ReasonExhausted, e.At)
		return r, Save | Alarm, nil
	default:
		return impossible(r, e)
	}
}

// forget is T10, T31 and the operator's "forget this key". Nothing that is owed
// is ever forgotten: the operator drops or confirms it first, on the record.
func forget(r Record, e Event) (Record, Actions, error) {
	if r.State.Final() || r.State == Ready && !r.Owed {
		if e.Kind == OperatorForget || r.Expired(e.At) {
			return r, Remove | Free, nil
		}
	}
	return impossible(r, e)
}
