// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package lease shares open resources, such as the store of a directory, between
// configurations that come and go. The first lease opens the resource, the last
// one closes it, and a request keeps a lease of its own for as long as it runs.
package lease

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
)

// ErrReleased is returned by Clone when the lease was released before.
var ErrReleased = errors.New("lease was released")

// Registry holds at most one open resource for each key. Its zero value is ready.
type Registry[T any] struct {
	mu    sync.Mutex
	slots map[string]*slot[T]
}

// slot is the place of one key. It exists while anybody uses it.
type slot[T any] struct {
	// users counts, under Registry.mu, those who wait for the slot, open or close
	// it, and as one user all leases of the open handle together.
	users int

	// turn is held while opening, closing or taking up the handle. It is a channel
	// of one, so that a waiter can give up.
	turn   chan struct{}
	handle *handle[T] // nil: not open; changed only by who holds the turn
}

// handle is one opened resource.
type handle[T any] struct {
	value  T
	close  func(T) error
	leases atomic.Int64 // those of Acquire and their clones
}

// Lease is the right to use a resource until Release.
type Lease[T any] struct {
	registry *Registry[T]
	key      string
	slot     *slot[T]
	handle   *handle[T]
	released atomic.Bool
}

// Acquire returns a lease of the resource under key, and opens it when nobody
// has it open. While somebody else opens or closes it Acquire waits, until ctx
// ends. A failed open is returned and not remembered: the next in line tries
// again. An open resource keeps the close function it was opened with.
func (r *Registry[T]) Acquire(ctx context.Context, key string, open func() (T, error), close func(T) error) (*Lease[T], error) {
	s := r.join(key)
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		err := fmt.Errorf("waiting for %s: %w", key, context.Cause(ctx))
		return nil, errors.Join(err, r.leave(key, s))
	}
	defer func() { <-s.turn }()
	if s.handle == nil {
		opened := false
		defer func() {
			if !opened { // open failed or panicked
				r.part(key, s)
			}
		}()
		value, err := open()
		if err != nil {
			return nil, err
		}
		opened = true
		s.handle = &handle[T]{value: value, close: close}
	}
	if s.handle.leases.Add(1) > 1 {
		r.part(key, s) // its leases count as one user, and had one already
	}
	return &Lease[T]{registry: r, key: key, slot: s, handle: s.handle}, nil
}

// join returns the slot of the key with the caller as one more user.
func (r *Registry[T]) join(key string) *slot[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.slots == nil {
		r.slots = make(map[string]*slot[T])
	}
	s := r.slots[key]
	if s == nil {
		s = &slot[T]{turn: make(chan struct{}, 1)}
		r.slots[key] = s
	}
	s.users++
	return s
}

// part takes off one user, and removes the slot with the last one.
func (r *Registry[T]) part(key string, s *slot[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(r.slots, key)
	}
}

// partUnlessLast takes off one user if there are others, who then have to close.
func (r *Registry[T]) partUnlessLast(s *slot[T]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.users > 1 {
		s.users--
		return true
	}
	return false
}

// leave takes off one user and closes what is open if it was the last one. Until
// the resource is closed the caller still counts, so that whoever comes meanwhile
// waits for the turn, and whoever came before the turn was taken finds it open.
func (r *Registry[T]) leave(key string, s *slot[T]) error {
	if r.partUnlessLast(s) {
		return nil
	}
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	if r.partUnlessLast(s) {
		return nil
	}
	defer r.part(key, s)
	h := s.handle
	if h == nil {
		return nil
	}
	s.handle = nil
	if err := h.close(h.value); err != nil {
		return fmt.Errorf("closing %s: %w", key, err)
	}
	return nil
}

// Value returns the resource. It must not be used after Release.
func (l *Lease[T]) Value() T { return l.handle.value }

// Clone returns another lease of the same resource without waiting or locking.
// It fails with ErrReleased when nobody holds the resource any more; while the
// receiver is not released it cannot fail.
func (l *Lease[T]) Clone() (*Lease[T], error) {
	if l.released.Load() {
		return nil, ErrReleased
	}
	for {
		n := l.handle.leases.Load()
		if n == 0 {
			return nil, ErrReleased
		}
		if l.handle.leases.CompareAndSwap(n, n+1) {
			return &Lease[T]{registry: l.registry, key: l.key, slot: l.slot, handle: l.handle}, nil
		}
	}
}

// Release gives the lease back; the last one closes the resource and returns the
// error of that. Further calls do nothing.
func (l *Lease[T]) Release() error {
	if l.released.Swap(true) || l.handle.leases.Add(-1) > 0 {
		return nil
	}
	return l.registry.leave(l.key, l.slot)
}

// DirKey returns the key of a directory: its absolute path without symbolic
// links, so that two spellings of one directory share a slot. What does not exist
// yet is taken as it is written.
func DirKey(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", path, err)
	}
	rest := ""
	for dir := abs; ; dir = filepath.Dir(dir) {
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return "", fmt.Errorf("resolving %s: %w", path, err)
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}
