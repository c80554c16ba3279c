// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package store defines what a delivery store does, and the codec of its
// records. The semantics are those of package delivery; a store adds atomicity
// and durability, and nothing else.
package store

import (
	"context"
	"errors"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// Errors of every store. They are wrapped with context; compare with errors.Is.
var (
	// ErrNotFound: there is no live record under that ID.
	ErrNotFound = errors.New("no such delivery")
	// ErrFull: the disk or a limit is near its end, so new work is refused. What
	// was accepted before keeps working.
	ErrFull = errors.New("store has no room for new deliveries")
	// ErrClosed: the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrLocked: another process holds the store.
	ErrLocked = errors.New("store is in use by another process")
	// ErrCorrupt: what was read is damaged. Nothing is deleted because of it.
	ErrCorrupt = errors.New("store is damaged")
	// ErrFormat: the store was written by a newer version.
	ErrFormat = errors.New("store has a format that this version does not know")
)

// Store keeps effect records and the aliases that point to them. All methods
// are safe for concurrent use. A method that returns without an error has made
// its change durable, except where it says otherwise.
type Store interface {
	// Peek decides about an arrival from what can be read without waiting for a
	// write. It reports false when the decision needs a write that somebody must
	// wait for (a first delivery, a take-over, a new held item, a new alias); then
	// the caller calls Reserve. Counting a duplicate is Peek's own business: it may
	// be written late, and not at all for each of many.
	Peek(ctx context.Context, a *delivery.Arrival) (delivery.Verdict, bool, error)

	// Reserve decides about an arrival and writes the decision, in one atomic step
	// over all its keys: of two arrivals at the same moment exactly one is First.
	// A returned verdict is durable. On an error nothing may be sent. Where the
	// verdict needs the request's bytes it calls a.Keep before it writes.
	Reserve(ctx context.Context, a *delivery.Arrival) (delivery.Verdict, error)

	// Apply steps one record by one event, atomically. Events whose step says Save
	// are durable when Apply returns; SaveLazy ones are handed to the writer and
	// become durable with its next commit (losing one costs precision after a
	// crash, never a promise: invariant I10). An outcome that cannot be written is
	// true all the same (T34): Apply returns the error beside the new record, and
	// the store keeps it in memory and tries again. An operator's event leaves an audit
	// entry in the same atomic step. For delivery.Copy the store makes the new
	// READY record itself and returns it.
	Apply(ctx context.Context, id delivery.ID, ev delivery.Event) (delivery.Record, delivery.Actions, error)

	// Get returns one live record.
	Get(ctx context.Context, id delivery.ID) (delivery.Record, error)

	// List returns records that are not settled (READY, RUNNING, UNCERTAIN, HELD),
	// or, with Filter.All, settled ones as well, in no particular order for All and
	// oldest first otherwise. The cursor of the last page is empty.
	List(ctx context.Context, f Filter) (Page, error)

	// Recover makes every RUNNING record of another boot UNCERTAIN (T15) and
	// returns those records. It is called once, before the first arrival.
	Recover(ctx context.Context, at int64) ([]delivery.Record, error)

	// Audit returns the audit entries of one effect, or of all for the zero ID,
	// newest first, at most limit.
	Audit(ctx context.Context, id delivery.ID, limit int) ([]AuditEntry, error)

	// PutAnswer keeps the answer of a confirmed effect for "duplicate replay", as
	// long as the effect is remembered. Answer returns it.
	PutAnswer(ctx context.Context, id delivery.ID, answer []byte) error
	Answer(ctx context.Context, id delivery.ID) ([]byte, error)

	// Sweep forgets what is over its window and returns the names (Record.Spool) of
	// the kept bytes of those it forgot, so that the bytes can go.
	Sweep(ctx context.Context, at int64) ([]delivery.ID, error)

	// Ready returns nil when the store can take new deliveries now, else the
	// reason (ErrFull, ErrClosed, or a failing disk). It is cheap.
	Ready() error

	Stats() Stats
	Close() error
}

// Filter selects records for List.
type Filter struct {
	States []delivery.State // empty: all open states
	Source string
	Reason delivery.Reason
	Text   string // part of the delivery ID, the event ID or the effect ID
	All    bool   // settled records too: a walk over the whole store
	Cursor string
	Limit  int // default 100, at most 1000
}

// Page is one page of List.
type Page struct {
	Records []delivery.Record
	Cursor  string
}

// AuditEntry is one action of a person. It is never rewritten.
type AuditEntry struct {
	At     time.Time   `json:"at"`
	Effect delivery.ID `json:"-"`
	ID     string      `json:"id"`
	Actor  string      `json:"actor"`
	Action string      `json:"action"`
	Why    string      `json:"reason"`
	From   string      `json:"from"`
	To     string      `json:"to"`
	Source string      `json:"source"`
}

// Stats are figures for metrics. Counts of open records are exact.
type Stats struct {
	Ready, Running, Uncertain, Held int64
	DeadLetters                     int64
	DiskBytes, FreeBytes            int64
	Commits, CommitErrors           int64
	Unwritten                       int64 // outcomes and counts that the disk did not take yet
	Impossible                      int64 // events without effect, see delivery.ErrImpossible
	Corrupt                         int64 // records that could not be read
	Full                            bool
}
