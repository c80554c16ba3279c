// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"fmt"
)

// Keys is the identity of one delivery.
type Keys struct {
	// Aliases holds those with Identity set, strongest first (action, event,
	// delivery, fallback), then the evidence (nonce, body, unsigned delivery
	// ID). Whenever a body alias is present, a body already seen under another
	// identity must not be processed as new without asking.
	//
	// What depends on the content comes twice, under the current rules and under
	// Config.OldFingerprint, when the two differ. Both are to be remembered.
	//
	// It is empty when nothing can be hashed. With an ambiguous ID it holds the
	// content alone, so that repeats of the held delivery are recognised.
	Aliases []Alias
	// Digest is the SHA-256 of the raw body, also of an empty one.
	Digest   [sha256.Size]byte
	Strength Strength
	// DeliveryID and EventID are for display: cut at 128 bytes, unprintable
	// characters escaped, parts joined by a plus sign. Empty when missing.
	DeliveryID string
	EventID    string
	// Action is what the app shall do, shown like the IDs. Empty when missing.
	Action string

	// Fingerprint is the digest of what the body means under the rules of the
	// route. It is set when FingerprintOK is; else FingerprintNote says why not.
	// Equal fingerprints mean equal content, whatever its spelling.
	Fingerprint     [sha256.Size]byte
	FingerprintOK   bool
	FingerprintNote Note
	// OldFingerprint is that under Config.OldFingerprint, so that a delivery can
	// be compared with one from before the change. It has no note of its own.
	OldFingerprint   [sha256.Size]byte
	OldFingerprintOK bool
	// ActionDigest is over the values of Config.ActionCompare. Two deliveries of
	// one action with different digests do not agree about what is to be done.
	// It is zero when there is no action or nothing to compare.
	ActionDigest [sha256.Size]byte

	// Problem is zero, or why the delivery must wait for a person.
	Problem Problem
}

// Identity returns the aliases that mean the same effect, strongest first.
func (k *Keys) Identity() []Alias { return k.Aliases[:k.split()] }

// Evidence returns the other aliases.
func (k *Keys) Evidence() []Alias { return k.Aliases[k.split():] }

func (k *Keys) split() int {
	for i := range k.Aliases {
		if !k.Aliases[i].Identity {
			return i
		}
	}
	return len(k.Aliases)
}

// Strength says how good the strongest identity is.
type Strength uint8

const (
	// Fallback means that there is no ID, only content.
	Fallback Strength = iota
	// Medium means an unsigned ID, bound to the body.
	Medium
	// Strong means a signed ID.
	Strong
)

// String returns "fallback", "medium" or "strong".
func (s Strength) String() string { return [...]string{"fallback", "medium", "strong"}[s] }

// Confidence returns "low", "medium" or "high", as decision records show it.
func (s Strength) Confidence() string { return [...]string{"low", "medium", "high"}[s] }

// Interface guard.
var _ fmt.Stringer = Strength(0)
