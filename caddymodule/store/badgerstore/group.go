// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"errors"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"
)

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
	c.lastTS = max(c.lastTS+1, uint64(c.s.opts.Now().UnixMicro()))
	if err := txn.CommitAt(c.lastTS, nil); err != nil {
		err = fmt.Errorf("%w: %w", errUnsure, err)
		if !errors.Is(err, badger.ErrTxnTooBig) {
			c.s.breakDown(err)
		}
		return err
	}
	c.s.mark.set(c.lastTS)
	if c.groups++; c.groups%64 == 0 {
		c.s.db.SetDiscardTs(c.lastTS - 1)
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
