// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// Peek implements store.Store. It takes no lock: what it sees of a change that
// is being written makes it answer "no", and Reserve then waits for that change.
func (s *Store) Peek(ctx context.Context, a *delivery.Arrival) (delivery.Verdict, bool, error) {
	if err := ctx.Err(); err != nil {
		return delivery.Verdict{}, false, err
	}
	if err := s.enter(); err != nil {
		return delivery.Verdict{}, false, err
	}
	defer s.life.RUnlock()
	undone := s.undone.Load()
	d, err := s.decide(a, nil)
	if err != nil {
		return delivery.Verdict{}, false, err
	}
	v := &d.verdict
	if v.Actions.Has(delivery.Save) || v.Reason == delivery.ReasonAliasConflict {
		return *v, false, nil
	}
	// Badger shows an entry a moment before it is synced. Its writer holds the lock
	// for that long, so without a lock what was read is durable, or was taken back
	// just now.
	if s.locks.isHeld(v.Record.ID) || s.undone.Load() != undone {
		return *v, false, nil
	}
	if v.Actions.Has(delivery.SaveLazy) {
		s.counts.add(&v.Record)
	}
	return *v, true, nil
}

// Reserve implements store.Store.
func (s *Store) Reserve(ctx context.Context, a *delivery.Arrival) (delivery.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return delivery.Verdict{}, err
	}
	if err := s.enter(); err != nil {
		return delivery.Verdict{}, err
	}
	defer s.life.RUnlock()
	var room [8]delivery.ID
	keys := lockSet(room[:0])
	for i := range a.Identity {
		keys.add(a.Identity[i].ID)
	}
	keys.add(a.BodyKey)
	keys.add(a.PlainID)
	for {
		s.locks.lockAll(keys)
		d, err := s.decide(a, keys)
		if err == nil && len(d.missing) == 0 {
			err = s.settle(a, &d)
		}
		s.locks.unlockAll(keys)
		if err != nil || len(d.missing) == 0 {
			return d.verdict, err
		}
		for _, id := range d.missing {
			keys.add(id)
		}
	}
}

// decision is a verdict and what it was made from.
type decision struct {
	verdict delivery.Verdict
	before  value         // verdict.Record as it was; State None: there was none
	missing []delivery.ID // keys whose locks are needed as well
}

// lookup reads effects for one decision, each of them once.
type lookup struct {
	s       *Store
	held    lockSet // nil: no locks are held, and none are asked for
	known   []*value
	missing []delivery.ID
	txn     *badger.Txn
}

// effect returns the live record of an ID, or nil.
func (l *lookup) effect(id delivery.ID) (*delivery.Record, error) {
	for _, v := range l.known {
		if v.rec.ID == id {
			return &v.rec, nil
		}
	}
	v, err := l.s.readWith(l.txn, id)
	if err != nil {
		return nil, err
	}
	return l.found(id, v), nil
}

// found notes the value that was read under an effect's ID.
func (l *lookup) found(id delivery.ID, v value) *delivery.Record {
	if l.held != nil && !l.held.has(id) {
		l.missing = append(l.missing, id)
	}
	if v = l.s.alive(v); v.kind != kindRecord {
		return nil
	}
	l.known = append(l.known, &v)
	return &v.rec
}

