// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"slices"
	"sync"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// keyLocks locks single keys, so that work on one effect never waits for the
// sync of another. Everybody who writes a key holds its lock until the write is
// durable; that is what makes a decision over several keys atomic.
//
// Several keys are always locked in ascending order. Who finds out that it needs
// one more unlocks all and starts again with the larger set, so there is no cycle.
type keyLocks struct {
	stripes [256]lockStripe
}

type lockStripe struct {
	mu   sync.Mutex
	held map[delivery.ID]*keyLock
	free []*keyLock
}

type keyLock struct {
	mu   sync.Mutex
	refs int // who holds it and who waits, guarded by the stripe
}

// stripe picks by the last byte; the first ones pick the shard of the cache.
func (l *keyLocks) stripe(id delivery.ID) *lockStripe { return &l.stripes[id[15]] }

func (l *keyLocks) lock(id delivery.ID) {
	s := l.stripe(id)
	s.mu.Lock()
	k := s.held[id]
	if k == nil {
		k = s.add(id)
	}
	k.refs++
	s.mu.Unlock()
	k.mu.Lock()
}

// tryLock locks the key if nobody holds it.
func (l *keyLocks) tryLock(id delivery.ID) bool {
	s := l.stripe(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[id] != nil {
		return false
	}
	k := s.add(id)
	k.refs++
	k.mu.Lock()
	return true
}

func (l *keyLocks) unlock(id delivery.ID) {
	s := l.stripe(id)
	s.mu.Lock()
	k := s.held[id]
	k.mu.Unlock()
	if k.refs--; k.refs == 0 {
		delete(s.held, id)
		if len(s.free) < 8 {
			s.free = append(s.free, k)
		}
	}
	s.mu.Unlock()
}

// isHeld reports whether a write of the key may be on its way.
func (l *keyLocks) isHeld(id delivery.ID) bool {
	s := l.stripe(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.held[id] != nil
}

func (s *lockStripe) add(id delivery.ID) *keyLock {
	if s.held == nil {
		s.held = make(map[delivery.ID]*keyLock)
	}
	k := new(keyLock)
	if n := len(s.free); n > 0 {
		k, s.free = s.free[n-1], s.free[:n-1]
	}
	s.held[id] = k
	return k
}

// lockSet is an ascending set of keys that are locked together.
type lockSet []delivery.ID

func (set lockSet) has(id delivery.ID) bool {
	_, found := slices.BinarySearchFunc(set, id, compareIDs)
	return found
}

// add puts a key into the set, in its place; the zero ID is no key.
func (set *lockSet) add(id delivery.ID) {
	if id.IsZero() {
		return
	}
	if at, found := slices.BinarySearchFunc(*set, id, compareIDs); !found {
		*set = slices.Insert(*set, at, id)
	}
}

func (l *keyLocks) lockAll(set lockSet) {
	for _, id := range set {
		l.lock(id)
	}
}

func (l *keyLocks) unlockAll(set lockSet) {
	for _, id := range set {
		l.unlock(id)
	}
}

func compareIDs(a, b delivery.ID) int { return slices.Compare(a[:], b[:]) }
