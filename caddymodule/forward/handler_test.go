// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// seen makes a recorder that has heard a call of a pooled transport.
func seen(asked, got, firstByte int32) *Recorder {
	rec := &Recorder{}
	rec.asked.Store(asked)
	rec.got.Store(got)
	rec.firstByte.Store(firstByte)
	return rec
}

func TestHandlerEvidence(t *testing.T) {
	gone, cancel := context.WithCancelCause(t.Context())
	cancel(ErrShutdown)
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		rec    *Recorder
		result HandlerResult
		class  delivery.Class
		reason delivery.Reason
	}{
		{"O1", nil, seen(1, 1, 1), HandlerResult{Status: 200, Complete: true}, delivery.Done, delivery.ReasonDone},
		{"O1/no-transport", nil, &Recorder{}, HandlerResult{Status: 200, Complete: true}, delivery.Done, delivery.ReasonDone},
		{"O3/abort", nil, seen(1, 1, 1), HandlerResult{Status: 200}, delivery.Unknown, delivery.ReasonTruncated},
		{"O3/panic-after-head", nil, seen(1, 1, 1), HandlerResult{Status: 200, Complete: true, Panicked: true}, delivery.Unknown, delivery.ReasonTruncated},
		{"O5", nil, seen(1, 1, 1), HandlerResult{Status: 404, Complete: true}, delivery.NotDoneFinal, delivery.ReasonRefused},
		{"O8", nil, seen(1, 1, 1), HandlerResult{Status: 429, Complete: true, RetryAfter: time.Second}, delivery.NotDoneRetry, delivery.ReasonUpstreamBusy},
		{"O12/no-upstream", nil, &Recorder{}, HandlerResult{NoUpstream: true}, delivery.NotDoneRetry, delivery.ReasonNotDelivered},
		{"O12/no-upstream-after-delivery", nil, seen(1, 1, 0), HandlerResult{NoUpstream: true}, delivery.Unknown, delivery.ReasonNoAnswer},
		{"O12/502-made-up", nil, seen(1, 0, 0), HandlerResult{Status: 502, Complete: true}, delivery.NotDoneRetry, delivery.ReasonNotDelivered},
		{"O18/502-made-up", nil, seen(1, 1, 0), HandlerResult{Status: 502, Complete: true}, delivery.Unknown, delivery.ReasonNoAnswer},
		{"O19/504-made-up", late, seen(1, 1, 0), HandlerResult{Status: 504, Complete: true}, delivery.Unknown, delivery.ReasonTimeout},
		{"O19/error", late, seen(1, 1, 0), HandlerResult{}, delivery.Unknown, delivery.ReasonTimeout},
		{"O31/499-made-up", gone, seen(1, 1, 0), HandlerResult{Status: 499, Complete: true}, delivery.Unknown, delivery.ReasonShutdown},
		{"O31/error", gone, seen(1, 1, 1), HandlerResult{}, delivery.Unknown, delivery.ReasonShutdown},
		{"O34/before", nil, &Recorder{}, HandlerResult{Panicked: true}, delivery.NotDoneFinal, delivery.ReasonPanic},
		{"O34/after", nil, seen(1, 1, 0), HandlerResult{Panicked: true}, delivery.Unknown, delivery.ReasonPanic},
		{"unhandled", nil, &Recorder{}, HandlerResult{Unhandled: true, Complete: true}, delivery.NotDoneFinal, delivery.ReasonNoHandler},
		{"unhandled-after-delivery", nil, seen(1, 1, 1), HandlerResult{Unhandled: true}, delivery.Unknown, delivery.ReasonNoAnswer},
		{"nothing-known", nil, &Recorder{}, HandlerResult{Complete: true}, delivery.Unknown, delivery.ReasonNoEvidence},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := c.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			ev := HandlerEvidence(ctx, c.rec, c.result)
			out := delivery.Classify(ev, delivery.Contract{})
			if out.Class != c.class || out.Reason != c.reason || out.RetryAfter != c.result.RetryAfter {
				t.Errorf("class %v (%s), want %v (%s); evidence %+v", out.Class, out.Reason, c.class, c.reason, ev)
			}
		})
	}
}

// TestHandlerEvidence_refusedStream is a stream that a proxy below us was
// refused: its error proves as much as ours.
func TestHandlerEvidence_refusedStream(t *testing.T) {
	err := errors.New("stream error: stream ID 3; REFUSED_STREAM; received from peer")
	for got, want := range map[int32]delivery.Class{1: delivery.NotDoneRetry, 2: delivery.Unknown} {
		ev := HandlerEvidence(t.Context(), seen(got, got, 0), HandlerResult{Err: err})
		if out := delivery.Classify(ev, delivery.Contract{}); out.Class != want {
			t.Errorf("%d connections: class %v, want %v", got, out.Class, want)
		}
	}
}
