// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
)

// reloads is how often TestReloadUnderLoad changes the configuration.
const reloads = 200

// Reloads under load change nothing for anybody: no delivery is lost, doubled or
// left uncertain, and the counters go on. A server that ends may close a
// connection in the moment of its use, and the kernel resets those that nobody
// had accepted. Such a delivery must not have reached us: each that did was
// answered and counted.
func TestReloadUnderLoad(t *testing.T) {
	c := newCrowd(t, newSeed(t), calm)
	sites := []string{c.Sites("inflight_wait 5s"), c.Sites("inflight_wait 6s")}
	s := Start(t, sites[0], Options{Level: "INFO"})
	c.start(s)
	c.resume()
	counted := 0.0
	for i := range reloads {
		c.await(1 + i%20)
		if err := s.Reload(t, sites[(i+1)%2]); err != nil {
			t.Fatal(err)
		}
		if i%10 == 9 {
			now := s.metric(t, `caddy_hookonce_deliveries_total{route="github:/github",status="first"}`)
			if now <= counted {
				t.Errorf("after %d reloads %v first deliveries are counted, before that %v", i+1, now, counted)
			}
			counted = now
		}
	}
	c.finish()
	a := c.account()
	c.check(a)
	if len(a.open) > 0 {
		t.Errorf("%d deliveries are open although the app did all", len(a.open))
	}
	words := c.words()
	for _, route := range []string{"github", "stripe"} {
		for _, word := range done {
			series := fmt.Sprintf("caddy_hookonce_deliveries_total{route=%q,status=%q}", route+":/"+route, word)
			if got, want := s.metric(t, series), words[route+" "+word]; got != float64(want) {
				t.Errorf("%s is %v, and the provider got %d such answers", series, got, want)
			}
		}
	}
	t.Logf("%d events, answers %v", len(c.events), words)
}

// words counts the answers of each provider by their word. None may have asked
// for another try.
func (c *Crowd) words() map[string]int {
	c.t.Helper()
	words := make(map[string]int)
	for n, e := range c.events {
		for _, r := range e.Replies() {
			switch {
			case r.Err != nil:
				words["no answer"]++
			case r.taken():
				words[e.Provider+" "+r.Word]++
			default:
				c.t.Errorf("event %d: %v", n, r)
			}
		}
	}
	return words
}
