// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/hex"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// decisionOf is the word of the decision record.
func decisionOf(k delivery.VerdictKind) string {
	switch k {
	case delivery.First, delivery.TakeOver, delivery.Accepted:
		return "process"
	case delivery.Duplicate, delivery.Owed, delivery.Join, delivery.NotYet:
		return "skip"
	case delivery.Parked, delivery.HoldNew:
		return "review"
	default:
		return ""
	}
}

// rationale says in one sentence why. It never holds text that a sender chose.
func rationale(v *delivery.Verdict) string {
	switch v.Kind {
	case delivery.First:
		switch {
		case v.BodySeen:
			return "new ID over a known body, forwarded by the route's same_body rule"
		case v.IDReused:
			return "known ID that the signature does not cover, with a new body"
		}
		return "first delivery of this identity"
	case delivery.TakeOver:
		return "the attempt before is known not to have done the work"
	case delivery.Join:
		return "an attempt is running"
	case delivery.NotYet:
		return "known not to be done, but the app asked for time"
	case delivery.Accepted, delivery.Owed:
		return "taken in, to be sent by us"
	case delivery.Duplicate:
		if v.Record.State == delivery.Dropped {
			return "dropped by decision"
		}
		return "the app confirmed this effect"
	}
	return reviewRationale(v.Record.State, v.Record.Reason)
}

func reviewRationale(s delivery.State, why delivery.Reason) string {
	if s == delivery.Uncertain {
		return "sent before, and nobody knows whether it was done"
	}
	switch why {
	case delivery.ReasonContentMismatch:
		return "known signed identity with other content"
	case delivery.ReasonSameBody:
		return "known body under a new ID that the signature does not cover"
	case delivery.ReasonNoSafeKey:
		return "no ID, and nothing safe to take its place"
	case delivery.ReasonAmbiguousID:
		return "the ID can be read in more than one way"
	case delivery.ReasonAliasConflict:
		return "its keys point to two different effects"
	default:
		return "waits for a person"
	}
}

// logDecision writes the decision record: one line for each delivery that
// passed verification.
func (c *call) logDecision() {
	took := c.h.now().Sub(c.started)
	c.h.metrics.decided(c.status, took)
	level := zapcore.InfoLevel
	if d := decisionOf(c.verdict.Kind); d == "review" || c.outcome.Class == delivery.Unknown {
		level = zapcore.WarnLevel
	}
	entry := c.h.logger.Check(level, "delivery")
	if entry == nil {
		return
	}
	v := &c.verdict
	fields := make([]zap.Field, 0, 16)
	fields = append(fields,
		zap.String("route", c.h.Name),
		zap.String("status", c.status),
		zap.String("decision", decisionOf(v.Kind)),
		zap.String("key", v.Record.ID.Short()),
		zap.String("fingerprint", hex.EncodeToString(c.arrival.Body[:4])),
		zap.String("rationale", rationale(v)),
		zap.String("confidence", c.arrival.Strength.Confidence()),
		zap.String("strength", c.arrival.Strength.String()),
		zap.String("secret", c.arrival.SecretID),
		zap.Uint32("attempt", v.Record.Attempts),
		zap.Duration("duration", took.Round(time.Microsecond)),
	)
	if !v.Record.Peer.IsZero() {
		fields = append(fields, zap.String("matched_fingerprint", v.Record.Peer.Short()))
	}
	if c.outcome.Class != 0 {
		fields = append(fields, zap.Stringer("outcome", c.outcome.Class), zap.String("reason", string(c.outcome.Reason)))
		if c.outcome.Status != 0 {
			fields = append(fields, zap.Int("upstream_status", c.outcome.Status))
		}
	} else if v.Record.Reason != "" {
		fields = append(fields, zap.String("reason", string(v.Record.Reason)))
	}
	if p := c.keys.Problem; p.Code != "" {
		fields = append(fields, zap.Stringer("problem", p))
	}
	entry.Write(fields...)
}

// logRefusal writes why a request was refused. Refusals can be made by
// anybody, so they are logged at debug level unless they have a cause of ours.
func (c *call) logRefusal(reason string, cause error) {
	level := zapcore.DebugLevel
	if cause != nil {
		level = zapcore.ErrorLevel
	}
	if entry := c.h.logger.Check(level, "refused"); entry != nil {
		entry.Write(zap.String("route", c.h.Name), zap.String("reason", reason), zap.Error(cause))
	}
}

// logAttempt writes why an attempt brought no answer.
func (c *call) logAttempt(o delivery.Outcome, cause error) {
	if entry := c.h.logger.Check(zapcore.WarnLevel, "attempt brought no complete answer"); entry != nil {
		entry.Write(zap.String("route", c.h.Name), zap.String("key", c.verdict.Record.ID.Short()),
			zap.Stringer("outcome", o.Class), zap.String("reason", string(o.Reason)), zap.Error(cause))
	}
}
