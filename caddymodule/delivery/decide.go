// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"crypto/sha256"
	"slices"
)

// Rule is what a route does with one kind of ambiguity.
type Rule uint8

// The rules. Hold is the zero value: ambiguity waits for a person by default.
const (
	RuleHold    Rule = iota
	RuleForward      // treat it as new
	RuleSkip         // treat it as the effect already known
)

// Policy is what a route says about identity, time and doubt.
type Policy struct {
	Accept         bool // accept mode: take in now, send later
	RetryUncertain bool // on_uncertain retry
	Mismatch       Rule // same signed identity, other content: hold or forward
	SameBody       Rule // unsigned new ID over a known body: hold, forward or skip

	Window     int64 // milliseconds an effect is remembered after it is settled
	BodyWindow int64 // milliseconds a body is remembered as seen
}

// Key is one alias of a delivery.
type Key struct {
	ID     ID
	Kind   byte // first letter of the alias kind, for people: d, e, a, f, b, i
	Signed bool // the signature covers what the key was made of
}

// Arrival is what one verified delivery says about itself.
type Arrival struct {
	At   int64
	Boot uint64

	Source, Provider, Sender      string
	DeliveryID, EventID, SecretID string
	Rationale                     string // more about Problem, for people; at most 200 characters
	Strength                      Strength
	Body                          Digest
	Fingerprint                   Digest // what the body means under the route's rules; zero: none
	OldFingerprint                Digest // the same under the rules before their last change; zero: none
	HoldKey                       Digest // what tells held items apart when there is no body: a digest over body and query
	Policy                        Policy
	Kept                          bool // the request bytes are, or will be, in the spool before anything is sent
	Spool                         ID   // names those bytes; set together with Kept

	// Keep is called by the store when its decision needs the request's bytes,
	// before the decision is written: it starts to keep them and returns their
	// name. So a repeat that needs no bytes never touches the spool. Nil: Spool
	// names bytes that are kept already.
	Keep func(*Verdict) (ID, error)

	Problem Reason // why there is no safe key: ReasonNoSafeKey or ReasonAmbiguousID, else empty

	Identity []Key // strongest first; the first one names a new effect
	BodyKey  ID    // evidence: this body was seen; zero: not used
	PlainID  ID    // evidence: this unsigned ID was seen, whatever the body; zero: not used
}

// Found is what the store knows about the keys of an arrival. Expired records
// and aliases are not found.
type Found struct {
	Identity []*Record // one for each identity key, nil when unknown
	BodySeen bool      // the body alias exists
	Body     *Record   // the effect behind the body alias, if it still exists
	IDSeen   bool      // the plain ID alias exists
}

// VerdictKind is what happens to a delivery.
type VerdictKind uint8

// The verdicts.
const (
	First     VerdictKind = iota + 1 // new: send it now (the record is RUNNING)
	TakeOver                         // known not done: send it now (the record is RUNNING again)
	Accepted                         // new, accept mode: taken in
	Join                             // an attempt is running: wait for it
	Duplicate                        // done or dropped: answer 200
	Parked                           // uncertain or held: answer 200, the bytes are on disk
	Owed                             // taken in before, not done yet: answer 200
	NotYet                           // known not done, but the upstream asked for time
	HoldNew                          // ambiguous: keep it as a HELD item; see Verdict.Hold
)

var verdictNames = [...]string{"", "first", "take_over", "accepted", "join", "duplicate", "parked", "owed", "not_yet", "hold_new"}

// String returns the snake_case name of the verdict.
func (k VerdictKind) String() string {
	if int(k) < len(verdictNames) {
		return verdictNames[k]
	}
	return "unknown"
}

