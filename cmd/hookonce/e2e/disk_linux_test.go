// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A full disk refuses new deliveries and loses nothing: no answer without a
// record, no death of the process, and work goes on by itself when there is room
// again. Some rounds kill or stop the process while the disk is full.
func TestFullDisk(t *testing.T) {
	t.Run("tmpfs", func(t *testing.T) { fullDisk(t, mountTmpfs(t, 160), 14) })
	t.Run("ext4", func(t *testing.T) { fullDisk(t, mountExt4(t, 192), 8) })
}

func fullDisk(t *testing.T, v *volume, rounds int) {
	c := newCrowd(t, newSeed(t), fates)
	c.refused = make(chan Reply, 1<<10)
	s := Prepare(t, c.Sites(), Options{Level: "INFO", Global: "persist_config off", Hookonce: "spool_size 32MiB"})
	s.writeWhole(t, s.inDir(c.Sites(), v.dir+"/store"))
	s.Restart(t)
	c.start(s)
	c.resume()
	rng := rand.New(rand.NewPCG(c.seed, 1<<62))
	ended, refusedStart := 0, 0
	for range rounds {
		c.await(1 + rng.IntN(16*senders))
		moment(rng.IntN(20))
		v.fill(t)
		for range 20 {
			r := c.awaitRefusal()
			if r.Status != 503 || r.Word != "refused; reason=no_capacity" || r.Header.Get("Retry-After") == "" {
				t.Errorf("a full disk was answered with %v, Retry-After %q", r, r.Header.Get("Retry-After"))
			}
		}
		if !s.running() {
			t.Fatalf("the process died of a full disk:\n%s", s.Logs.Tail(100))
		}
		if end := rng.IntN(4); end < 2 {
			ended++
			c.pause()
			if end == 0 {
				s.Kill(t)
			} else {
				s.Stop(t)
			}
			if !s.startsFull(t) {
				refusedStart++
				v.free(t)
				s.Restart(t)
			} else {
				v.free(t)
			}
			c.resume()
		} else {
			v.free(t)
		}
		c.await(senders)
	}
	c.finish()
	a := c.account()
	c.check(a)
	t.Logf("%d rounds, %d ended, %d starts refused, %d events, %d open, %d MiB free", rounds, ended, refusedStart, len(c.events), len(a.open), v.left(t)>>20)
	c.decide(a)
}

// startsFull starts the process on a full disk. It either serves or says why not.
func (s *Sidecar) startsFull(t *testing.T) bool {
	t.Helper()
	mark := s.Logs.Len()
	s.launch(t)
	serving := func(r Record) bool { return r.Msg() == "serving initial configuration" }
	if _, ok := s.Logs.wait(mark, serving, s.done); ok {
		return true
	}
	s.await(t)
	text := s.Logs.Tail(s.Logs.Len() - mark)
	if s.cmd.ProcessState.ExitCode() != 1 || !strings.Contains(text, "no room") || strings.Contains(text, "goroutine ") {
		t.Fatalf("the start on a full disk ended with %v:\n%s", s.cmd.ProcessState, text)
	}
	return false
}
