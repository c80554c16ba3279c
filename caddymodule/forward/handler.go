// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// HandlerResult is what the caller of a handler saw of it. The caller knows
// the error types of the server; this package does not.
type HandlerResult struct {
	// Status is the final status that the handler wrote, 0: none. An error that
	// it returned instead of an answer is not a status.
	Status     int
	Complete   bool // the handler returned in good order after writing its answer
	RetryAfter time.Duration

	NoUpstream bool // the proxy says that it had no upstream to choose from
	Unhandled  bool // the route came to its end without a handler that answers
	Panicked   bool // with anything but http.ErrAbortHandler, which stands for a cut answer

	// Err is the innermost error of the transport, if the caller can tell. An
	// HTTP/2 transport says in it that a stream was not processed.
	Err error
}

// HandlerEvidence puts together what the transports reported and what the
// handler did. ctx is the context that the handler ran with.
func HandlerEvidence(ctx context.Context, rec *Recorder, r HandlerResult) delivery.Evidence {
	ev := rec.Evidence()
	ev.NoUpstream = r.NoUpstream && !rec.Heard()
	ev.NoHandler = r.Unhandled && r.Status == 0 && !rec.Heard()
	ev.Panicked = r.Panicked
	ev.Unprocessed = Unprocessed(r.Err)
	ev.RetryAfter = r.RetryAfter
	if !madeUp(rec, r.Status) {
		ev.Status = r.Status
		ev.Complete = r.Complete && !r.Panicked
	}
	if !ev.Complete {
		ev.TimedOut, ev.Shutdown = ended(ctx)
	}
	return ev
}

// madeUp reports whether a status cannot have come from the app: a proxy
// answers 502, 504 or 499 for an app from which no byte arrived.
func madeUp(rec *Recorder, status int) bool {
	return status >= 400 && rec.asked.Load() > 0 && rec.firstByte.Load() == 0
}
