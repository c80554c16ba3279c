// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

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
	lastTS  uint64
	groups  int64

	commits, failures atomic.Int64
	waiting           atomic.Int64          // length of the backlog
	trouble           atomic.Pointer[error] // the latest failure, nil after a success
}

func newCommitter(s *Store, lastTS uint64) *committer {
	return &committer{
		s: s, lastTS: lastTS,
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
