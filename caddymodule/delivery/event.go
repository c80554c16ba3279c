// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import "fmt"

// EventKind is what happened to an effect.
type EventKind uint8

// The events. Arrivals at an effect that does not exist yet are not events:
// [Decide] makes the first record.
const (
	Same              EventKind = iota + 1 // a delivery with the same identity and content
	OtherContent                           // the same signed identity, other content
	Claim                                  // somebody wants to send it now
	Done                                   // outcome of attempt Epoch
	NotDoneRetry                           // outcome of attempt Epoch
	NotDoneFinal                           // outcome of attempt Epoch
	Unknown                                // outcome of attempt Epoch
	OlderOutcome                           // outcome of an attempt before the current one
	OwnerGone                              // the process that ran the attempt is gone
	ReadBackDone                           // the app says it did it
	ReadBackNotDone                        // the app says it did not
	ReadBackNoVerdict                      // the app could not say
	OperatorConfirm                        // a person says it was done
	OperatorSend                           // a person says: send (again)
	OperatorDrop                           // a person says: never send, or it is a duplicate of Peer
	Advisor                                // verdict of the advisory model, already checked by rules
	Timer                                  // answer_by of a running attempt, or tries used up
	WindowOver                             // the record may be forgotten
	OperatorForget                         // a person says: forget this key now
)

var eventNames = [...]string{
	"", "same", "other_content", "claim", "done", "not_done_retry", "not_done_final", "unknown",
	"older_outcome", "owner_gone", "readback_done", "readback_not_done", "readback_no_verdict",
	"operator_confirm", "operator_send", "operator_drop", "advisor", "timer", "window_over", "operator_forget",
}

// EventKinds is how many kinds there are; the kinds run from 1 to EventKinds.
const EventKinds = int(OperatorForget)

// String returns the snake_case name of the kind.
func (k EventKind) String() string {
	if k >= 1 && int(k) < len(eventNames) {
		return eventNames[k]
	}
	return fmt.Sprintf("event(%d)", uint8(k))
}

// Operator reports whether a person causes this event, so that it needs an
// actor and a reason and leaves an audit entry.
func (k EventKind) Operator() bool {
	return k == OperatorConfirm || k == OperatorSend || k == OperatorDrop || k == OperatorForget
}

// Event is one thing that happened, with the facts that Step needs.
type Event struct {
	Kind  EventKind
	At    int64  // Unix milliseconds
	Epoch uint32 // of the attempt that ended (outcomes) or whose owner is gone
	Boot  uint64 // Claim: who sends

	// Facts of an outcome.
	Reason      Reason
	Status      int   // upstream status, 0 when there was none
	RetryAt     int64 // not before, from Retry-After or a backoff; 0: any time
	ExternalRef string

	// Facts of an operator's action.
	Actor string
	Why   string
	Peer  ID // OperatorDrop: duplicate of this effect

	// Policy of the route where it matters.
	RetryUncertain bool // on_uncertain retry
	AbsenceProof   bool // read-back: absence is proof and the settle time is over
	Process        bool // Advisor: true is process, false is skip
	Exhausted      bool // Timer: the tries are used up
}

// Actions tell the caller what a step asks of it besides storing the record.
type Actions uint16

// The actions, a bit each.
const (
	Save           Actions = 1 << iota // store the record, synced, before anything else
	SaveLazy                           // store the record, may ride on a later commit
	Remove                             // forget the record
	Send                               // the claim holds: the attempt may start
	Free                               // the request bytes are not needed any more
	Hold                               // make a new HELD effect for this delivery
	Copy                               // make a new effect with the same content (T32)
	PossibleDouble                     // an older attempt reported: alarm, change nothing
	Alarm                              // a person should look
	Wake                               // there may be something due
)

// Has reports whether all bits of b are set.
func (a Actions) Has(b Actions) bool { return a&b == b }
