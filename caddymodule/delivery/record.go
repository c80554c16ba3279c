// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"encoding/hex"
	"errors"
)

// ID names an effect or a key that points to one: 16 bytes of a peppered hash.
type ID [16]byte

// String returns all 32 hex digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Short returns the first 8 hex digits, the only form shown in logs.
func (id ID) Short() string { return hex.EncodeToString(id[:4]) }

// IsZero reports whether the ID is unset.
func (id ID) IsZero() bool { return id == ID{} }

// ParseID reads the 32 hex digits that String wrote.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*len(id) {
		return id, errors.New("an ID has 32 hex digits")
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, errors.New("an ID has 32 hex digits")
	}
	return id, nil
}

// Digest is the first half of the SHA-256 of a body. 128 bits are enough to
// tell two signed bodies apart.
type Digest [16]byte

// Short returns the first 8 hex digits.
func (d Digest) Short() string { return hex.EncodeToString(d[:4]) }

// Strength says how much the identity of a delivery is worth.
type Strength uint8

// The strengths, weakest first.
const (
	StrengthNone     Strength = iota
	StrengthFallback          // no ID: a hash of the content and the sender
	StrengthMedium            // an ID the signature does not cover, bound to the body
	StrengthStrong            // an ID that the signature covers
)

// String returns the name shown in metrics: none, fallback, medium or strong.
func (s Strength) String() string {
	switch s {
	case StrengthStrong:
		return "strong"
	case StrengthMedium:
		return "medium"
	case StrengthFallback:
		return "fallback"
	default:
		return "none"
	}
}

// Confidence returns the word of the decision record: high, medium or low.
func (s Strength) Confidence() string {
	switch s {
	case StrengthStrong:
		return "high"
	case StrengthMedium:
		return "medium"
	default:
		return "low"
	}
}

// Record is what is known about one effect. Times are Unix milliseconds; zero
// means "not set".
type Record struct {
	ID       ID
	Source   string // name of the route, part of every key
	Provider string
	Sender   string

	State  State
	Reason Reason
	Epoch  uint32 // number of claims, the fencing token of attempts
	Owner  uint64 // boot ID of the process that runs the attempt

	Attempts  uint32
	NextAt    int64 // not to be sent before; 0: whenever somebody asks
	Owed      bool  // the provider was told 2xx and the effect is not confirmed
	MayRepeat bool  // a person or a policy accepted that the work may happen twice
	Kept      bool  // the request bytes are in the spool, under Spool
	Spool     ID    // names the kept bytes; every attempt's bytes have a name of their own

	Created  int64
	SentAt   int64 // start of the latest attempt
	Changed  int64 // latest change of State
	LastSeen int64
	Seen     uint32 // deliveries of this effect, the first included

	UpstreamStatus int
	ExternalRef    string
	Body           Digest
	Fingerprint    Digest // what the body means under the route's rules; zero: not known
	Strength       Strength
	SecretID       string // which of the route's secrets verified it
	DeliveryID     string // as sent, for people; never part of a key by itself
	EventID        string
	Rationale      string // at most 200 characters, part of the decision record

	Peer      ID   // the effect that this one is compared with, or a duplicate of
	Aliases   []ID // further keys that point here, besides ID itself
	Window    int64
	ExpiresAt int64 // 0 while open and owed; own clock rule, never the store's
}

// Expired reports whether the record may be forgotten at time now. Open owed
// records never are (invariant I4).
func (r *Record) Expired(now int64) bool {
	if r.ExpiresAt == 0 || now < r.ExpiresAt {
		return false
	}
	return r.State.Final() || (r.State == Ready && !r.Owed)
}

// DeadLetter reports whether the effect waits for a person: it is not done and
// nothing will send it by itself.
func (r *Record) DeadLetter() bool { return r.State == Ready && r.Owed && r.NextAt == 0 }

// settle puts the record into a state in which it rests, and starts its window.
func (r *Record) settle(s State, why Reason, at int64) {
	r.State, r.Reason, r.Changed = s, why, at
	r.Owner, r.NextAt = 0, 0
	r.ExpiresAt = 0
	if s.Final() || (s == Ready && !r.Owed) {
		r.ExpiresAt = at + r.Window
	}
	if s.Final() {
		r.Owed = false
	}
}

// touch counts one more delivery of the same effect. A duplicate extends the
// window to its own time plus the window, capped at four windows from the last
// change, so that a sender that repeats for ever cannot keep a record for ever.
func (r *Record) touch(at int64) {
	r.Seen++
	r.LastSeen = max(r.LastSeen, at)
	if r.ExpiresAt != 0 {
		r.ExpiresAt = max(r.ExpiresAt, min(at+r.Window, r.Changed+4*r.Window))
	}
}
