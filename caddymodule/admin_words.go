// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"strings"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// The actions of an operator.
const (
	actConfirm = "confirm"
	actRetry   = "retry"
	actRelease = "release"
	actDrop    = "drop"
	actForget  = "forget"
)

// operatorActions are all of them, in the order in which they are shown.
var operatorActions = []string{actConfirm, actRetry, actRelease, actDrop, actForget}

// possibleActions are those that delivery.Step takes in this state. A settled
// delivery is not in the list of "retry": its request is not kept.
func possibleActions(r *delivery.Record) []string {
	switch r.State {
	case delivery.Ready:
		if r.Owed { // nothing that is owed is ever forgotten
			return []string{actRetry, actDrop}
		}
		return []string{actRetry, actDrop, actForget}
	case delivery.Uncertain:
		return []string{actConfirm, actRetry, actDrop}
	case delivery.Held:
		return []string{actRelease, actDrop}
	case delivery.Confirmed, delivery.Dropped:
		return []string{actForget}
	default:
		return []string{}
	}
}

// actionOf is the action behind an entry of the audit trail.
func actionOf(e *store.AuditEntry) string {
	switch {
	case e.Action == delivery.OperatorSend.String() && e.From == delivery.Held.String():
		return actRelease
	case e.Action == delivery.OperatorSend.String():
		return actRetry
	default:
		return strings.TrimPrefix(e.Action, "operator_")
	}
}

// reasonWords say in a sentence what a reason means.
var reasonWords = map[delivery.Reason]string{
	delivery.ReasonAccepted:     "taken in, not sent yet",
	delivery.ReasonBackpressure: "the app had no free slot",
	delivery.ReasonNotDelivered: "the app could not be reached, so it surely got nothing",
	delivery.ReasonUpstreamBusy: "the app asked for a later attempt (429 or 503)",
	delivery.ReasonUpstreamFail: "the app answered that it failed and wants another attempt",
	delivery.ReasonRefused:      "the app refused it",
	delivery.ReasonNoHandler:    "no handler behind this one took the request",
	delivery.ReasonPanic:        "a handler of this server broke before anything was sent",
	delivery.ReasonExhausted:    "all attempts are used up",
	delivery.ReasonReleased:     "released by a person, not sent yet",
	delivery.ReasonRetry:        "to be sent again by a person's decision",
	delivery.ReasonAbsent:       "the app says that it has not done it",

	delivery.ReasonOwnerLost:     "this server stopped or crashed during the attempt",
	delivery.ReasonTimeout:       "all was sent, and no answer came in time",
	delivery.ReasonNoAnswer:      "the connection ended before the app answered",
	delivery.ReasonTruncated:     "the app said success, but its answer was cut off",
	delivery.ReasonWriteFailed:   "the connection broke while the request was being sent",
	delivery.ReasonGatewayUnsure: "a gateway before the app gave up waiting; the app may still have done it",
	delivery.ReasonServerError:   "the app failed with a 5xx, which on this route proves nothing",
	delivery.ReasonOtherSuccess:  "the app answered with a 2xx that this route does not count as success",
	delivery.ReasonUpgrade:       "the app tried to change the protocol",
	delivery.ReasonShutdown:      "this server was shut down during the attempt",
	delivery.ReasonNoEvidence:    "there is no evidence of what became of the attempt",

	delivery.ReasonContentMismatch: "a known signed ID came with other content",
	delivery.ReasonSameBody:        "a known body came under a new ID that the signature does not cover",
	delivery.ReasonNoSafeKey:       "it has no ID, and nothing safe to take its place",
	delivery.ReasonAmbiguousID:     "its ID can be read in more than one way",
	delivery.ReasonAliasConflict:   "its IDs belong to two different deliveries",
	delivery.ReasonCorrupt:         "its record could not be read",

	delivery.ReasonDone:        "the app did it",
	delivery.ReasonReadBack:    "the app says that it has done it",
	delivery.ReasonOperator:    "decided by a person",
	delivery.ReasonDuplicateOf: "a duplicate of another delivery",
	delivery.ReasonAdvisor:     "decided by the advisory model",
}

// explain says where a delivery stands, and why.
func explain(r *delivery.Record) string {
	why := reasonWords[r.Reason]
	switch r.State {
	case delivery.Running:
		return "an attempt is running"
	case delivery.Uncertain:
		return "it was sent, and nobody knows whether the app did it: " + why
	case delivery.Held:
		return "it was never sent, and waits for your decision: " + why
	case delivery.Ready:
		switch {
		case r.DeadLetter():
			return "it is not done, and nothing sends it by itself: " + why
		case r.Owed:
			return "it is not done, and this server owes it: " + why
		}
		return "it is not done, and the provider's next attempt is forwarded: " + why
	case delivery.Confirmed:
		return "it is done: " + why
	case delivery.Dropped:
		return "it is not to be sent: " + why
	default:
		return "it is not known"
	}
}

// impossibleWords say why an action cannot be taken, and what can be.
func impossibleWords(action string, r *delivery.Record) string {
	switch {
	case r.State == delivery.Running:
		return "an attempt is running; wait until it ends"
	case action == actRetry && r.State.Final():
		return "its request is not kept any more: to have it processed again, forget it, and then use the provider's redelivery"
	case action == actRetry && r.State == delivery.Held:
		return "it was never sent: use release"
	case action == actConfirm && r.State == delivery.Held:
		return "it was never sent, so nothing can be confirmed: use drop when it is a duplicate"
	case action == actConfirm && r.State == delivery.Ready:
		return "it is known not to be done: use drop when it must not be sent"
	case action == actForget && r.State == delivery.Ready:
		return "the provider was told that it is taken care of: drop it first"
	case action == actForget:
		return "it waits for a decision: decide that first"
	case action == actRelease:
		return "only a held delivery can be released"
	default:
		return "that is impossible in this state"
	}
}