// decide looks at the keys of an arrival and asks delivery.Decide. With held
// locks it reports the effects that were reached without holding theirs.
func (s *Store) decide(a *delivery.Arrival, held lockSet) (decision, error) {
	var (
		d   decision
		f   delivery.Found
		err error
	)
	l := lookup{s: s, held: held, txn: s.db.NewTransactionAt(math.MaxUint64, false)}
	defer l.txn.Discard()
	hit := false
	f.Identity = make([]*delivery.Record, len(a.Identity))
	for i := range a.Identity {
		if f.Identity[i], err = l.follow(a.Identity[i].ID); err != nil {
			return d, err
		}
		hit = hit || f.Identity[i] != nil
	}
	if !hit { // evidence speaks only about an identity that nobody has seen
		if err := l.lookEvidence(a, &f); err != nil {
			return d, err
		}
	}
	d.verdict = delivery.Decide(a, f)
	if sib := d.verdict.Sibling; !sib.IsZero() {
		r, err := l.effect(sib)
		if err != nil {
			return d, err
		}
		d.verdict = delivery.Resume(a, d.verdict, r)
	}
	for _, v := range l.known {
		if v.rec.ID == d.verdict.Record.ID {
			d.before = *v
		}
	}
	d.before.rec.ID = d.verdict.Record.ID
	d.missing = l.missing
	return d, nil
}

// follow returns the live effect that an identity key names or points to. A
// pointer is as good as the record behind it.
func (l *lookup) follow(key delivery.ID) (*delivery.Record, error) {
	v, err := l.s.readWith(l.txn, key)
	if err != nil {
		return nil, err
	}
	switch v.kind {
	case kindRecord:
		return l.found(key, v), nil
	case kindPointer:
		return l.effect(v.target)
	default:
		return nil, nil
	}
}

// lookEvidence reads the body key and the plain ID key, which count by their own
// time, whether the effect behind them is still known or not.
func (l *lookup) lookEvidence(a *delivery.Arrival, f *delivery.Found) error {
	now := l.s.clock.read()
	if !a.BodyKey.IsZero() {
		v, err := l.s.readWith(l.txn, a.BodyKey)
		if err != nil {
			return err
		}
		if v.kind == kindPointer && now < v.expires {
			f.BodySeen = true
			if f.Body, err = l.effect(v.target); err != nil {
				return err
			}
		}
	}
	if !a.PlainID.IsZero() {
		v, err := l.s.readWith(l.txn, a.PlainID)
		if err != nil {
			return err
		}
		f.IDSeen = v.kind == kindPointer && now < v.expires
	}
	return nil
}

// settle makes a verdict durable. The locks of all keys are held.
func (s *Store) settle(a *delivery.Arrival, d *decision) error {
	v := &d.verdict
	switch {
	case v.Actions.Has(delivery.Save):
	case v.Actions.Has(delivery.SaveLazy):
		s.counts.add(&v.Record)
		return nil
	default:
		return nil
	}
	if d.before.kind == 0 {
		if err := s.roomForOne(); err != nil {
			return err
		}
	}
	if a.Keep != nil && v.NeedsBytes() {
		name, err := a.Keep(v)
		if err != nil {
			return fmt.Errorf("reserve %s: %w", v.Record.ID.Short(), err)
		}
		v.Record.Kept, v.Record.Spool = true, name
	}
	c := s.change(&d.before, &v.Record)
	now := s.clock.read()
	until := now + 4*v.Record.Window + 30*day
	for _, key := range v.NewKeys {
		c.point(key, pointsIdentity, until)
	}
	if v.SetBody {
		c.evidence.body = a.BodyKey
		c.point(a.BodyKey, pointsBody, now+a.Policy.BodyWindow)
	}
	if v.SetID {
		c.evidence.plain = a.PlainID
		c.point(a.PlainID, pointsPlainID, now+a.Policy.BodyWindow)
	}
	if err := c.write(newWork); err != nil {
		c.undo(err)
		return fmt.Errorf("reserve %s: %w", v.Record.ID.Short(), err)
	}
	return nil
}

// impossibleEvent counts what delivery.Step refused and passes the error on.
func (s *Store) impossibleEvent(err error) error {
	if errors.Is(err, delivery.ErrImpossible) {
		s.impossible.Add(1)
	}
	return err
}

// notFound is the error for an event at an effect that is not there.
func notFound(id delivery.ID, err error) error {
	return fmt.Errorf("%w: %s: %w", store.ErrNotFound, id.Short(), err)
}
