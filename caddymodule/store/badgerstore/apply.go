// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// Apply implements store.Store.
func (s *Store) Apply(ctx context.Context, id delivery.ID, ev delivery.Event) (delivery.Record, delivery.Actions, error) {
	if err := ctx.Err(); err != nil && !store.IsOutcome(ev.Kind) {
		return delivery.Record{}, 0, err
	}
	if err := s.enter(); err != nil {
		return delivery.Record{}, 0, err
	}
	defer s.life.RUnlock()
	if ev.Kind == delivery.OperatorDrop && !ev.Peer.IsZero() {
		if err := s.mustExist(ev.Peer); err != nil {
			return delivery.Record{}, 0, err
		}
	}
	s.locks.lock(id)
	defer s.locks.unlock(id)
	before, err := s.live(id)
	if err != nil {
		return delivery.Record{}, 0, err
	}
	after, acts, err := delivery.Step(before.rec, ev)
	if err != nil {
		err = s.impossibleEvent(err)
		if before.kind != kindRecord {
			err = notFound(id, err)
		}
		return before.rec, 0, err
	}
	return s.perform(&before, store.Freed(after, acts), acts, ev)
}

func (s *Store) mustExist(id delivery.ID) error {
	v, err := s.live(id)
	if err == nil && v.kind != kindRecord {
		err = fmt.Errorf("%w: %s, which this is to be a duplicate of", store.ErrNotFound, id)
	}
	return err
}

// perform does what a step asks for. The lock of the record is held.
func (s *Store) perform(before *value, after delivery.Record, acts delivery.Actions, ev delivery.Event) (delivery.Record, delivery.Actions, error) {
	c := s.change(before, &after)
	if ev.Kind.Operator() {
		c.extra = append(c.extra, s.auditEntry(store.NewAudit(&before.rec, &after, ev)))
	}
	switch {
	case acts.Has(delivery.Copy):
		return s.copyRecord(before, acts, ev, c.extra)
	case acts.Has(delivery.Remove):
		return after, acts, s.remove(&c)
	case acts.Has(delivery.Save):
		err := c.write(outcome)
		if err == nil {
			return after, acts, nil
		}
		err = fmt.Errorf("%s of %s: %w", ev.Kind, after.ID.Short(), err)
		if store.IsOutcome(ev.Kind) { // T34: it is true whether it is written or not
			c.writeLater()
			return after, acts, err
		}
		c.undo(err)
		return before.rec, 0, err
	case acts.Has(delivery.SaveLazy):
		c.writeLater()
	}
	return after, acts, nil
}

// copyRecord makes the new effect of T32. Nobody can know its random ID before
// it is written, so it needs no lock.
func (s *Store) copyRecord(before *value, acts delivery.Actions, ev delivery.Event, audit []kv) (delivery.Record, delivery.Actions, error) {
	if err := s.roomForOne(); err != nil {
		return before.rec, 0, err
	}
	made := store.CopyOf(before.rec, randomID(), ev.At)
	c := s.change(&value{rec: delivery.Record{ID: made.ID}}, &made)
	c.extra = audit
	if err := c.write(newWork); err != nil {
		c.undo(err)
		return before.rec, 0, fmt.Errorf("copy of %s: %w", before.rec.ID.Short(), err)
	}
	return made, acts, nil
}

// remove forgets a record because a person asked for it, with the evidence keys
// that it brought, so that the next delivery counts as new.
func (s *Store) remove(c *change) error {
	r := &request{urgency: outcome, entries: s.goneEntries(c.before)}
	for _, key := range [...]delivery.ID{c.evidence.body, c.evidence.plain} {
		if !key.IsZero() {
			r.entries = append(r.entries, s.goneEntry(key))
		}
	}
	r.entries = append(r.entries, c.extra...)
	if err := s.commit.write(r); err != nil {
		c.undo(err)
		return fmt.Errorf("forget %s: %w", c.before.ID.Short(), err)
	}
	s.cache.put(c.before.ID, &item{raw: gone})
	s.counts.consume(c.before.ID, 0, true)
	return nil
}

