// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// load is one run of the generator against one address.
type load struct {
	addr    string
	conns   int
	rate    float64 // requests per second of an open loop; 0: as fast as answers come
	warmup  time.Duration
	window  time.Duration
	traffic traffic
	scheme  *scheme
	body    int
}

// traffic says which deliveries are sent and what the right answer is.
type traffic struct {
	kind   string // plain, first, duplicate, refused
	seq    *atomic.Uint64
	primed []uint64 // deliveries that have been answered, for duplicates
}

// grace is the time answers may take after the end of a load.
const grace = 30 * time.Second

// loadResult holds the right answers that ended inside the window.
type loadResult struct {
	latencies  []time.Duration
	wrong      int
	firstWrong string
}

// run drives the load. between is called at the beginning and at the end of
// the window, while the load is on.
func (l load) run(ctx context.Context, between func()) loadResult {
	start := time.Now()
	from := start.Add(l.warmup)
	until := from.Add(l.window)
	var next atomic.Int64 // number of the next request of an open loop
	results := make([]loadResult, l.conns)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			w := worker{load: l, from: from, until: until, out: &results[i]}
			w.run(ctx, start, &next)
		})
	}
	for _, at := range []time.Time{from, until} {
		select {
		case <-time.After(time.Until(at)):
			between()
		case <-ctx.Done():
		}
	}
	wg.Wait()
	var all loadResult
	for _, r := range results {
		all.add(r)
	}
	return all
}

func (r *loadResult) add(o loadResult) {
	r.latencies = append(r.latencies, o.latencies...)
	r.wrong += o.wrong
	if r.firstWrong == "" {
		r.firstWrong = o.firstWrong
	}
}

// worker is one connection.
type worker struct {
	load
	from, until time.Time
	out         *loadResult
}

func (w *worker) run(ctx context.Context, start time.Time, next *atomic.Int64) {
	secret := w.scheme.secret
	if w.traffic.kind == "refused" {
		secret += "-of-somebody-else"
	}
	c := &client{addr: w.addr, deadline: w.until.Add(grace)}
	defer c.close()
	deliveries := newWriter(w.scheme, secret, w.addr, w.body, start)
	for ctx.Err() == nil {
		begin := time.Now()
		if w.rate > 0 {
			// Latency counts from the planned start: a stall must not hide
			// the requests that would have come meanwhile.
			begin = start.Add(time.Duration(float64(next.Add(1)-1) / w.rate * float64(time.Second)))
			time.Sleep(time.Until(begin))
		}
		if begin.After(w.until) {
			return
		}
		rep, err := c.do(deliveries.delivery(w.traffic.next()))
		w.note(begin, time.Now(), rep, err)
		if err != nil {
			// Do not spin on a server that is gone.
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// note counts one answer.
func (w *worker) note(begin, end time.Time, rep reply, err error) {
	if err == nil && w.traffic.right(rep) {
		// What an open loop planned counts even if its answer comes late.
		at := end
		if w.rate > 0 {
			at = begin
		}
		if !at.Before(w.from) && !at.After(w.until) {
			w.out.latencies = append(w.out.latencies, end.Sub(begin))
		}
		return
	}
	w.out.wrong++
	if w.out.firstWrong == "" {
		w.out.firstWrong = fmt.Sprintf("status %d, Hookonce-Status %q", rep.status, rep.hookonce)
		if err != nil {
			w.out.firstWrong = err.Error()
		}
	}
}

// next is the sequence number of the next delivery.
func (t traffic) next() uint64 {
	if t.kind == "duplicate" {
		return t.primed[rand.IntN(len(t.primed))]
	}
	return t.seq.Add(1)
}

// right tells whether this is the answer that such a delivery has to get.
func (t traffic) right(r reply) bool {
	switch t.kind {
	case "first":
		return r.status == 200 && r.hookonce == "first"
	case "duplicate":
		return r.status == 200 && r.hookonce == "duplicate"
	case "refused":
		return r.status == 401 && strings.HasPrefix(r.hookonce, "refused")
	}
	return r.status == 200
}

// prime sends n new deliveries and returns their numbers.
func (l load) prime(n int) ([]uint64, error) {
	c := &client{addr: l.addr, deadline: time.Now().Add(grace)}
	defer c.close()
	deliveries := newWriter(l.scheme, l.scheme.secret, l.addr, l.body, time.Now())
	t := traffic{kind: "first", seq: l.traffic.seq}
	primed := make([]uint64, n)
	for i := range primed {
		primed[i] = t.next()
		rep, err := c.do(deliveries.delivery(primed[i]))
		if err != nil {
			return nil, fmt.Errorf("first delivery: %w", err)
		}
		if !t.right(rep) {
			return nil, fmt.Errorf("first delivery was answered with status %d, Hookonce-Status %q", rep.status, rep.hookonce)
		}
	}
	return primed, nil
}
