// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"sync"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// keeper does the housekeeping that nobody waits for.
type keeper struct {
	s          *Store
	unverified *survey // tables to be read after the start, or nil
	jumped     bool    // the wall clock, and we said so
	commits    int64   // an hour ago
	once       sync.Once
	quit       chan struct{}
	ended      chan struct{}
}

func newKeeper(s *Store, unverified *survey) *keeper {
	return &keeper{s: s, unverified: unverified, quit: make(chan struct{}), ended: make(chan struct{})}
}

// run looks after the disk once a second, writes the counts of duplicates and
// the clock once a minute, and lets Badger give back space once an hour.
func (k *keeper) run() {
	defer close(k.ended)
	k.second()
	if k.unverified != nil {
		k.verify()
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-k.quit:
			return
		case <-tick.C:
		}
		k.second()
		if n%60 == 0 {
			k.s.flushCounts()
			k.s.commit.send(&request{urgency: lazy, entries: []kv{k.s.clockEntry()}})
		}
		if n%3600 == 0 {
			k.hour()
		}
	}
}

func (k *keeper) stop() {
	k.once.Do(func() { close(k.quit) })
	<-k.ended
}

// second measures the store and looks after the ballast and the clock.
func (k *keeper) second() {
	if jumped := k.s.clock.paused(); jumped != k.jumped {
		k.jumped = jumped
		if jumped {
			k.s.opts.Logger.Warn("store: the wall clock jumped ahead; windows go on by the old time until it has agreed with itself for two hours")
		}
	}
	var size int64
	for _, level := range k.s.db.Levels() {
		size += level.Size
	}
	k.s.guard.size.Store(size + 2*memTableSize)
	if err := k.s.guard.keepBallast(); err != nil {
		k.s.opts.Logger.Warn("store: " + err.Error())
	}
}

// verify reads every table. A table that was damaged on the disk makes keys look
// as if they had never been seen, so nothing may be decided from it.
func (k *keeper) verify() {
	if err := k.unverified.verify(true); err != nil {
		k.s.damaged.Store(&err)
		k.s.opts.Logger.Error(err.Error())
	}
	k.unverified = nil
}

// hour prolongs pointers and, after an hour with few writes, merges the tables.
// Without writes Badger merges nothing, so what has expired would stay on the
// disk; under load it merges all the time, and must not be stopped for this.
func (k *keeper) hour() {
	k.s.prolongPointers()
	commits := k.s.commit.commits.Load()
	quiet := commits-k.commits < 60*60
	k.commits = commits
	if !quiet {
		return
	}
	if err := k.s.db.Flatten(1); err != nil {
		k.s.opts.Logger.Warn("store: flatten: " + err.Error())
	}
}

// Sweep implements store.Store. Settled records need no sweep: their time is
// looked at when they are read, and Badger drops them a day later.
func (s *Store) Sweep(ctx context.Context, at int64) ([]delivery.ID, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.life.RUnlock()
	at = min(at, s.clock.read())
	var over, forgotten []delivery.ID
	s.cache.each(func(id delivery.ID, it *item) {
		if it.state == delivery.Ready && it.expires != 0 && it.expires <= at {
			over = append(over, id)
		}
	})
	for _, id := range over {
		if err := ctx.Err(); err != nil {
			return forgotten, err
		}
		if s.sweepOne(id, at) {
			forgotten = append(forgotten, id)
		}
	}
	return forgotten, nil
}

func (s *Store) sweepOne(id delivery.ID, at int64) bool {
	s.locks.lock(id)
	defer s.locks.unlock(id)
	ev := delivery.Event{Kind: delivery.WindowOver, At: at}
	v, err := s.read(id)
	if err != nil || v.kind != kindRecord {
		return false // unreadable: counted, and left alone
	}
	v.counted = s.counts.merge(&v.rec)
	if _, _, err := delivery.Step(v.rec, ev); err != nil {
		return false // it moved on since we looked
	}
	// It counts as gone already, so nobody has to wait for the write.
	s.forget(&v)
	return true
}

// pointerAge is when the pointers of an open record are written anew. They were
// made for its window and 30 days, and an open record has no end.
const pointerAge = 20 * day

func (s *Store) prolongPointers() {
	now := s.clock.read()
	var old []delivery.ID
	s.cache.each(func(id delivery.ID, it *item) {
		if max(it.created, it.refreshed)+pointerAge < now {
			old = append(old, id)
		}
	})
	for _, id := range old {
		s.prolong(id, now)
	}
}

func (s *Store) prolong(id delivery.ID, now int64) {
	s.locks.lock(id)
	defer s.locks.unlock(id)
	v, err := s.live(id)
	it := s.cache.get(id)
	if err != nil || v.kind != kindRecord || it == nil {
		return
	}
	r := &request{urgency: lazy}
	for _, key := range v.rec.Aliases {
		until := now + 4*v.rec.Window + 30*day
		r.entries = append(r.entries, kv{
			key: dbKey(nsKey, key), val: encodePointer(key, pointsIdentity, id, until), expires: s.badgerExpiry(until),
		})
	}
	fresh := *it
	fresh.refreshed = now
	s.cache.put(id, &fresh)
	if len(r.entries) > 0 {
		s.commit.send(r)
	}
}
