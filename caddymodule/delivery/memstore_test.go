// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"crypto/sha256"
	"maps"
	"strings"
)

// memStore does what a store adds to the decisions: it looks keys up and writes
// verdicts, one at a time.
type memStore struct {
	records map[ID]Record
	keys    map[ID]ID
	bodies  map[ID]seenBody
	ids     map[ID]bool
}

type seenBody struct {
	effect ID
	until  int64
}

func newMemStore() *memStore {
	return &memStore{records: map[ID]Record{}, keys: map[ID]ID{}, bodies: map[ID]seenBody{}, ids: map[ID]bool{}}
}

// live returns the record behind a key, nil when there is none or it is expired.
func (s *memStore) live(key ID, at int64) *Record {
	if id, ok := s.keys[key]; ok {
		key = id
	}
	r, ok := s.records[key]
	if !ok || r.Expired(at) {
		return nil
	}
	return &r
}

func (s *memStore) find(a *Arrival) Found {
	f := Found{Identity: make([]*Record, len(a.Identity))}
	for i, k := range a.Identity {
		f.Identity[i] = s.live(k.ID, a.At)
	}
	if b, ok := s.bodies[a.BodyKey]; ok && a.At < b.until {
		f.BodySeen, f.Body = true, s.live(b.effect, a.At)
	}
	f.IDSeen = s.ids[a.PlainID]
	return f
}

// arrive decides about an arrival and writes the decision.
func (s *memStore) arrive(a Arrival) Verdict {
	v := Decide(&a, s.find(&a))
	if !v.Sibling.IsZero() {
		v = Resume(&a, v, s.live(v.Sibling, a.At))
	}
	if v.Actions&(Save|SaveLazy) != 0 {
		s.records[v.Record.ID] = v.Record
	}
	if v.Record.Seen == 1 {
		s.unlink(v.Record.ID) // whatever pointed to a forgotten effect of that name
		delete(s.keys, v.Record.ID)
	}
	for _, k := range v.NewKeys {
		s.keys[k] = v.Record.ID
	}
	if v.SetBody {
		s.bodies[a.BodyKey] = seenBody{v.Record.ID, a.At + a.Policy.BodyWindow}
	}
	if v.SetID {
		s.ids[a.PlainID] = true
	}
	return v
}

func (s *memStore) unlink(id ID) {
	maps.DeleteFunc(s.keys, func(_, to ID) bool { return to == id })
}

// apply steps one record and writes what the step asks for.
func (s *memStore) apply(id ID, e Event) (Record, Actions, error) {
	r, acts, err := Step(s.records[id], e)
	switch {
	case err != nil:
	case acts.Has(Remove):
		delete(s.records, id)
		s.unlink(id)
	case acts&(Save|SaveLazy) != 0:
		s.records[id] = r
	}
	return r, acts, err
}

// end reports how the current attempt of an effect ended.
func (s *memStore) end(id ID, k EventKind, change ...func(*Event)) Record {
	e := Event{Kind: k, At: now, Epoch: s.records[id].Epoch, Reason: ReasonUpstreamFail}
	for _, f := range change {
		f(&e)
	}
	r, _, err := s.apply(id, e)
	if err != nil {
		panic(err)
	}
	return r
}

func named(parts ...string) ID {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return ID(sum[:16])
}

func bodyOf(body string) Digest { return Digest(named("body", body)) }

func arrival(body string, keys ...Key) Arrival {
	return Arrival{
		At: now, Boot: 8, Source: "shop", Provider: "acme", Body: bodyOf(body), HoldKey: bodyOf("hold" + body),
		Identity: keys, Kept: true, Spool: named("spool", body), SecretID: "s1",
		Policy: Policy{Window: window, BodyWindow: 100 * window},
	}
}

// signed is a delivery whose ID the signature covers.
func signed(id, body string) Arrival {
	a := arrival(body, Key{ID: named("d", id), Kind: 'd', Signed: true})
	a.Strength, a.DeliveryID = StrengthStrong, id
	return a
}

// unsigned is a delivery whose ID anybody can choose: the key binds it to the body.
func unsigned(id, body string) Arrival {
	a := arrival(body, Key{ID: named("d", id, body), Kind: 'd'})
	a.Strength, a.DeliveryID = StrengthMedium, id
	a.BodyKey, a.PlainID = named("b", body), named("i", id)
	return a
}

// anonymous is a delivery of a source that sends no IDs.
func anonymous(body string) Arrival {
	a := arrival(body, Key{ID: named("f", body), Kind: 'f', Signed: true})
	a.Strength = StrengthFallback
	return a
}

// by changes an arrival.
func (a Arrival) by(change func(*Arrival)) Arrival {
	change(&a)
	return a
}

func sameBody(r Rule) func(*Arrival) { return func(a *Arrival) { a.Policy.SameBody = r } }
func mismatch(r Rule) func(*Arrival) { return func(a *Arrival) { a.Policy.Mismatch = r } }
func accept(a *Arrival)              { a.Policy.Accept = true }
func retrying(a *Arrival)            { a.Policy.RetryUncertain = true }
func at(t int64) func(*Arrival)      { return func(a *Arrival) { a.At = t } }
