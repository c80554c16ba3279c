// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"testing"

	"github.com/hookonce/hookonce/caddymodule/store"
)

// TestModel holds the model itself to the suite.
func TestModel(t *testing.T) {
	Run(t, func(*testing.T) Harness {
		clock := NewClock()
		m := NewModel(clock, 0)
		return Harness{
			Open: func(_ *testing.T, boot uint64) store.Store {
				m.Restart(boot)
				return m
			},
			Crash: func(*testing.T, store.Store) {},
			Fail:  func(_ *testing.T, _ store.Store, err error) { m.Fail(err) },
			Clock: clock,
		}
	})
}
