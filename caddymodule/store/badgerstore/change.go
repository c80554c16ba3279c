// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"errors"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

const day = int64(24 * 60 * 60 * 1000)

// change is one step of one record with all that has to be written with it. Its
// maker holds the lock of the record and of every key it points.
type change struct {
	s             *Store
	before, after *delivery.Record
	evidence      evidence
	counted       uint32 // duplicates that were counted in memory and are in before
	pointers      []pointer
	prolonged     []pointer
	extra         []kv
	slot          uint32 // the claim slot of before, plus one
}

type pointer struct {
	key     delivery.ID
	points  byte
	expires int64
}

// change begins a change. It also lets the window begin by the store's clock.
func (s *Store) change(before *value, after *delivery.Record) change {
	c := change{
		s: s, before: &before.rec, after: after,
		evidence: before.evidence, counted: before.counted,
	}
	if after.ExpiresAt != 0 && (after.Changed != before.rec.Changed || after.State != before.rec.State) {
		after.ExpiresAt += max(0, s.clock.read()-after.Changed)
	}
	if before.rec.State == delivery.Running {
		if it := s.cache.get(before.rec.ID); it != nil {
			c.slot = it.slot
		}
	}
	const short = int64(60 * 60 * 1000)
	if after.State.Final() && !before.rec.State.Final() && after.Changed-after.Created > short {
		// It was open for so long that its pointers might end before it.
		for _, key := range after.Aliases {
			c.prolonged = append(c.prolonged, pointer{key, pointsIdentity, after.ExpiresAt + 3*after.Window})
		}
	}
	return c
}

// point lets a key point to the record from now on.
func (c *change) point(key delivery.ID, points byte, expires int64) {
	c.pointers = append(c.pointers, pointer{key, points, expires})
}

// write makes the change durable and then visible. After an error nothing of it
// is visible in the cache; the caller chooses between undo and writeLater.
func (c *change) write(u urgency) error {
	raw := encodeRecord(c.after, c.evidence)
	r := c.request(raw)
	r.urgency = u
	if err := c.s.commit.write(r); err != nil {
		return err
	}
	it := recordItem(c.after, raw)
	it.slot = r.slot
	c.visible(it)
	for _, p := range c.pointers {
		// An expired open record may have had this key until now.
		c.s.cache.put(p.key, &item{})
	}
	return nil
}

// writeLater makes the change visible at once and durable soon.
func (c *change) writeLater() {
	raw := encodeRecord(c.after, c.evidence)
	r := c.request(raw)
	r.urgency = lazy
	it := recordItem(c.after, raw)
	it.slot, it.pending = c.slot, c.s.number.Add(1)
	r.lazyKeys = []lazyKey{{c.after.ID, it.pending}}
	c.visible(it)
	c.s.commit.send(r)
}

// visible puts the new value into the cache.
func (c *change) visible(it *item) {
	if it.slot == 0 && it.state == delivery.Running {
		it.slot = c.slot
	}
	c.s.cache.put(c.after.ID, it)
	c.s.counts.consume(c.after.ID, c.counted, c.before.State == delivery.None)
}

// undo takes back a change that may have reached Badger although its commit
// failed: the old values are the truth at once and are written soon.
func (c *change) undo(err error) {
	if !errors.Is(err, errUnsure) {
		return
	}
	c.s.undone.Add(1)
	r := &request{urgency: lazy}
	back := func(key delivery.ID, it *item) {
		it.pending = c.s.number.Add(1)
		r.entries = append(r.entries, kv{key: dbKey(nsKey, key), val: it.raw})
		r.lazyKeys = append(r.lazyKeys, lazyKey{key, it.pending})
		c.s.cache.put(key, it)
	}
	if c.before.State == delivery.None {
		back(c.after.ID, &item{raw: gone})
	} else {
		it := recordItem(c.before, encodeRecord(c.before, c.evidence))
		it.slot = c.slot
		back(c.before.ID, it)
		c.s.counts.consume(c.before.ID, c.counted, false)
	}
	for _, p := range c.pointers {
		back(p.key, &item{raw: gone})
	}
	if e := marker(c.after, c.before); e != nil {
		r.entries = append(r.entries, *e)
	}
	for _, e := range c.extra {
		c.s.hidden.Store(string(e.key), true)
		r.entries = append(r.entries, kv{key: e.key, remove: true})
	}
	c.s.commit.send(r)
}

// request lists the entries of the change.
func (c *change) request(raw []byte) *request {
	r := &request{entries: make([]kv, 0, 2+len(c.pointers)+len(c.prolonged)+len(c.extra))}
	e := kv{key: dbKey(nsKey, c.after.ID), val: raw}
	if c.after.State.Final() {
		e.expires = c.s.badgerExpiry(c.after.ExpiresAt)
	}
	r.entries = append(r.entries, e)
	for _, list := range [...][]pointer{c.pointers, c.prolonged} {
		for _, p := range list {
			r.entries = append(r.entries, kv{
				key:     dbKey(nsKey, p.key),
				val:     encodePointer(p.key, p.points, c.after.ID, p.expires),
				expires: c.s.badgerExpiry(p.expires),
			})
		}
	}
	if e := marker(c.before, c.after); e != nil {
		r.entries = append(r.entries, *e)
	}
	r.entries = append(r.entries, c.extra...)
	if c.after.State == delivery.Running && c.before.State != delivery.Running {
		r.claims = []delivery.ID{c.after.ID}
	}
	if c.slot != 0 && c.after.State != delivery.Running {
		r.leaves = []uint32{c.slot}
	}
	return r
}

// marker is the entry that says that a record rests in an open state, or rests
// there no longer; nil when nothing changes. RUNNING is marked by its slot.
func marker(before, after *delivery.Record) *kv {
	was, is := resting(before.State), resting(after.State)
	if was == is {
		return nil
	}
	return &kv{key: dbKey(nsOpen, after.ID), val: []byte{1}, remove: !is}
}

func resting(s delivery.State) bool { return s.Open() && s != delivery.Running }