// Verdict is the decision about one arrival. A store makes it durable before
// anybody acts on it.
type Verdict struct {
	Kind    VerdictKind
	Record  Record  // the effect after the decision
	Actions Actions // what to do with Record: Save, SaveLazy or nothing
	NewKeys []ID    // identity keys that are to point to Record from now on
	SetBody bool    // the body key is to point to Record
	SetID   bool    // the plain ID key is to be remembered

	Sibling  ID     // look this record up and call Resume (HoldNew, and First under RuleForward)
	Reason   Reason // why it is held
	IDReused bool   // an unsigned ID came with another body before
	BodySeen bool   // an unsigned new ID came over a known body
	Rebound  bool   // the spool should take these bytes (the record had none)
	Stale    ID     // kept bytes that this decision replaced; zero: none
}

// NeedsBytes reports whether the request's bytes must be kept before anybody
// acts on the verdict.
func (v *Verdict) NeedsBytes() bool {
	return v.Kind == First || v.Kind == TakeOver || v.Kind == Accepted || v.Kind == HoldNew || v.Rebound
}

// Decide looks at an arrival and at what is known about its keys. It is the
// whole of the identity table; where it meets ambiguity it never skips and
// never forwards without a rule that says so.
func Decide(a *Arrival, f Found) Verdict {
	if a.Problem != "" {
		return hold(a, a.Problem, nil)
	}
	if len(a.Identity) == 0 {
		return hold(a, ReasonNoSafeKey, nil)
	}
	hit, conflict := distinct(f.Identity)
	if conflict { // I11
		return hold(a, ReasonAliasConflict, hit)
	}
	if hit == nil {
		return decideNew(a, f)
	}
	if a.Identity[0].Signed && hit.Strength == StrengthStrong && !a.sameContent(hit) && !a.supersedes(hit) { // T30
		if a.Policy.Mismatch == RuleForward {
			return sibling(a, hit)
		}
		return hold(a, ReasonContentMismatch, hit)
	}
	v := byState(a, hit)
	v.learn(a, f.Identity)
	return v
}

// sameContent reports whether the arrival says what the effect says: the same
// bytes, or bytes that mean the same under the route's rules.
func (a *Arrival) sameContent(r *Record) bool {
	if a.Body == r.Body {
		return true
	}
	return r.Fingerprint != Digest{} && (a.Fingerprint == r.Fingerprint || a.OldFingerprint == r.Fingerprint)
}

// supersedes reports whether the arrival may take the place of what the record
// holds: nothing was done, nothing is owed, and the provider says it anew (some
// render an event again, or count their attempts inside the body).
func (a *Arrival) supersedes(r *Record) bool {
	return r.State == Ready && !r.Owed && !r.MayRepeat && !a.Policy.Accept
}

// maxAliases bounds the keys of one record. Beyond it a repeat is still found
// by the key that led here; only its other keys are not learnt, so that somebody
// who mints unsigned IDs over a captured body cannot make a record grow for ever.
const maxAliases = 32

// learn lets the keys that nobody knows point to the verdict's record (T24). A
// new alias is synced.
func (v *Verdict) learn(a *Arrival, found []*Record) {
	for i, k := range a.Identity {
		known := i < len(found) && found[i] != nil || k.ID == v.Record.ID
		if !known && len(v.Record.Aliases)+len(v.NewKeys) < maxAliases {
			v.NewKeys = append(v.NewKeys, k.ID)
		}
	}
	if len(v.NewKeys) > 0 {
		v.Record.Aliases = append(slices.Clip(v.Record.Aliases), v.NewKeys...)
		v.Actions |= Save
	}
}

// decideNew handles an identity that nobody has seen.
func decideNew(a *Arrival, f Found) Verdict {
	unsigned := a.Strength != StrengthStrong
	if unsigned && f.BodySeen {
		switch {
		case f.Body != nil && f.Body.State == Ready && !f.Body.Owed:
			// The body is known not to be done, so sending it now makes at most
			// one effect: a redelivery under a fresh ID repairs a failure.
			return alias(a, f)
		case a.Policy.SameBody == RuleSkip && f.Body != nil:
			return alias(a, f)
		case a.Policy.SameBody != RuleForward:
			// Also under RuleSkip, when what became of the body is forgotten.
			v := hold(a, ReasonSameBody, f.Body)
			v.BodySeen = true
			return v
		}
	}
	v := first(a, a.Identity[0].ID)
	v.BodySeen = unsigned && f.BodySeen
	v.IDReused = unsigned && f.IDSeen
	v.SetBody = !a.BodyKey.IsZero() && !f.BodySeen
	v.SetID = !a.PlainID.IsZero() && !f.IDSeen
	for _, k := range a.Identity[1:] {
		v.NewKeys = append(v.NewKeys, k.ID)
	}
	v.Record.Aliases = v.NewKeys
	return v
}

