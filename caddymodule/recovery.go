// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/spool"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// recover is the start after a stop of any kind, also after kill -9:
//
//  1. Attempts whose end is noted in the spool are settled by it. The note is
//     written before the provider is answered and survives the death of the
//     process (not a power cut, after which 2 applies).
//  2. All other attempts of earlier processes become UNCERTAIN (T15).
//  3. Kept bytes that no open effect names are freed; open effects whose bytes
//     are missing are reported.
func (n *node) recover(ctx context.Context, now func() time.Time) error {
	marks := make(map[delivery.ID]spool.Mark)
	err := n.spool.Scan(func(e spool.Entry) {
		if e.Settled {
			marks[delivery.ID(e.ID)] = e.Mark
		}
	})
	if err != nil {
		return fmt.Errorf("reading kept requests: %w", err)
	}
	if err := n.settleMarked(ctx, marks); err != nil {
		return err
	}
	lost, err := n.store.Recover(ctx, now().UnixMilli())
	if err != nil {
		return fmt.Errorf("recovering open deliveries: %w", err)
	}
	if len(lost) > 0 {
		n.logger.Warn("attempts of an earlier process ended without an outcome; they are uncertain now and wait for you",
			zap.Int("count", len(lost)))
	}
	return n.matchSpool(ctx)
}

// settleMarked finishes attempts that had ended when the process died.
func (n *node) settleMarked(ctx context.Context, marks map[delivery.ID]spool.Mark) error {
	if len(marks) == 0 {
		return nil
	}
	return n.eachOpen(ctx, []delivery.State{delivery.Running}, func(r *delivery.Record) error {
		m, ok := marks[r.Spool]
		if !ok || m.Epoch != r.Epoch {
			return nil
		}
		_, _, err := n.store.Apply(ctx, r.ID, delivery.Event{
			Kind: delivery.EventKind(m.Class), At: m.At, Epoch: m.Epoch,
			Status: int(m.Status), Reason: markedReason(delivery.EventKind(m.Class)),
		})
		if err != nil && !errors.Is(err, delivery.ErrImpossible) {
			return fmt.Errorf("settling delivery %s: %w", r.ID.Short(), err)
		}
		return nil
	})
}

// markedReason is the reason of an outcome that was read from a note, which has
// no room for the exact one.
func markedReason(k delivery.EventKind) delivery.Reason {
	switch k {
	case delivery.Done:
		return delivery.ReasonDone
	case delivery.NotDoneFinal:
		return delivery.ReasonRefused
	case delivery.NotDoneRetry:
		return delivery.ReasonNotDelivered
	default:
		return delivery.ReasonNoAnswer
	}
}

// matchSpool frees kept bytes that nobody needs and reports missing ones.
func (n *node) matchSpool(ctx context.Context) error {
	open := make(map[delivery.ID]delivery.ID)
	err := n.eachOpen(ctx, nil, func(r *delivery.Record) error {
		if r.Kept {
			open[r.Spool] = r.ID
		}
		return nil
	})
	if err != nil {
		return err
	}
	present := make(map[delivery.ID]bool, len(open))
	n.spool.Retain(func(id [16]byte) bool {
		_, ok := open[delivery.ID(id)]
		if ok {
			present[delivery.ID(id)] = true
		}
		return ok
	})
	for spoolID, id := range open {
		if !present[spoolID] {
			n.logger.Warn("the request of an open delivery is not kept; it can be sent from here after the provider delivered it again",
				zap.String("delivery", id.String()))
		}
	}
	return nil
}

// eachOpen walks over the open records. f may change the record it is given.
func (n *node) eachOpen(ctx context.Context, states []delivery.State, f func(*delivery.Record) error) error {
	filter := store.Filter{States: states, Limit: 1000}
	for {
		page, err := n.store.List(ctx, filter)
		if err != nil {
			return fmt.Errorf("listing open deliveries: %w", err)
		}
		for i := range page.Records {
			if err := f(&page.Records[i]); err != nil {
				return err
			}
		}
		if page.Cursor == "" {
			return nil
		}
		filter.Cursor = page.Cursor
	}
}
