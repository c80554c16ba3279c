// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// together runs f in n goroutines that start at the same moment, and returns
// what they complained about.
func together(n int, f func(i int) error) error {
	var (
		wg    sync.WaitGroup
		start = make(chan struct{})
		errs  = make(chan error, n)
	)
	for i := range n {
		wg.Go(func() {
			<-start
			if err := f(i); err != nil {
				errs <- err
			}
		})
	}
	close(start)
	wg.Wait()
	close(errs)
	return <-errs
}

// do is what a handler does: look, and reserve when looking was not enough.
func (e *env) do(a *delivery.Arrival) (delivery.Verdict, error) {
	v, ok, err := e.s.Peek(e.ctx, a)
	if err != nil || ok {
		return v, err
	}
	return e.s.Reserve(e.ctx, a)
}

var raceTests = []testCase{
	{"I5 of many copies at once exactly one is first", func(e *env) {
		const copies = 16
		for round := range uint64(30) {
			var kinds [copies]delivery.VerdictKind
			err := together(copies, func(i int) error {
				v, err := e.do(e.signed(round+1, round+1000))
				kinds[i] = v.Kind
				return err
			})
			n := map[delivery.VerdictKind]int{}
			for _, k := range kinds {
				n[k]++
			}
			if err != nil || n[delivery.First] != 1 || n[delivery.Join] != copies-1 {
				e.Fatalf("round %d: %v, %v", round, n, err)
			}
		}
	}},
	{"I5 of many retries at once exactly one takes over", func(e *env) {
		e.reserve(e.signed(1), delivery.First)
		for epoch := uint32(1); epoch <= 30; epoch++ {
			e.apply(key(1), delivery.Event{Kind: delivery.NotDoneRetry, Epoch: epoch, Reason: delivery.ReasonUpstreamFail})
			var mu sync.Mutex
			claims := 0
			err := together(12, func(int) error {
				v, err := e.do(e.signed(1))
				if v.Kind == delivery.TakeOver {
					mu.Lock()
					claims++
					mu.Unlock()
				}
				return err
			})
			if err != nil || claims != 1 {
				e.Fatalf("epoch %d: %d claims, %v", epoch, claims, err)
			}
		}
	}},
	{"I11 overlapping keys neither deadlock nor split", func(e *env) {
		// Every arrival has two or three of six keys, in any order. Whatever happens,
		// each key leads to one effect at a time, and each epoch has one claim.
		type claim struct {
			id    delivery.ID
			epoch uint32
		}
		var mu sync.Mutex
		claims := map[claim]int{}
		err := together(24, func(i int) error {
			random := rand.New(rand.NewPCG(uint64(i), 7))
			for range 60 {
				n := 2 + random.IntN(2)
				keys := make([]uint64, 0, 3)
				for _, k := range random.Perm(6)[:n] {
					keys = append(keys, uint64(k)+1)
				}
				v, err := e.do(e.signed(keys...))
				if err != nil {
					return err
				}
				if v.Kind != delivery.First && v.Kind != delivery.TakeOver {
					continue
				}
				mu.Lock()
				claims[claim{v.Record.ID, v.Record.Epoch}]++
				mu.Unlock()
				ev := delivery.Event{Kind: delivery.Done, At: e.h.Clock.Milli(), Epoch: v.Record.Epoch}
				if random.IntN(2) == 0 {
					ev.Kind, ev.Reason = delivery.NotDoneRetry, delivery.ReasonUpstreamFail
				}
				if _, _, err := e.s.Apply(e.ctx, v.Record.ID, ev); err != nil {
					return fmt.Errorf("outcome: %w", err)
				}
			}
			return nil
		})
		if err != nil {
			e.Fatal(err)
		}
		for c, n := range claims {
			if n != 1 {
				e.Errorf("epoch %d of %s was claimed %d times", c.epoch, c.id, n)
			}
		}
		for k := range uint64(6) {
			if v, err := e.do(e.signed(k + 1)); err != nil || v.Kind == delivery.First {
				e.Errorf("key %d: %s, %v", k+1, v.Kind, err)
			}
		}
	}},
	{"no duplicate and no outcome is lost in a race", func(e *env) {
		const effects, copies = 40, 10
		for k := range uint64(effects) {
			e.reserve(e.signed(k+1), delivery.First)
		}
		err := together(copies+1, func(i int) error {
			for k := range uint64(effects) {
				if i == copies {
					ev := delivery.Event{Kind: delivery.Done, At: e.h.Clock.Milli(), Epoch: 1, Status: 200}
					if _, _, err := e.s.Apply(e.ctx, key(k+1), ev); err != nil {
						return err
					}
					continue
				}
				if _, err := e.do(e.signed(k + 1)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			e.Fatal(err)
		}
		before := make(map[uint64]uint32)
		for k := range uint64(effects) {
			before[k] = e.want(key(k+1), delivery.Confirmed, delivery.ReasonDone).Seen
			e.peek(e.signed(k+1), delivery.Duplicate)
		}
		e.restart()
		for k := range uint64(effects) {
			if r := e.want(key(k+1), delivery.Confirmed, delivery.ReasonDone); r.Seen != before[k]+1 {
				e.Fatalf("effect %d: seen %d times, want %d", k, r.Seen, before[k]+1)
			}
		}
	}},
	{"operators do not undo each other", func(e *env) {
		e.uncertain()
		kinds := []delivery.EventKind{delivery.OperatorConfirm, delivery.OperatorDrop}
		var mu sync.Mutex
		won := 0
		_ = together(8, func(i int) error {
			ev := person(kinds[i%2])
			ev.At = e.h.Clock.Milli()
			_, _, err := e.s.Apply(e.ctx, key(1), ev)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			}
			return err
		})
		if got, err := e.s.Audit(e.ctx, key(1), 10); won != 1 || err != nil || len(got) != 1 {
			e.Fatalf("%d actions took effect, audit %v, %v", won, got, err)
		}
	}},
	{"close while it is used", func(e *env) {
		for k := range uint64(50) {
			e.reserve(e.signed(k+1), delivery.First)
		}
		done := make([]bool, 50)
		_ = together(2, func(i int) error {
			if i == 1 {
				return e.s.Close()
			}
			for k := range uint64(50) {
				ev := delivery.Event{Kind: delivery.Done, At: e.h.Clock.Milli(), Epoch: 1}
				_, _, err := e.s.Apply(e.ctx, key(k+1), ev)
				done[k] = err == nil
			}
			return nil
		})
		e.restart()
		for k := range uint64(50) {
			want := delivery.Running
			if done[k] {
				want = delivery.Confirmed
			}
			if r, err := e.s.Get(e.ctx, key(k+1)); err != nil || r.State != want {
				e.Fatalf("effect %d is %s, want %s, %v", k, r.State, want, err)
			}
		}
	}},
}
