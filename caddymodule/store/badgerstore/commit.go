// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// maxGroup bounds how many requests share one transaction and one sync.
const maxGroup = 1024

// urgency says how near to a full disk a request may still be written.
type urgency uint8

const (
	newWork urgency = iota // refused below MinFree
	outcome                // refused below HardFloor
	lazy                   // kept in memory until it can be written
)

// kv is one entry of a request.
type kv struct {
	key, val []byte
	expires  uint64 // Badger's own expiry in Unix seconds, 0: never
	remove   bool
}

// request is one atomic change: all of its entries are written, or none.
type request struct {
	entries []kv
	urgency urgency
	done    chan error // nil for lazy requests

	lazyKeys []lazyKey     // what a lazy request makes clean in the cache
	claims   []delivery.ID // become RUNNING by this request
	leaves   []uint32      // claim slots, plus one, that lose one ID by this request
	slot     uint32        // the slot the claims got, plus one
}

type lazyKey struct {
	id     delivery.ID
	number uint64
}

// errUnsure marks the error of a commit that Badger may have written in part.
var errUnsure = errors.New("the write may have been made in part")

// committer writes requests in groups: what waits while one group is synced is
// the next group. There is no timer; waiting for company made everything slower.
type committer struct {
	s     *Store
	mu    sync.Mutex
	queue []*request
	spare []*request
	wake  chan struct{}
	nudge chan struct{}
	stop  chan struct{}
	ended chan struct{}

	// Owned by the goroutine.
	backlog []*request // lazy requests that could not be written yet, in order
	slots   slots
	lastTs  uint64
	groups  int64

	commits, failures atomic.Int64
	waiting           atomic.Int64          // length of the backlog
	trouble           atomic.Pointer[error] // the latest failure, nil after a success
}

func newCommitter(s *Store, lastTs uint64) *committer {
	return &committer{
		s: s, lastTs: lastTs,
		wake: make(chan struct{}, 1), nudge: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}),
	}
}

// write sends a request and waits for its group.
func (c *committer) write(r *request) error {
	r.done = make(chan error, 1)
	c.send(r)
	return <-r.done
}

// send hands a request over without waiting. A lazy one does not start a group
// of its own at once: for a moment it waits for a reservation to ride with, which
// saves a sync for each event on a quiet system.
func (c *committer) send(r *request) {
	c.mu.Lock()
	c.queue = append(c.queue, r)
	n := len(c.queue)
	c.mu.Unlock()
	to := c.wake
	if r.urgency == lazy && n < maxGroup/4 {
		to = c.nudge
	}
	select {
	case to <- struct{}{}:
	default:
	}
}

// patience is how long a lazy request waits for company.
const patience = 10 * time.Millisecond

// run is the goroutine. It ends after stop, when all that waited was tried.
func (c *committer) run() {
	defer close(c.ended)
	const firstPause, longestPause = 50 * time.Millisecond, 5 * time.Second
	pause := firstPause
	timer, armed := time.NewTimer(time.Hour), false
	defer timer.Stop()
	for {
		stopping := false
		select {
		case <-c.nudge:
			if !armed {
				timer.Reset(patience)
				armed = true
			}
			continue
		case <-c.wake:
		case <-timer.C:
		case <-c.stop:
			stopping = true
		}
		armed = false
		timer.Stop()
		c.drain()
		if stopping {
			return
		}
		if len(c.backlog) == 0 {
			pause = firstPause
			continue
		}
		timer.Reset(pause)
		armed = true
		pause = min(2*pause, longestPause)
	}
}

// drain writes the backlog and the queue.
func (c *committer) drain() {
	defer func() { c.waiting.Store(int64(len(c.backlog))) }()
	first := true
	for {
		c.mu.Lock()
		batch := c.queue
		c.queue, c.spare = c.spare[:0], nil
		c.mu.Unlock()
		if len(batch) == 0 && (!first || len(c.backlog) == 0) {
			c.spare = batch
			return
		}
		if len(batch) == 0 {
			c.group(nil)
		}
		first = false
		for all := batch; len(all) > 0; {
			n := min(len(all), maxGroup)
			c.group(all[:n])
			all = all[n:]
		}
		clear(batch)
		c.spare = batch[:0]
	}
}

