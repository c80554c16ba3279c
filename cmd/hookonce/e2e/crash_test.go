// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// kills is how often TestCrash kills the process in all. HOOKONCE_KILLS
// overrides it.
func kills(t testing.TB) int {
	t.Helper()
	text := os.Getenv("HOOKONCE_KILLS")
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("HOOKONCE_KILLS=%q: want a positive number", text)
	}
	return n
}

// The process is killed at random moments under load, while it serves and while
// it starts. Nothing that was acknowledged is lost, nothing is done twice, and
// each uncertain delivery has a kill or a fault of the app as its cause. A crash
// of the process, other than one of the machine, spares unsynced writes, so that
// all of it holds for sync off as well.
func TestCrash(t *testing.T) {
	n := kills(t)
	t.Run("sync on", func(t *testing.T) { crash(t, n-n/4-n/4, Options{Store: "sync on"}) })
	t.Run("sync off", func(t *testing.T) { crash(t, n/4, Options{Store: "sync off"}) })
	t.Run("encrypted", func(t *testing.T) {
		crash(t, n/4, Options{Store: "encryption_key {env.STORE_KEY}", Env: []string{"STORE_KEY=" + strings.Repeat("5e", 32)}})
	})
}

func crash(t *testing.T, kills int, opts Options) {
	c := newCrowd(t, newSeed(t), fates)
	c.hangs = true
	opts.Global, opts.Level = "persist_config off", "INFO"
	s := Start(t, c.Sites(), opts)
	c.start(s)
	c.resume()
	rng := rand.New(rand.NewPCG(c.seed, 1<<62))
	for starting := 0; kills > 0; kills-- {
		if starting == 0 {
			c.await(1 + rng.IntN(16*senders))
			moment(rng.IntN(20))
			c.pause()
			s.Kill(t)
			if rng.IntN(6) == 0 {
				starting = 1 + rng.IntN(2)
			}
		} else { // also while it recovers from the kill before
			starting--
			s.launch(t)
			moment(rng.IntN(250))
			s.Kill(t)
		}
		if starting == 0 {
			s.Restart(t)
			c.resume()
		}
	}
	c.pause()
	if !s.running() {
		s.Restart(t)
	}
	c.finish()
	a := c.account()
	c.check(a)
	c.tell(a)
	c.decide(a)
}

// moment lets some milliseconds pass, so that a kill hits anywhere.
func moment(ms int) { <-time.After(time.Duration(ms) * time.Millisecond) }

// tell logs what the run came by, and fails when a run long enough for it did
// not meet each of the ways in which a kill can hit a delivery.
func (c *Crowd) tell(a account) {
	c.t.Helper()
	met, replies := make(map[string]int), 0
	for _, e := range c.events {
		list := e.Replies()
		replies += len(list)
		for i, r := range list {
			if r.Err != nil && i+1 < len(list) {
				met["unanswered, then "+list[i+1].String()]++
			}
		}
	}
	c.t.Logf("%d events in %d deliveries, %d open in the end", len(c.events), replies, len(a.open))
	words := make([]string, 0, len(met))
	for what := range met {
		words = append(words, what)
	}
	slices.Sort(words)
	for _, what := range words {
		c.t.Logf("%6d %s", met[what], what)
	}
	for _, what := range []string{"200 first", "200 held", "200 duplicate"} {
		if len(c.events) > 5000 && met["unanswered, then "+what] == 0 {
			c.t.Error(fmt.Sprintf("the run never met a delivery that was unanswered, then %s", what))
		}
	}
}
