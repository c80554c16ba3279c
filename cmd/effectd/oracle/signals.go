// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import "sync"

// arrivalsKept bounds the arrivals that wait for somebody to read them; the
// oldest are dropped beyond it.
const arrivalsKept = 1 << 16

// signals hands arrivals to the channel of Arrived without ever blocking the
// request that signals.
type signals struct {
	mu      sync.Mutex
	waiting []Effect
	wake    chan struct{}
	out     chan Effect
}

func newSignals() *signals {
	return &signals{wake: make(chan struct{}, 1), out: make(chan Effect)}
}

func (g *signals) send(e Effect) {
	g.mu.Lock()
	if len(g.waiting) == arrivalsKept {
		g.waiting = g.waiting[1:]
	}
	g.waiting = append(g.waiting, e)
	g.mu.Unlock()
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// run feeds the channel until done is closed.
func (g *signals) run(done <-chan struct{}) {
	for {
		g.mu.Lock()
		var next Effect
		some := len(g.waiting) > 0
		if some {
			next, g.waiting = g.waiting[0], g.waiting[1:]
		}
		g.mu.Unlock()
		if !some {
			select {
			case <-g.wake:
				continue
			case <-done:
				return
			}
		}
		select {
		case g.out <- next:
		case <-done:
			return
		}
	}
}
