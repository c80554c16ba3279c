// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// Store is a store.Store on Badger. Open makes one.
type Store struct {
	opts   Options
	db     *badger.DB
	lock   *os.File
	guard  *guard
	mark   *mark
	clock  *clock
	cache  cache
	locks  keyLocks
	counts counts
	commit *committer
	keeper *keeper

	life   sync.RWMutex // read-locked by every call, locked by Close
	closed bool
	number atomic.Uint64 // of lazy writes and audit entries
	hidden sync.Map      // keys of audit entries that were taken back; there are hardly any

	undone              atomic.Int64 // changes that were taken back
	impossible, corrupt atomic.Int64
	damaged             atomic.Pointer[error] // found after the start: refuse everything
}

// enter begins a call. The caller calls s.life.RUnlock when it got no error.
func (s *Store) enter() error {
	s.life.RLock()
	if s.closed {
		s.life.RUnlock()
		return store.ErrClosed
	}
	if err := s.damaged.Load(); err != nil {
		s.life.RUnlock()
		return *err
	}
	return nil
}

// breakDown refuses everything from now on. After a failed sync the kernel may
// have dropped what it could not write, and says nothing at the next sync; only
// a start, which reads what is really there, can be trusted again.
func (s *Store) breakDown(err error) {
	err = fmt.Errorf("the store stopped, because its disk failed; a restart reads what is there: %w", err)
	if s.damaged.CompareAndSwap(nil, &err) {
		s.opts.Logger.Error(err.Error())
	}
}

// read returns the newest value of a key, expired or not. The caller counts on
// it for a decision only while it holds the lock of the key.
func (s *Store) read(key delivery.ID) (value, error) {
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	return s.readWith(txn, key)
}

// readWith is read within a transaction at the end of time, which sees all that
// was committed by the moment of each single read.
func (s *Store) readWith(txn *badger.Txn, key delivery.ID) (value, error) {
	if it := s.cache.get(key); it != nil {
		return s.decode(key, it.raw)
	}
	entry, err := txn.Get(dbKey(nsKey, key))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return value{}, nil
	}
	if err != nil {
		return value{}, fmt.Errorf("read %s: %w", key.Short(), err)
	}
	var v value
	err = entry.Value(func(raw []byte) error {
		v, err = s.decode(key, raw)
		return err
	})
	return v, err
}

func (s *Store) decode(key delivery.ID, raw []byte) (value, error) {
	v, err := decodeValue(key, raw)
	if err != nil {
		s.corrupt.Add(1)
	}
	return v, err
}

// live returns the record under an ID with the duplicates that were only counted
// in memory so far; v.kind is kindRecord only for one that is not expired.
func (s *Store) live(id delivery.ID) (value, error) {
	v, err := s.read(id)
	if err != nil {
		return value{}, err
	}
	return s.alive(v), nil
}

// alive completes a value that was read under an ID; it is the zero value unless
// it is a record that is not expired.
func (s *Store) alive(v value) value {
	if v.kind != kindRecord {
		return value{}
	}
	v.counted = s.counts.merge(&v.rec)
	if v.rec.Expired(s.clock.read()) {
		return value{}
	}
	return v
}

// Get implements store.Store.
func (s *Store) Get(_ context.Context, id delivery.ID) (delivery.Record, error) {
	if err := s.enter(); err != nil {
		return delivery.Record{}, err
	}
	defer s.life.RUnlock()
	v, err := s.live(id)
	if err != nil {
		return delivery.Record{}, err
	}
	if v.kind != kindRecord {
		return delivery.Record{}, fmt.Errorf("%w: %s", store.ErrNotFound, id)
	}
	return v.rec, nil
}

// Ready implements store.Store.
func (s *Store) Ready() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.life.RUnlock()
	if err := s.commit.trouble.Load(); err != nil {
		return *err
	}
	if err, _ := s.guard.check(); err != nil {
		return err
	}
	return s.roomForOne()
}

// roomForOne refuses one more open record when there are too many.
func (s *Store) roomForOne() error {
	if n := s.cache.open(); n >= int64(s.opts.MaxOpen) {
		return fmt.Errorf("%w: %d deliveries are not settled", store.ErrFull, n)
	}
	return nil
}

// Stats implements store.Store.
func (s *Store) Stats() store.Stats {
	n := func(state delivery.State) int64 { return s.cache.counts[state].Load() }
	return store.Stats{
		Ready: n(delivery.Ready), Running: n(delivery.Running),
		Uncertain: n(delivery.Uncertain), Held: n(delivery.Held),
		DeadLetters: s.cache.dead.Load(),
		DiskBytes:   s.guard.size.Load(), FreeBytes: s.guard.free.Load(),
		Commits: s.commit.commits.Load(), CommitErrors: s.commit.failures.Load(),
		Unwritten:  s.commit.waiting.Load(),
		Impossible: s.impossible.Load(), Corrupt: s.corrupt.Load(),
		Full: errors.Is(s.Ready(), store.ErrFull),
	}
}

// Close waits for running calls, writes what is still in memory and closes
// Badger. Calls after it return store.ErrClosed.
func (s *Store) Close() error {
	s.keeper.stop()
	s.life.Lock()
	defer s.life.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.flushCounts()
	s.commit.send(&request{urgency: lazy, entries: []kv{s.clockEntry()}})
	err := s.commit.stopAndWait()
	return errors.Join(err, s.closeFiles())
}

// closeFiles closes what was opened, in the opposite order.
func (s *Store) closeFiles() error {
	var err error
	if s.db != nil {
		err = s.closeBadger()
	}
	if s.mark != nil {
		err = errors.Join(err, s.mark.close())
	}
	return errors.Join(err, s.lock.Close())
}

// closeBadger lets Badger write its memory table, for which it needs room. On a
// full disk it is left as a crash would leave it; its log has everything.
func (s *Store) closeBadger() error {
	const need = 3 * memTableSize
	free, _, err := s.guard.measure(s.opts.Dir)
	if err == nil && free < min(need, s.guard.floor) && s.guard.giveUpBallast() {
		free, _, err = s.guard.measure(s.opts.Dir)
	}
	if err != nil || free < min(need, s.guard.floor) {
		return fmt.Errorf("badger is not closed in order, its log is replayed at the next start: %w", s.guard.full(free, need))
	}
	closed := make(chan error, 1)
	go func() { closed <- s.db.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			return fmt.Errorf("close badger: %w", err)
		}
		return nil
	case <-time.After(10 * time.Second):
		// Badger tries for ever when it cannot write its memory table.
		return errors.New("badger is not closed in order: it could not write its memory table within ten seconds")
	}
}

// badgerExpiry turns the end of a window into Badger's own expiry, which only
// frees disk. It lies a day later than ours and is measured from the real clock
// now, so that a wrong clock has to be wrong by more than a day to matter.
func (s *Store) badgerExpiry(expires int64) uint64 {
	left := time.Duration(expires-s.clock.read()) * time.Millisecond
	at := time.Now().Add(max(left, 0) + 24*time.Hour)
	if at.Year() < 2026 {
		return 0
	}
	return uint64(at.Unix())
}

// randomID makes the ID of an effect that no key names.
func randomID() delivery.ID {
	var id delivery.ID
	rand.Read(id[:]) // never fails, and ends the process if it must
	return id
}

// Interface guard.
var _ store.Store = (*Store)(nil)
