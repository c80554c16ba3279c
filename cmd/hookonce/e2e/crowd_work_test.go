// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// Crowd is a provider with several connections. It makes new events, delivers
// again what was not answered with a success, and now and then something that
// was, or that another connection is delivering at this moment.
type Crowd struct {
	t      testing.TB
	s      *Sidecar
	app    *oracle.Server
	seed   uint64
	choose func(*rand.Rand) fate
	hangs  bool // the provider sometimes hangs up early

	refused chan Reply    // what our own limits refused; nil: nothing may be
	arrived chan struct{} // one for each request at the app, as far as somebody listens

	mu     sync.Mutex
	events []*Event
	due    []*Event
	open   chan struct{} // closed while deliveries are sent
	quit   chan struct{}
	work   sync.WaitGroup
}

// senders is the number of connections of a crowd.
const senders = 8

// newCrowd makes a crowd that delivers to no sidecar yet, and its app.
func newCrowd(t testing.TB, seed uint64, choose func(*rand.Rand) fate) *Crowd {
	t.Helper()
	app, err := oracle.Start(oracle.Config{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	c := &Crowd{
		t: t, app: app, seed: seed, choose: choose,
		arrived: make(chan struct{}, 1<<10), open: make(chan struct{}), quit: make(chan struct{}),
	}
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-app.Arrived():
			}
			select {
			case c.arrived <- struct{}{}:
			default:
			}
		}
	}()
	t.Cleanup(func() {
		close(done)
		if err := app.Close(); err != nil {
			t.Errorf("closing the app: %v", err)
		}
	})
	return c
}

// Sites are the routes of a crowd's deliveries, by two ways to the app.
func (c *Crowd) Sites(lines ...string) string {
	return Site(ways[0].route("/github", "github", c.app.Addr(), lines...), ways[1].route("/stripe", "stripe", c.app.Addr(), lines...))
}

// start lets the senders work once resume was called.
func (c *Crowd) start(s *Sidecar) {
	c.s = s
	for i := range senders {
		rng := rand.New(rand.NewPCG(c.seed, 1<<63+uint64(i)))
		c.work.Go(func() { c.send(rng) })
	}
}

func (c *Crowd) send(rng *rand.Rand) {
	for {
		c.mu.Lock()
		open := c.open
		c.mu.Unlock()
		select {
		case <-c.quit:
			return
		case <-open:
		}
		select {
		case <-c.quit:
			return
		default:
		}
		var patience time.Duration
		if c.hangs && rng.IntN(50) == 0 {
			patience = time.Duration(1+rng.IntN(20)) * time.Millisecond
		}
		c.deliver(c.pick(rng), patience)
	}
}

// pick chooses what a connection delivers next.
func (c *Crowd) pick(rng *rand.Rand) *Event {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := len(c.events)
	switch n := rng.IntN(100); {
	case n < 50 && len(c.due) > 0:
		i := rng.IntN(len(c.due))
		e := c.due[i]
		c.due = append(c.due[:i], c.due[i+1:]...)
		return e
	case n >= 80 && n < 95 && known > 0: // a recent one, perhaps in flight
		return c.events[known-1-rng.IntN(min(known, 3*senders))]
	case n >= 95 && known > 0:
		return c.events[rng.IntN(known)]
	}
	e := newEvent(c.seed, known, c.choose)
	c.events = append(c.events, e)
	return e
}

func (c *Crowd) deliver(e *Event, patience time.Duration) Reply {
	r := e.deliver(c.t, c.s, patience)
	if strings.HasPrefix(r.Word, "refused") {
		select {
		case c.refused <- r:
		default:
			if c.refused == nil {
				c.t.Errorf("refused: %v", r)
			}
		}
	}
	if !r.taken() {
		c.mu.Lock()
		c.due = append(c.due, e)
		c.mu.Unlock()
	}
	return r
}

// awaitRefusal waits for the next delivery that is refused.
func (c *Crowd) awaitRefusal() Reply {
	c.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case r := <-c.refused:
		return r
	case <-late.C:
		c.t.Fatalf("nothing is refused:\n%s", c.s.trouble())
		return Reply{}
	}
}

// trouble is what the log says about the death of the process, or its end.
func (s *Sidecar) trouble() string {
	lines := strings.Split(s.Logs.Text(), "\n")
	for i, line := range lines {
		if strings.Contains(line, "fatal error:") || strings.Contains(line, "unexpected fault") || strings.HasPrefix(line, "panic:") {
			return strings.Join(lines[i:min(i+60, len(lines))], "\n")
		}
	}
	return strings.Join(lines[max(0, len(lines)-40):], "\n")
}

// pause lets no new delivery begin; those under way go on.
func (c *Crowd) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open = make(chan struct{})
}

// resume ends a pause.
func (c *Crowd) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.open)
}

// await waits until n more requests have arrived at the app.
func (c *Crowd) await(n int) {
	c.t.Helper()
	for len(c.arrived) > 0 {
		<-c.arrived
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for range n {
		select {
		case <-c.arrived:
		case <-late.C:
			c.t.Fatalf("no request arrives at the app:\n%s", c.s.trouble())
		}
	}
}

// finish ends the work and delivers until nothing is due any more.
func (c *Crowd) finish() {
	c.t.Helper()
	close(c.quit)
	c.work.Wait()
	for range 20 {
		due := c.due
		c.due = nil
		if len(due) == 0 {
			return
		}
		c.each(due, func(e *Event) { c.deliver(e, 0) })
	}
	c.t.Fatalf("%d deliveries are not taken in 20 tries, such as one with %v", len(c.due), c.due[0].Replies())
}

// each runs f for all events, a few at a time.
func (c *Crowd) each(events []*Event, f func(*Event)) {
	next := make(chan *Event)
	var crew sync.WaitGroup
	for range senders {
		crew.Go(func() {
			for e := range next {
				f(e)
			}
		})
	}
	for _, e := range events {
		next <- e
	}
	close(next)
	crew.Wait()
}