// first is T1 in relay mode and T2 in accept mode.
func first(a *Arrival, id ID) Verdict {
	r := newRecord(a, id)
	if a.Policy.Accept {
		r.Owed = true
		r.settle(Ready, ReasonAccepted, a.At)
		r.NextAt = a.At
		return Verdict{Kind: Accepted, Record: r, Actions: Save | Wake}
	}
	r.State = Ready
	r, acts, _ := claim(r, Event{At: a.At, Boot: a.Boot})
	return Verdict{Kind: First, Record: r, Actions: acts}
}

// alias treats the arrival as another delivery of the effect behind its body.
func alias(a *Arrival, f Found) Verdict {
	v := byState(a, f.Body)
	v.learn(a, f.Identity)
	v.BodySeen = true
	return v
}

// hold is T4 and T30: the delivery is kept whole and waits for a person. One
// item stands for one (reason, content), so a flood cannot fill the queue.
func hold(a *Arrival, why Reason, peer *Record) Verdict {
	content := a.HoldKey
	if why == ReasonSameBody || why == ReasonContentMismatch {
		content = a.Body // what was compared; a query may be anybody's
	}
	id := derive("hold", a, string(why), content)
	r := newRecord(a, id)
	r.Owed, r.Rationale = true, a.Rationale
	r.settle(Held, why, a.At)
	if peer != nil {
		r.Peer = peer.ID
	}
	return Verdict{Kind: HoldNew, Record: r, Actions: Save | Alarm, Sibling: id, Reason: why}
}

// sibling is on_mismatch forward: other content under a known signed identity
// is an effect of its own, named by identity and content.
func sibling(a *Arrival, peer *Record) Verdict {
	v := first(a, derive("content", a, "", a.Body))
	v.Sibling = v.Record.ID
	v.Record.Peer = peer.ID
	return v
}

// Resume finishes a verdict that has a Sibling: found is the record of that ID
// when it exists already.
func Resume(a *Arrival, v Verdict, found *Record) Verdict {
	if found == nil {
		return v
	}
	w := byState(a, found)
	w.Reason, w.IDReused, w.BodySeen = v.Reason, v.IDReused, v.BodySeen
	return w
}

func newRecord(a *Arrival, id ID) Record {
	return Record{
		ID: id, Source: a.Source, Provider: a.Provider, Sender: a.Sender,
		Kept: a.Kept, Spool: a.Spool, Created: a.At, Changed: a.At, LastSeen: a.At, Seen: 1,
		Body: a.Body, Fingerprint: a.Fingerprint, Strength: a.Strength, SecretID: a.SecretID,
		DeliveryID: a.DeliveryID, EventID: a.EventID, Window: a.Policy.Window,
	}
}

// derive names an effect that has no identity key of its own.
func derive(what string, a *Arrival, why string, content Digest) ID {
	h := sha256.New()
	for _, s := range []string{"hookonce 1", what, a.Source, a.Sender, why} {
		h.Write([]byte{byte(len(s) >> 8), byte(len(s))})
		h.Write([]byte(s))
	}
	if why != string(ReasonSameBody) && len(a.Identity) > 0 {
		h.Write(a.Identity[0].ID[:])
	}
	h.Write(content[:])
	var id ID
	copy(id[:], h.Sum(nil))
	return id
}

// distinct returns the one effect behind the keys, and whether there is more
// than one.
func distinct(found []*Record) (hit *Record, conflict bool) {
	for _, r := range found {
		switch {
		case r == nil:
		case hit == nil:
			hit = r
		case hit.ID != r.ID:
			return hit, true
		}
	}
	return hit, false
}
