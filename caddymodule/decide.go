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

// decide asks the store, keeps the bytes where they may be needed, and acts on
// the verdict.
func (c *call) decide() error {
	n := c.lease.Value()
	v, settled, err := n.store.Peek(c.r.Context(), &c.arrival)
	if err != nil {
		return c.storeError(err)
	}
	if !settled {
		if v, err = c.reserve(n, v.Kind == delivery.HoldNew); err != nil {
			return err
		}
	}
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

// reserve keeps the bytes and writes the decision, both at once: the spool
// flushes beside the store, and nothing goes on before both are durable (I2).
// What is held for a person is kept first: nobody sends it again if its bytes
// are missing.
func (c *call) reserve(n *node, keepFirst bool) (delivery.Verdict, error) {
	payload := c.encode()
	if err := n.spool.Room(len(payload)); err != nil { // T5
		return delivery.Verdict{}, c.storeError(err)
	}
	name := n.spoolName()
	c.arrival.Kept, c.arrival.Spool = true, name
	ticket := n.spool.Put(name, 0, payload)
	var kept error
	if keepFirst {
		if kept = ticket.Wait(); kept != nil {
			return delivery.Verdict{}, c.storeError(kept)
		}
	}
	v, err := n.store.Reserve(detachedFrom(c.r), &c.arrival)
	if !keepFirst {
		kept = ticket.Wait()
	}
	switch {
	case err != nil: // O32: nothing was sent
		n.spool.Free(name)
		return v, c.storeError(err)
	case v.Record.Spool != name: // lost a race: the winner's bytes count
		n.spool.Free(name)
		return v, nil
	case kept != nil:
		return v, c.unkept(n, v, kept)
	}
	if !v.Stale.IsZero() {
		n.spool.Free(v.Stale)
	}
	return v, nil
}

// unkept undoes a claim whose bytes could not be kept. Nothing was sent, so the
// effect is known not to be done, and the provider is asked to return.
func (c *call) unkept(n *node, v delivery.Verdict, cause error) error {
	if v.Record.State == delivery.Running {
		n.settle(v.Record.ID, delivery.Event{
			Kind: delivery.NotDoneRetry, At: c.h.now().UnixMilli(), Epoch: v.Record.Epoch,
			Reason: delivery.ReasonNotDelivered,
		})
	}
	return c.storeError(cause)
}

// storeError refuses with a status that brings the provider back: fail closed.
func (c *call) storeError(err error) error {
	if errors.Is(err, store.ErrFull) || errors.Is(err, spool.ErrFull) {
		return c.retryLater("no_capacity", 30, err)
	}
	return c.retryLater("store_unavailable", 5, err)
}

// await waits for the attempt that runs (T16), and answers what it was
// answered.
func (c *call) await() error {
	n, id := c.lease.Value(), c.verdict.Record.ID
	f := n.hub.join(id)
	defer n.hub.leave(id, f)

	// The attempt may have ended between our first look and the join.
	v, settled, err := n.store.Peek(c.r.Context(), &c.arrival)
	switch {
	case err != nil:
		return c.storeError(err)
	case !settled:
		// It failed meanwhile, and this delivery may be the one that is sent. The
		// provider's next try finds the same; asking for it keeps this path simple.
		return c.retryLater("in_flight_failed", 1, nil)
	case v.Kind != delivery.Join:
		c.verdict = v
		if v.Kind == delivery.Duplicate {
			return c.answerDuplicate()
		}
		return c.answerFixed("held")
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
