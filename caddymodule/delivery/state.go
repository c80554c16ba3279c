// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import "fmt"

// State is where an effect stands. The zero value None means that the store
// has no live record.
type State uint8

// The six states of an effect.
const (
	None      State = iota
	Ready           // not done, may be sent: by the provider's retry, by us, or by an operator
	Running         // an attempt is on its way
	Confirmed       // the upstream said that it is done
	Uncertain       // sent, and nobody knows whether it was done
	Held            // never sent: a person must decide
	Dropped         // decided not to send
)

var stateNames = [...]string{"none", "ready", "running", "confirmed", "uncertain", "held", "dropped"}

// String returns the lower-case name of the state.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// ParseState is the inverse of String; it reports false for an unknown name.
func ParseState(name string) (State, bool) {
	for i, n := range stateNames {
		if n == name {
			return State(i), true
		}
	}
	return None, false
}

// Open reports whether the effect still needs something: it is neither done
// nor dropped. The bytes of an open effect are kept.
func (s State) Open() bool {
	return s == Ready || s == Running || s == Uncertain || s == Held
}

// Final reports whether the state changes no more before its window is over.
func (s State) Final() bool { return s == Confirmed || s == Dropped }

// Reason says in one word why an effect is in its state. Reasons are constants,
// so they are safe as metric labels.
type Reason string

// Reasons of READY.
const (
	ReasonAccepted     Reason = "accepted"     // taken in, not sent yet
	ReasonBackpressure Reason = "backpressure" // no slot to the upstream
	ReasonNotDelivered Reason = "not_delivered"
	ReasonUpstreamBusy Reason = "upstream_busy" // 429 or 503
	ReasonUpstreamFail Reason = "upstream_fail" // another status that asks for a retry
	ReasonRefused      Reason = "refused"       // the upstream said no
	ReasonNoHandler    Reason = "no_handler"    // nobody behind us took the request
	ReasonPanic        Reason = "panic"
	ReasonExhausted    Reason = "exhausted"
	ReasonReleased     Reason = "released"
	ReasonRetry        Reason = "retry"
	ReasonAbsent       Reason = "absent" // read-back proved that it was not done
)

// Reasons of UNCERTAIN.
const (
	ReasonOwnerLost     Reason = "owner_lost"      // the process that sent it is gone
	ReasonTimeout       Reason = "timeout"         // all sent, no answer in time
	ReasonNoAnswer      Reason = "no_answer"       // connection ended without a complete head
	ReasonTruncated     Reason = "truncated"       // success head, body cut
	ReasonWriteFailed   Reason = "write_failed"    // request broke while it was sent
	ReasonGatewayUnsure Reason = "gateway_timeout" // 504 or 524 written by the upstream
	ReasonServerError   Reason = "server_error"    // 5xx under the strict contract
	ReasonOtherSuccess  Reason = "other_success"   // a 2xx that the route does not count as success
	ReasonUpgrade       Reason = "upgrade"
	ReasonShutdown      Reason = "shutdown"
	ReasonNoEvidence    Reason = "no_evidence"
)

// Reasons of HELD.
const (
	ReasonContentMismatch Reason = "content_mismatch" // same signed identity, other content
	ReasonSameBody        Reason = "same_body_new_id" // unsigned new ID over a body already seen
	ReasonNoSafeKey       Reason = "no_safe_key"
	ReasonAmbiguousID     Reason = "ambiguous_id"
	ReasonAliasConflict   Reason = "alias_conflict" // the keys of one delivery point to two effects
	ReasonCorrupt         Reason = "corrupt"
)

// Reasons of CONFIRMED and DROPPED.
const (
	ReasonDone        Reason = "done"
	ReasonReadBack    Reason = "readback"
	ReasonOperator    Reason = "operator"
	ReasonDuplicateOf Reason = "duplicate_of"
	ReasonAdvisor     Reason = "advisor"
)
