// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"errors"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// TestRandomSchedule draws what several goroutines do, lets them do it at once,
// and checks that nothing is open twice, closed twice, used closed or left open.
func TestRandomSchedule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom([]string{"acquire", "clone", "release", "use"})
		plans := rapid.SliceOfN(rapid.SliceOfN(op, 1, 40), 2, 8).Draw(t, "plans")
		var r Registry[*resource]
		var p place
		failed := make(chan error, len(plans))
		var all sync.WaitGroup
		for _, plan := range plans {
			all.Go(func() {
				if err := runPlan(&r, &p, plan); err != nil {
					failed <- err
				}
			})
		}
		all.Wait()
		close(failed)
		for err := range failed {
			t.Error(err)
		}
		if p.open.Load() != 0 || len(r.slots) != 0 {
			t.Errorf("%d open and %d slots left", p.open.Load(), len(r.slots))
		}
	})
}

// runPlan follows one plan and gives back in the end whatever it still holds.
func runPlan(r *Registry[*resource], p *place, plan []string) error {
	var held []*Lease[*resource]
	var errs []error
	for _, op := range plan {
		switch {
		case op == "acquire":
			l, err := r.Acquire(context.Background(), "k", p.Open, (*resource).Close)
			if err != nil {
				return err
			}
			held = append(held, l)
		case len(held) == 0:
		case op == "clone":
			l, err := held[0].Clone()
			if err != nil {
				return err
			}
			held = append(held, l)
		case op == "use":
			errs = append(errs, held[0].Value().Use())
		case op == "release":
			errs = append(errs, held[0].Release())
			held = held[1:]
		}
	}
	for _, l := range held {
		errs = append(errs, l.Value().Use(), l.Release(), l.Release())
	}
	return errors.Join(errs...)
}
