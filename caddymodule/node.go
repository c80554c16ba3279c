// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/lease"
	"github.com/hookonce/hookonce/caddymodule/spool"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// nodes holds the open nodes of this process. The key is the resource, not its
// options: two configurations that name one directory share one node, which is
// what makes a reload possible while requests still run.
var nodes lease.Registry[*node]

type nodeLease = *lease.Lease[*node]

// node is one open store with the spool and the running attempts beside it.
type node struct {
	store  store.Store
	spool  *spool.Spool
	hub    *hub
	boot   uint64
	seq    atomic.Uint64
	pepper []byte
	logger *zap.Logger

	stop context.CancelFunc
	done sync.WaitGroup
}

// spoolName returns a name that no other attempt has.
func (n *node) spoolName() (id delivery.ID) {
	binary.BigEndian.PutUint64(id[:8], n.boot)
	binary.BigEndian.PutUint64(id[8:], n.seq.Add(1))
	return id
}

func newBoot() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails, see crypto/rand
	return binary.BigEndian.Uint64(b[:]) | 1
}

// nodeOptions is what opening a node needs to know.
type nodeOptions struct {
	dir       string
	pepper    []byte // nil: the one in the directory, made at the first start
	spool     spool.Options
	openStore func(ctx context.Context, boot uint64) (store.Store, error)
	logger    *zap.Logger
	now       func() time.Time
}

// openNode opens store and spool and brings both to a common state. Nothing is
// served before it returns.
func openNode(ctx context.Context, o nodeOptions) (*node, error) {
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, fmt.Errorf("store directory %s: %w", o.dir, err)
	}
	n := &node{hub: newHub(), boot: newBoot(), logger: o.logger, pepper: o.pepper}
	var err error
	if n.store, err = o.openStore(ctx, n.boot); err != nil {
		return nil, err
	}
	if n.pepper == nil {
		if n.pepper, err = loadPepper(o.dir, o.spool.Dir); err != nil {
			return nil, errors.Join(err, n.store.Close())
		}
	}
	// A note of an outcome is needed until the store has written the outcome.
	o.spool.Hold = func() bool { return n.store.Stats().Unwritten > 0 }
	if err := checkPepper(o.dir, n.pepper); err != nil {
		return nil, errors.Join(err, n.store.Close())
	}
	if n.spool, err = spool.Open(o.spool); err != nil {
		return nil, errors.Join(fmt.Errorf("kept requests: %w", err), n.store.Close())
	}
	if err := n.recover(ctx, o.now); err != nil {
		return nil, errors.Join(err, n.spool.Close(), n.store.Close())
	}
	run, stop := context.WithCancel(context.Background())
	n.stop = stop
	n.done.Go(func() { n.housekeeping(run, o.now) })
	openNodes.add(n)
	return n, nil
}

func (n *node) close() error {
	openNodes.remove(n)
	n.stop()
	n.done.Wait()
	// The notes in the spool stand for outcomes until the store has written them.
	return errors.Join(n.store.Close(), n.spool.Close())
}

// openNodes lets metrics read every open store at scrape time.
var openNodes nodeSet

type nodeSet struct {
	mu  sync.Mutex
	all map[*node]struct{}
}

func (s *nodeSet) add(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = make(map[*node]struct{})
	}
	s.all[n] = struct{}{}
}

func (s *nodeSet) remove(n *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, n)
}

// each calls f for every open node, and keeps them open meanwhile.
func (s *nodeSet) each(f func(*node)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.all {
		f(n)
	}
}
