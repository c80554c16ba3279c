// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"sync"
	"sync/atomic"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// cache holds what must not be looked up in Badger: all open records, which are
// few, and every value whose write is still on its way to the disk. Where it
// knows a key it is the truth.
type cache struct {
	shards [64]cacheShard
	counts [delivery.Dropped + 1]atomic.Int64 // open records by state
	dead   atomic.Int64                       // READY, owed, and nothing will send it
}

type cacheShard struct {
	mu    sync.RWMutex
	items map[delivery.ID]*item
}

// item is one value. It is never changed after it was put, except for pending.
type item struct {
	raw       []byte
	state     delivery.State // None: no record, or a settled one
	dead      bool
	created   int64
	expires   int64
	slot      uint32 // RUNNING: the claim slot that names it, plus one
	pending   uint64 // number of the write that is on its way; 0: none
	refreshed int64  // when the pointers of a long-open record were prolonged
}

func (c *cache) shard(id delivery.ID) *cacheShard { return &c.shards[id[0]&63] }

// get returns the item of a key, or nil when Badger is to be asked.
func (c *cache) get(id delivery.ID) *item {
	s := c.shard(id)
	s.mu.RLock()
	it := s.items[id]
	s.mu.RUnlock()
	return it
}

// put stores the newest value of a key. What is neither open nor pending leaves
// the cache, for then Badger has it.
func (c *cache) put(id delivery.ID, it *item) {
	s := c.shard(id)
	s.mu.Lock()
	old := s.items[id]
	if it.state.Open() || it.pending != 0 {
		if s.items == nil {
			s.items = make(map[delivery.ID]*item)
		}
		s.items[id] = it
	} else if old != nil {
		delete(s.items, id)
	}
	s.mu.Unlock()
	c.count(old, -1)
	c.count(it, +1)
}

// written tells that the write with this number is durable.
func (c *cache) written(id delivery.ID, number uint64) {
	s := c.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	it := s.items[id]
	if it == nil || it.pending != number {
		return // a newer value is on its way
	}
	if !it.state.Open() {
		delete(s.items, id)
		return
	}
	clean := *it
	clean.pending = 0
	s.items[id] = &clean
}

func (c *cache) count(it *item, by int64) {
	if it == nil || !it.state.Open() {
		return
	}
	c.counts[it.state].Add(by)
	if it.dead {
		c.dead.Add(by)
	}
}

// open returns how many open records there are.
func (c *cache) open() int64 {
	return c.counts[delivery.Ready].Load() + c.counts[delivery.Running].Load() +
		c.counts[delivery.Uncertain].Load() + c.counts[delivery.Held].Load()
}

// each calls f for every open record. It holds the lock of one shard at a time,
// so f must be short and must not use the cache.
func (c *cache) each(f func(id delivery.ID, it *item)) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.RLock()
		for id, it := range s.items {
			if it.state.Open() {
				f(id, it)
			}
		}
		s.mu.RUnlock()
	}
}

// recordItem describes a record for the cache.
func recordItem(r *delivery.Record, raw []byte) *item {
	it := &item{raw: raw, created: r.Created, expires: r.ExpiresAt}
	if r.State.Open() {
		it.state, it.dead = r.State, r.DeadLetter()
	}
	return it
}