// group writes requests as one transaction, or as several when they are too big
// for one.
func (c *committer) group(reqs []*request) {
	if len(c.backlog) > 0 {
		// What failed before goes first: a late retry of an old value must not
		// overwrite a newer one.
		reqs = append(c.backlog, reqs...)
		c.backlog = nil
	}
	reqs = c.admit(reqs)
	if len(reqs) == 0 {
		return
	}
	err := c.commit(reqs)
	if errors.Is(err, badger.ErrTxnTooBig) && len(reqs) > 1 {
		c.group(reqs[:len(reqs)/2])
		c.group(reqs[len(reqs)/2:])
		return
	}
	if err != nil {
		c.failures.Add(1)
		c.trouble.Store(&err)
		for _, r := range reqs {
			c.fail(r, err)
		}
		return
	}
	c.commits.Add(1)
	c.trouble.Store(nil)
	for _, r := range reqs {
		c.succeed(r)
	}
}

// admit asks the disk guard, and refuses who may not write now.
func (c *committer) admit(reqs []*request) []*request {
	mayNew, mayAny := c.s.guard.check()
	if mayNew == nil {
		return reqs
	}
	kept := make([]*request, 0, len(reqs))
	for _, r := range reqs {
		switch {
		case r.urgency == newWork:
			c.fail(r, mayNew)
		case mayAny != nil:
			c.fail(r, mayAny)
		default:
			kept = append(kept, r)
		}
	}
	return kept
}

// commit writes one transaction and syncs it.
func (c *committer) commit(reqs []*request) error {
	if err := c.s.opts.Failpoint(PointBeforeCommit); err != nil {
		return err
	}
	txn := c.s.db.NewTransactionAt(math.MaxUint64, true)
	defer txn.Discard()
	slot, entry := c.slots.claim(reqs)
	set := func(e *kv) error {
		if e.remove {
			return txn.Delete(e.key)
		}
		b := badger.NewEntry(e.key, e.val)
		b.ExpiresAt = e.expires
		return txn.SetEntry(b)
	}
	for _, r := range reqs {
		for i := range r.entries {
			if err := set(&r.entries[i]); err != nil {
				return err
			}
		}
	}
	if entry != nil {
		if err := set(entry); err != nil {
			return err
		}
	}
	c.lastTs = max(c.lastTs+1, uint64(c.s.opts.Now().UnixMicro()))
	if err := txn.CommitAt(c.lastTs, nil); err != nil {
		err = fmt.Errorf("%w: %w", errUnsure, err)
		if !errors.Is(err, badger.ErrTxnTooBig) {
			c.s.breakDown(err)
		}
		return err
	}
	c.s.mark.set(c.lastTs)
	if c.groups++; c.groups%64 == 0 {
		c.s.db.SetDiscardTs(c.lastTs - 1)
	}
	if err := c.s.opts.Failpoint(PointAfterCommit); err != nil {
		return fmt.Errorf("%w: %w", errUnsure, err)
	}
	c.slots.taken(slot, reqs)
	return nil
}

// fail tells a waiting request about the error; a lazy one is tried again.
func (c *committer) fail(r *request, err error) {
	if r.done == nil {
		c.backlog = append(c.backlog, r)
		return
	}
	r.done <- err
}

func (c *committer) succeed(r *request) {
	for _, k := range r.lazyKeys {
		c.s.cache.written(k.id, k.number)
	}
	for _, slot := range r.leaves {
		c.slots.left(slot)
	}
	if r.done != nil {
		r.done <- nil
	}
}

// stopAndWait ends the goroutine after a last try of everything. It returns an
// error when lazy requests are left that could not be written.
func (c *committer) stopAndWait() error {
	close(c.stop)
	<-c.ended
	if n := len(c.backlog); n > 0 {
		return fmt.Errorf("%d outcomes could not be written; their deliveries will be uncertain after the restart: %w", n, c.why())
	}
	return nil
}

// why is the latest failure.
func (c *committer) why() error {
	if err := c.trouble.Load(); err != nil {
		return *err
	}
	if _, err := c.s.guard.check(); err != nil {
		return err
	}
	return store.ErrFull
}
