// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"sync"
	"sync/atomic"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// maxCounts bounds the effects whose duplicates are counted in memory. Beyond it
// duplicates are answered as ever and not counted.
const maxCounts = 32 << 10

// counts holds duplicates that were answered and not written yet. Each effect is
// written at most once by each flush, however often it is repeated.
type counts struct {
	shards [16]countShard
	total  atomic.Int64
}

type countShard struct {
	mu sync.Mutex
	m  map[delivery.ID]count
}

type count struct {
	n    uint32
	last int64 // time of the latest duplicate
}

func (c *counts) shard(id delivery.ID) *countShard { return &c.shards[id[1]&15] }

// add counts one duplicate that r, as delivery.Step returned it, has counted.
func (c *counts) add(r *delivery.Record) {
	s := c.shard(r.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	n, known := s.m[r.ID]
	if !known {
		if c.total.Load() >= maxCounts {
			return
		}
		if s.m == nil {
			s.m = make(map[delivery.ID]count)
		}
		c.total.Add(1)
	}
	s.m[r.ID] = count{n.n + 1, max(n.last, r.LastSeen)}
}

// merge adds to r what was counted in memory, and returns how much that was.
func (c *counts) merge(r *delivery.Record) uint32 {
	if c.total.Load() == 0 {
		return 0
	}
	s := c.shard(r.ID)
	s.mu.Lock()
	n := s.m[r.ID]
	s.mu.Unlock()
	if n.n == 0 {
		return 0
	}
	same, _, err := delivery.Step(*r, delivery.Event{Kind: delivery.Same, At: n.last})
	if err != nil {
		return 0
	}
	*r = same
	r.Seen += n.n - 1
	return n.n
}

// consume takes back n duplicates that are in the stored value now, or all when
// the effect began anew.
func (c *counts) consume(id delivery.ID, n uint32, all bool) {
	if n == 0 && !all || c.total.Load() == 0 {
		return
	}
	s := c.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	k, known := s.m[id]
	if !known {
		return
	}
	if all || k.n <= n {
		delete(s.m, id)
		c.total.Add(-1)
		return
	}
	k.n -= n
	s.m[id] = k
}

// ids returns the effects that have something to be written.
func (c *counts) ids() []delivery.ID {
	ids := make([]delivery.ID, 0, c.total.Load())
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for id := range s.m {
			ids = append(ids, id)
		}
		s.mu.Unlock()
	}
	return ids
}

// flushCounts writes what was counted in memory. With a failing disk the counts
// stay where they are.
func (s *Store) flushCounts() {
	if s.commit.trouble.Load() != nil {
		return
	}
	for _, id := range s.counts.ids() {
		s.flushCount(id)
	}
}

func (s *Store) flushCount(id delivery.ID) {
	if !s.locks.tryLock(id) {
		return // somebody writes the record just now, and the count with it
	}
	defer s.locks.unlock(id)
	v, err := s.live(id)
	if err != nil || v.kind != kindRecord || v.counted == 0 {
		s.counts.consume(id, 0, true)
		return
	}
	after := v.rec
	c := s.change(&v, &after)
	c.writeLater()
}
