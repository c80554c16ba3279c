// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import "fmt"

// keepAgain keeps the bytes of a repeat when those of the delivery that waits
// for a decision are not there. A process that was killed after its claim was
// durable, and before the bytes were, leaves such a delivery: nothing was sent
// and nobody was answered, but from this answer on it is in our hands (I4).
func (c *call) keepAgain() error {
	n, rec := c.lease.Value(), &c.verdict.Record
	if rec.State.Final() || !rec.Kept || n.spool.Readable(rec.Spool) {
		return nil
	}
	if err := n.spool.Put(rec.Spool, rec.Epoch, c.encode(nil)).Wait(); err != nil {
		return fmt.Errorf("keeping the request again: %w", err)
	}
	return nil
}
