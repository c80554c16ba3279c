// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"errors"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/spool"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// decide asks the store, which keeps the bytes where they may be needed, and
// acts on the verdict.
func (c *call) decide() error {
	v, err := c.reserve(c.lease.Value())
	if err != nil {
		return c.storeError(err)
	}
	return c.act(v)
}

// act does what a durable verdict says.
func (c *call) act(v delivery.Verdict) error {
	c.verdict = v
	c.h.metrics.verdict(v)
	switch v.Kind {
	case delivery.First:
		return c.attempt("first")
	case delivery.TakeOver:
		return c.attempt("first-again")
	case delivery.Join:
		return c.await()
	case delivery.Duplicate:
		return c.answerDuplicate()
	case delivery.NotYet:
		return c.notYet()
	case delivery.Accepted, delivery.Owed:
		return c.answerFixed("accepted")
	default: // Parked, HoldNew
		return c.answerFixed("held")
	}
}

// reserve makes the decision durable, and the bytes with it: the spool flushes
// beside the store, and nothing goes on before both are durable (I2).
func (c *call) reserve(n *node) (delivery.Verdict, error) {
	c.arrival.Kept, c.arrival.Keep = true, c.keep
	v, err := n.store.Reserve(detachedFrom(c.r), &c.arrival)
	if c.payload == nil {
		return v, err // the decision needed no bytes
	}
	kept := c.kept()
	switch {
	case err != nil: // O32: nothing was sent
		n.spool.Free(c.arrival.Spool)
		return v, err
	case kept != nil:
		c.unkept(n, v)
		n.spool.Free(v.Stale)
		return v, kept
	}
	if !v.Stale.IsZero() {
		n.spool.Free(v.Stale)
	}
	return v, nil
}

// kept waits until the bytes are durable and recycles their buffer.
func (c *call) kept() (err error) {
	if c.ticket != nil {
		err, c.ticket = c.ticket.Wait(), nil
	}
	recyclePayload(c.payload)
	c.payload = nil
	return err
}

// keep starts to keep the bytes; the store calls it when its decision needs
// them. What is held, or owed already, is on the disk before the decision is:
// nobody sends it again if its bytes are missing.
func (c *call) keep(v *delivery.Verdict) (delivery.ID, error) {
	n := c.lease.Value()
	c.payload = payloads.Get().(*[]byte)
	*c.payload = c.encode(*c.payload)
	if err := n.spool.Room(len(*c.payload)); err != nil { // T5
		return delivery.ID{}, err
	}
	c.arrival.Spool = n.spoolName()
	ticket := n.spool.Put(c.arrival.Spool, 0, *c.payload)
	if v.Record.Owed || v.Kind != delivery.First && v.Kind != delivery.TakeOver {
		return c.arrival.Spool, ticket.Wait()
	}
	c.ticket = ticket
	return c.arrival.Spool, nil
}

// unkept undoes a claim whose bytes could not be kept. Nothing was sent, so the
// effect is known not to be done, and the provider is asked to return.
func (c *call) unkept(n *node, v delivery.Verdict) {
	n.settle(v.Record.ID, delivery.Event{
		Kind: delivery.NotDoneRetry, At: c.h.now().UnixMilli(), Epoch: v.Record.Epoch,
		Reason: delivery.ReasonNotDelivered,
	})
}

// storeError refuses with a status that brings the provider back: fail closed.
func (c *call) storeError(err error) error {
	if errors.Is(err, store.ErrFull) || errors.Is(err, spool.ErrFull) {
		return c.retryLater("no_capacity", 30, err)
	}
	return c.retryLater("store_unavailable", 5, err)
}

// await waits for the attempt that runs (T16), and answers what it was
// answered. The attempt may have ended between our first look and the join, so
// what the store says after the join counts, also that this delivery may be
// sent.
func (c *call) await() error {
	n, id := c.lease.Value(), c.verdict.Record.ID
	f := n.hub.join(id)
	defer n.hub.leave(id, f)
	v, err := c.reserve(n)
	switch {
	case err != nil:
		return c.storeError(err)
	case v.Kind != delivery.Join || v.Record.ID != id:
		return c.act(v)
	}
	timer := time.NewTimer(c.h.inflightWait)
	defer timer.Stop()
	select {
	case <-f.done:
		return c.answerJoined(f.result)
	case <-timer.C:
		return c.retryInFlight()
	case <-c.r.Context().Done():
		return nil
	}
}
