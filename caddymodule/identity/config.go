// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import "net/http"

// PepperLen is the length in bytes of the secret that keys all aliases.
const PepperLen = 32

// Config describes how one route identifies its deliveries.
type Config struct {
	// Pepper is the secret of the installation, PepperLen bytes, the same on all
	// nodes of a fleet. Changing it forgets every delivery.
	Pepper []byte
	// Namespace names the route. Routes of one name share their keys.
	Namespace string
	// Provider names the sending system, such as github.
	Provider string
	// Endpoint narrows all keys but those of events and actions. May be empty.
	Endpoint string

	// Alternatives for each ID: the first one present counts, those that the
	// signature covers before the others. All may be empty.
	DeliveryID []Candidate
	EventID    []Candidate
	// Action identifies what the app shall do. All candidates must be signed.
	Action []Candidate
	// ActionVersion is part of the action: the same action in a new version is
	// done again. It is any text or number, also 0; numbers count by value. It
	// must be signed. Without it in a delivery, the action is missing as well.
	ActionVersion *Candidate
	// ActionCompare are the values that all deliveries of one action must agree
	// on, such as an amount. They are part of Keys.ActionDigest, not of a key.
	ActionCompare []Source
	// Nonce is a value that is signed once only. All candidates must be signed.
	Nonce []Candidate

	// Fingerprint are the rules by which bodies are compared. Nil: raw bytes.
	Fingerprint *FingerprintRules
	// OldFingerprint are the rules before the last change, to be given for the
	// longest window after it: every delivery gets its keys under both, so that
	// a retry across the change is recognised. Nil: no change. To say that bytes
	// were compared before, give rules that are Off.
	OldFingerprint *FingerprintRules
	// HashForbidden tells that equal content does not mean the same event, or
	// that attempts differ in ways that no rules describe: a delivery without an
	// ID has no identity then.
	HashForbidden bool
	// SameBodyCheck also remembers the body of deliveries with a signed ID, for
	// senders that make a new ID for each retry.
	SameBodyCheck bool
	// Windows are how long keys are remembered. A zero one takes its default.
	Windows Windows
}

// Request is what identity needs of a verified request. It is only read.
type Request struct {
	Header   http.Header
	RawQuery string
	Body     []byte
	// SignedID is the delivery ID that the verifier took from the place its
	// scheme signs; empty if there is none. It comes before Config.DeliveryID.
	// Where one route accepts several schemes, only the verifier knows which ID
	// header the signature of this very request covers.
	SignedID string
	// Sender is the tenant, part of every key. May be empty. It must follow from
	// the secret that verified, or from what the signature covers: a value that
	// a replayed capture can change makes all of its keys new.
	Sender string
	// Test tells that the delivery belongs to the test mode of the provider,
	// which keeps its IDs apart from those of the live mode. The rule for Sender
	// holds for it too.
	Test bool
}
