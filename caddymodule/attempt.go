// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/forward"
	"github.com/hookonce/hookonce/caddymodule/spool"
)

// sent is what came of one attempt.
type sent struct {
	evidence delivery.Evidence
	answer   *answer // nil when there was none
	streamed bool    // the answer was too large to keep and went to the provider as it came
	err      error   // a local handler's refusal, for Caddy's error routes
	cause    error   // why there is no answer, for the log
}

// attempt sends the delivery, records the outcome, tells those who wait, and
// answers. It runs in the handler's goroutine: when the provider hangs up only
// the request's context ends, and the attempt does not depend on it (O24).
func (c *call) attempt(word string) error {
	n, rec := c.lease.Value(), c.verdict.Record
	n.hub.start(rec.ID)
	concluded := false
	defer func() {
		if !concluded { // a panic of our own: nobody may wait for ever
			c.conclude(n, rec, &sent{evidence: delivery.Evidence{Panicked: true, Connections: 1}})
		}
	}()
	began := c.h.now()
	s := c.send(word)
	o := c.conclude(n, rec, s)
	concluded = true
	c.h.metrics.attempt(o, c.h.now().Sub(began))
	if s.cause != nil {
		c.logAttempt(o, s.cause)
	}
	switch {
	case s.streamed && o.Reason == delivery.ReasonTruncated: // O3, the head is out
		c.logDecision()
		panic(http.ErrAbortHandler)
	case s.streamed:
		c.logDecision()
		return nil
	case s.err != nil && o.Class == delivery.NotDoneFinal:
		c.status = "not-delivered"
		c.w.Header().Set(statusHeader, c.status)
		c.logDecision()
		return s.err
	}
	return c.answerOutcome(o, s.answer, word)
}

// conclude classifies what happened and writes it down: first a note in the
// spool that survives the death of this process, then the record, and only then
// the news to those who wait.
func (c *call) conclude(n *node, rec delivery.Record, s *sent) delivery.Outcome {
	h, now := c.h, c.h.now()
	o := delivery.Classify(s.evidence, h.contract)
	c.outcome = o
	if o.Class != delivery.Unknown && rec.Kept {
		mark := spool.Mark{Class: uint8(o.Class), Status: uint16(o.Status), At: now.UnixMilli()}
		if err := n.spool.Settle(rec.Spool, rec.Epoch, mark); err != nil {
			h.logger.Warn("noting an outcome failed; a crash in this moment would leave the delivery uncertain",
				zap.String("delivery", rec.ID.Short()), zap.Error(err))
		}
	}
	if h.DuplicateReplay && o.Class == delivery.Done && s.answer != nil {
		c.storeAnswer(n, rec.ID, s.answer)
	}
	ev := delivery.Event{
		Kind: o.Class, At: now.UnixMilli(), Epoch: rec.Epoch, Reason: o.Reason, Status: o.Status,
		RetryUncertain: h.policy.RetryUncertain,
	}
	if o.RetryAfter > 0 {
		ev.RetryAt = now.Add(o.RetryAfter).UnixMilli()
	}
	after, acts, ok := n.settle(rec.ID, ev)
	if ok {
		c.verdict.Record = after
		if acts.Has(delivery.Free) {
			n.spool.Free(after.Spool)
		}
		if acts.Has(delivery.Alarm) {
			h.metrics.alarm(after.Reason)
		}
	}
	n.hub.publish(rec.ID, &result{outcome: o, record: c.verdict.Record, answer: s.answer})
	return o
}

// send makes the attempt by the route's way to the app.
func (c *call) send(word string) *sent {
	switch {
	case c.h.forwarder != nil:
		return c.sendUpstream(word)
	case c.h.chain != nil:
		return c.sendHandler(c.h.chain, word)
	default:
		return c.sendHandler(c.next, word)
	}
}

// sendUpstream uses our own forwarder.
func (c *call) sendUpstream(word string) *sent {
	ctx, cancel := c.detached()
	defer cancel()
	s := new(sent)
	req := forwardRequest(c.r, c.body)
	req.Overflow = func(a *forward.Attempt) writer {
		c.write(&answer{status: a.Status, header: a.Header, body: a.Body}, word)
		s.streamed = true
		return boundedWriter{c.w}
	}
	a := c.h.forwarder.Do(ctx, req)
	s.evidence, s.cause = a.Evidence, a.Err
	if a.Status != 0 {
		s.answer = &answer{status: a.Status, header: a.Header, trailer: a.Trailer, body: a.Body, cut: a.Overflowed}
	}
	return s
}

// boundedWriter limits each write to the provider, because an attempt waits for
// it.
type boundedWriter struct{ w http.ResponseWriter }

func (b boundedWriter) Write(p []byte) (int, error) {
	_ = http.NewResponseController(b.w).SetWriteDeadline(time.Now().Add(10 * time.Second)) // best effort: not every writer has one
	return b.w.Write(p)
}