// forget removes a record whose window is over. It is not waited for.
func (s *Store) forget(v *value) {
	it := &item{raw: gone, pending: s.number.Add(1)}
	s.cache.put(v.rec.ID, it)
	s.counts.consume(v.rec.ID, 0, true)
	s.commit.send(&request{
		urgency: lazy, entries: s.goneEntries(&v.rec),
		lazyKeys: []lazyKey{{v.rec.ID, it.pending}},
	})
}

func (s *Store) goneEntries(r *delivery.Record) []kv {
	entries := []kv{s.goneEntry(r.ID)}
	if resting(r.State) {
		entries = append(entries, kv{key: dbKey(nsOpen, r.ID), remove: true})
	}
	return entries
}

// goneEntry overwrites a key. Badger drops the entry itself after a day.
func (s *Store) goneEntry(key delivery.ID) kv {
	return kv{key: dbKey(nsKey, key), val: gone, expires: s.badgerExpiry(0)}
}

// auditEntry is keyed by the effect and then by time, so that the entries of one
// effect lie together in order and no two of them share a key.
func (s *Store) auditEntry(e store.AuditEntry) kv {
	key := dbKey(nsAudit, e.Effect)
	key = appendBig(key, uint64(e.At.UnixMilli()))
	key = appendBig(key, s.opts.Boot)
	key = appendBig(key, s.number.Add(1))
	val, err := json.Marshal(e)
	if err != nil {
		panic("badgerstore: audit entries are plain text: " + err.Error())
	}
	return kv{key: key, val: val}
}

// Recover implements store.Store.
func (s *Store) Recover(ctx context.Context, at int64) ([]delivery.Record, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.life.RUnlock()
	var lost []delivery.ID
	s.cache.each(func(id delivery.ID, it *item) {
		if it.state == delivery.Running {
			lost = append(lost, id)
		}
	})
	recovered := make([]delivery.Record, 0, len(lost))
	for len(lost) > 0 {
		if err := ctx.Err(); err != nil {
			return recovered, err
		}
		n := min(len(lost), 256)
		part, err := s.recoverSome(lost[:n], at)
		recovered = append(recovered, part...)
		if err != nil {
			return recovered, err
		}
		lost = lost[n:]
	}
	return recovered, nil
}

// recoverSome makes one group of records uncertain, with one sync.
func (s *Store) recoverSome(ids []delivery.ID, at int64) ([]delivery.Record, error) {
	var set lockSet
	for _, id := range ids {
		set.add(id)
	}
	s.locks.lockAll(set)
	defer s.locks.unlockAll(set)
	all := &request{urgency: outcome}
	changes := make([]change, 0, len(set))
	raws := make([][]byte, 0, len(set))
	for _, id := range set {
		v, err := s.live(id)
		if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrFormat) {
			continue // counted; that key alone is refused (T35)
		}
		if err != nil {
			return nil, err
		}
		if v.rec.State != delivery.Running || v.rec.Owner == s.opts.Boot {
			continue
		}
		after, _, err := delivery.Step(v.rec, delivery.Event{Kind: delivery.OwnerGone, At: at, Epoch: v.rec.Epoch})
		if err != nil {
			return nil, err
		}
		c := s.change(&v, &after)
		raw := encodeRecord(&after, c.evidence)
		r := c.request(raw)
		all.entries = append(all.entries, r.entries...)
		all.leaves = append(all.leaves, r.leaves...)
		changes, raws = append(changes, c), append(raws, raw)
	}
	if len(changes) == 0 {
		return nil, nil
	}
	if err := s.commit.write(all); err != nil {
		for i := range changes {
			changes[i].undo(err)
		}
		return nil, fmt.Errorf("recovery: %w", err)
	}
	out := make([]delivery.Record, len(changes))
	for i := range changes {
		changes[i].visible(recordItem(changes[i].after, raws[i]))
		out[i] = *changes[i].after
	}
	return out, nil
}
