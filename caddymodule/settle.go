// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// detachedFrom keeps the values of a request's context, but neither its end nor
// its deadline: a provider that hangs up must not stop a write half-way.
func detachedFrom(r *http.Request) context.Context { return context.WithoutCancel(r.Context()) }

// unsettled holds outcomes that could not be written (T34). They stay true in
// memory and are tried again; until then repeats wait and ask for a retry, and
// after a crash the effect is uncertain.
type unsettled struct {
	mu    sync.Mutex
	items []unsettledItem
}

type unsettledItem struct {
	id delivery.ID
	ev delivery.Event
}

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
	n.logger.Error("writing an outcome failed; it is tried again", zap.String("delivery", id.Short()), zap.Error(err))
	n.later.mu.Lock()
	n.later.items = append(n.later.items, unsettledItem{id, ev})
	n.later.mu.Unlock()
	return r, acts, false
}

// final reports whether trying again is useless.
func final(err error) bool {
	return errors.Is(err, delivery.ErrImpossible) || errors.Is(err, store.ErrNotFound) ||
		errors.Is(err, store.ErrClosed) || errors.Is(err, store.ErrCorrupt)
}

// retryUnsettled writes what could not be written before.
func (n *node) retryUnsettled() {
	n.later.mu.Lock()
	items := n.later.items
	n.later.items = nil
	n.later.mu.Unlock()
	for i, it := range items {
		r, acts, err := n.store.Apply(context.Background(), it.id, it.ev)
		switch {
		case err == nil:
			if acts.Has(delivery.Free) {
				n.spool.Free(r.Spool)
			}
		case final(err):
			n.logger.Error("an outcome had no effect", zap.String("delivery", it.id.Short()), zap.Error(err))
		default:
			n.later.mu.Lock()
			n.later.items = append(n.later.items, items[i:]...)
			n.later.mu.Unlock()
			return
		}
	}
}

// housekeeping forgets what is over its window and retries what failed.
func (n *node) housekeeping(ctx context.Context, now func() time.Time) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for i := 1; ; i++ {
		select {
		case <-ctx.Done():
			n.retryUnsettled()
			return
		case <-second.C:
		}
		n.retryUnsettled()
		if i%60 == 0 {
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
