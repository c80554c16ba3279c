// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// detachedFrom keeps the values of a request's context, but neither its end nor
// its deadline: a provider that hangs up must not stop a write half-way.
func detachedFrom(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }

// settle records the outcome of an attempt. A failing store never changes what
// the provider is answered (I10). It returns the record after the outcome and
// what is to be done; ok is false when the outcome could not be written yet.
func (n *node) settle(id delivery.ID, ev delivery.Event) (r delivery.Record, acts delivery.Actions, ok bool) {
	r, acts, err := n.store.Apply(context.Background(), id, ev)
	switch {
	case err == nil:
		return r, acts, true
	case final(err):
		n.logger.Error("an outcome had no effect", zap.String("delivery", id.Short()), zap.Error(err))
		return r, acts, false
	}
	n.logger.Error("writing an outcome failed; the store tries again, and until then a crash would leave the delivery uncertain",
		zap.String("delivery", id.Short()), zap.Error(err))
	return r, acts, false
}

// final reports whether trying again is useless.
func final(err error) bool {
	return errors.Is(err, delivery.ErrImpossible) || errors.Is(err, store.ErrNotFound) ||
		errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrCorrupt)
}

// housekeeping forgets what is over its window.
func (n *node) housekeeping(ctx context.Context, now func() time.Time) {
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-minute.C:
			n.sweep(ctx, now())
		}
	}
}

func (n *node) sweep(ctx context.Context, now time.Time) {
	gone, err := n.store.Sweep(ctx, now.UnixMilli())
	if err != nil && ctx.Err() == nil {
		n.logger.Error("forgetting old deliveries failed; it is tried again in a minute", zap.Error(err))
	}
	for _, name := range gone {
		n.spool.Free(name)
	}
}
