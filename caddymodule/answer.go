// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"errors"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/verify"
)

// statusHeader tells the provider, and whoever looks at its dashboard, what
// became of the delivery.
const statusHeader = "Hookonce-Status"

// answer is what the app said, kept for those who waited and for replay.
type answer struct {
	status  int
	header  http.Header
	trailer http.Header
	body    []byte
	cut     bool // the body was too large to keep
}

// errRefused is the cause of refusals that need no further words.
var errRefused = errors.New("delivery refused")

// refuse ends the request with a status that Caddy's error routes may dress up.
func (c *call) refuse(status int, reason string, cause error) error {
	c.status = "refused; reason=" + reason
	c.w.Header().Set(statusHeader, c.status)
	c.h.metrics.refused(reason)
	c.logRefusal(reason, cause)
	if cause == nil {
		cause = errRefused
	}
	return caddyhttp.Error(status, cause)
}

// unauthorized answers all causes alike; only log and metric know the reason.
func (c *call) unauthorized(why verify.Reason) error {
	c.status = "refused"
	c.w.Header().Set(statusHeader, c.status)
	c.h.metrics.refused(string(why))
	c.logRefusal(string(why), nil)
	return caddyhttp.Error(c.h.preset.Responses.BadSignature, errRefused)
}

// retryLater asks the provider to come back. Nothing was claimed.
func (c *call) retryLater(reason string, seconds int, cause error) error {
	c.h.metrics.refused(reason)
	c.logRefusal(reason, cause)
	c.reply(c.h.RetryStatus, "refused; reason="+reason, seconds)
	return nil
}

// reply writes an answer of our own without a body.
func (c *call) reply(status int, word string, retryAfter int) {
	c.status = word
	head := c.w.Header()
	head.Set(statusHeader, word)
	if retryAfter > 0 {
		head.Set("Retry-After", strconv.Itoa(retryAfter))
	}
	c.w.WriteHeader(status)
}

// answerFixed answers what is in our hands: parked, held or taken in.
func (c *call) answerFixed(word string) error {
	if err := c.keepAgain(); err != nil {
		return c.storeError(err)
	}
	c.reply(http.StatusOK, word, 0)
	c.logDecision()
	return nil
}

// notYet is a repeat that came before the time the app asked for (O8).
func (c *call) notYet() error {
	wait := time.Duration(c.verdict.Record.NextAt-c.arrival.At) * time.Millisecond
	c.reply(c.h.RetryStatus, "not-delivered", max(1, int((wait+time.Second-1)/time.Second)))
	c.logDecision()
	return nil
}

// retryInFlight is the end of the wait for a running attempt. It is never 2xx:
// if the attempt fails after all, the provider must still come back.
func (c *call) retryInFlight() error {
	c.reply(c.h.inflightStatus(), "in-progress", 5)
	c.logDecision()
	return nil
}

// answerDuplicate answers what is done or dropped (T29).
func (c *call) answerDuplicate() error {
	h := c.h
	if h.DuplicateReplay {
		if a, err := c.storedAnswer(); err == nil && a != nil {
			c.write(a, "duplicate")
			c.logDecision()
			return nil
		} else if err != nil {
			h.logger.Warn("the first answer cannot be repeated", zap.Error(err))
		}
	}
	c.status = "duplicate"
	c.w.Header().Set(statusHeader, c.status)
	c.w.WriteHeader(h.DuplicateStatus)
	if h.DuplicateBody != "" {
		_, _ = c.w.Write([]byte(h.DuplicateBody)) // the provider may have gone
	}
	c.logDecision()
	return nil
}

// answerJoined tells a repeat what the attempt it waited for was told.
func (c *call) answerJoined(r *result) error {
	c.outcome = r.outcome
	if r.record.State != delivery.None {
		c.verdict.Record = r.record
	}
	return c.answerOutcome(r.outcome, r.answer, "in-progress")
}

// answerOutcome is the column "relay answer" of the outcome table.
func (c *call) answerOutcome(o delivery.Outcome, a *answer, word string) error {
	defer c.logDecision()
	switch {
	case o.Class == delivery.Unknown && c.h.policy.RetryUncertain:
		c.reply(c.h.RetryStatus, "not-delivered", 30)
	case o.Reason == delivery.ReasonUpgrade: // O22
		c.reply(http.StatusBadGateway, "held", 0)
	case o.Class == delivery.Unknown:
		c.reply(http.StatusOK, "held", 0)
	case o.Reason == delivery.ReasonPanic: // O34
		c.reply(http.StatusInternalServerError, "not-delivered", 0)
	case a != nil:
		c.write(a, word)
	default:
		c.reply(c.h.RetryStatus, "not-delivered", max(1, int(o.RetryAfter/time.Second)))
	}
	return nil
}

// write copies an answer of the app to the provider.
func (c *call) write(a *answer, word string) {
	c.status = word
	head := c.w.Header()
	maps.Copy(head, a.header)
	head.Set(statusHeader, word)
	if a.cut {
		head.Del("Content-Length")
	}
	for name := range a.trailer {
		head.Add("Trailer", name)
	}
	c.w.WriteHeader(a.status)
	if !a.cut {
		_, _ = c.w.Write(a.body) // the provider may have gone; the outcome stands
	}
	maps.Copy(head, a.trailer)
}
