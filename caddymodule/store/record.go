// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"slices"
	"strings"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// What every store does in the same way around delivery.Step is kept here.

// Page sizes of List.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// PageSize returns the limit that holds for this filter.
func (f *Filter) PageSize() int {
	if f.Limit <= 0 {
		return DefaultLimit
	}
	return min(f.Limit, MaxLimit)
}

// WantsState reports whether records in state s are asked for.
func (f *Filter) WantsState(s delivery.State) bool {
	return slices.Contains(f.States, s) || len(f.States) == 0 && (f.All || s.Open())
}

// Matches reports whether a record is selected.
func (f *Filter) Matches(r *delivery.Record) bool {
	return f.WantsState(r.State) &&
		(f.Source == "" || f.Source == r.Source) &&
		(f.Reason == "" || f.Reason == r.Reason) &&
		(f.Text == "" || strings.Contains(r.DeliveryID, f.Text) ||
			strings.Contains(r.EventID, f.Text) || strings.Contains(r.ID.String(), f.Text))
}

// Freed is what a store writes for a step that frees the request bytes: the
// record does not claim any longer that they are kept.
func Freed(r delivery.Record, acts delivery.Actions) delivery.Record {
	if acts.Has(delivery.Free) {
		r.Kept = false
	}
	return r
}

// CopyOf makes the new effect of "send again" (T32): the same content under an
// ID of its own, owed, and marked because the work may happen twice. Its bytes
// are not kept under that ID until somebody puts them there.
func CopyOf(r delivery.Record, id delivery.ID, at int64) delivery.Record {
	c := r
	c.ID, c.Peer, c.Aliases = id, r.ID, nil
	c.State, c.Reason = delivery.Ready, delivery.ReasonRetry
	c.Epoch, c.Attempts, c.Owner, c.SentAt = 0, 0, 0, 0
	c.Owed, c.MayRepeat, c.Kept = true, true, false
	c.Created, c.Changed, c.LastSeen, c.Seen = at, at, at, 1
	c.NextAt, c.ExpiresAt = at, 0
	c.UpstreamStatus, c.ExternalRef = 0, ""
	return c
}

// IsOutcome reports whether the event says how an attempt ended. Such an event
// is true whether it can be written or not, so a store that fails to write it
// keeps it in memory and goes on trying (T34, invariant I10).
func IsOutcome(k delivery.EventKind) bool {
	return k == delivery.Done || k == delivery.NotDoneRetry || k == delivery.NotDoneFinal || k == delivery.Unknown
}

// NewAudit is the audit entry of an operator's event that took a record from
// one state to another.
func NewAudit(before, after *delivery.Record, ev delivery.Event) AuditEntry {
	to := after.State.String()
	if ev.Kind == delivery.OperatorForget {
		to = delivery.None.String()
	}
	return AuditEntry{
		At: time.UnixMilli(ev.At).UTC(), Effect: before.ID, ID: before.ID.String(),
		Actor: ev.Actor, Action: ev.Kind.String(), Why: ev.Why,
		From: before.State.String(), To: to, Source: before.Source,
	}
}
