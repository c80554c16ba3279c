// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"sync"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// hub knows the attempts that run in this process. The store is the truth about
// everything settled; the hub is the truth about what runs here now, across
// config generations and sites that share a store.
type hub struct {
	shards [64]hubShard
}

type hubShard struct {
	mu      sync.Mutex
	flights map[delivery.ID]*flight
}

// flight is one running attempt, or the wish to hear of one.
type flight struct {
	done    chan struct{} // closed by publish; made by the first waiter
	result  *result
	waiters int
	running bool
}

// result is what everybody who waited for an attempt is told.
type result struct {
	outcome delivery.Outcome
	record  delivery.Record
	answer  *answer // nil when the app gave none
}

func newHub() *hub {
	h := new(hub)
	for i := range h.shards {
		h.shards[i].flights = make(map[delivery.ID]*flight)
	}
	return h
}

func (h *hub) shard(id delivery.ID) *hubShard { return &h.shards[id[0]&63] }

// start notes that an attempt runs. Waiters may have come before: they read
// RUNNING in the store in the moment between its commit and this call.
func (h *hub) start(id delivery.ID) {
	s := h.shard(id)
	s.mu.Lock()
	f := s.flights[id]
	if f == nil {
		f = new(flight)
		s.flights[id] = f
	}
	f.running = true
	s.mu.Unlock()
}

// publish ends the attempt and tells everybody who waits.
func (h *hub) publish(id delivery.ID, r *result) {
	s := h.shard(id)
	s.mu.Lock()
	if f := s.flights[id]; f != nil {
		f.result = r
		if f.done != nil {
			close(f.done)
		}
		delete(s.flights, id)
	}
	s.mu.Unlock()
}

// join adds a waiter. The caller must look at the store once more afterwards:
// the attempt may have been published between its first look and this call.
func (h *hub) join(id delivery.ID) *flight {
	s := h.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.flights[id]
	if f == nil {
		f = new(flight)
		s.flights[id] = f
	}
	if f.done == nil {
		f.done = make(chan struct{})
	}
	f.waiters++
	return f
}

// leave takes a waiter back.
func (h *hub) leave(id delivery.ID, f *flight) {
	s := h.shard(id)
	s.mu.Lock()
	f.waiters--
	if f.waiters == 0 && !f.running && s.flights[id] == f {
		delete(s.flights, id)
	}
	s.mu.Unlock()
}

// running counts the attempts of this process.
func (h *hub) running() (n int) {
	for i := range h.shards {
		s := &h.shards[i]
		s.mu.Lock()
		for _, f := range s.flights {
			if f.running {
				n++
			}
		}
		s.mu.Unlock()
	}
	return n
}
