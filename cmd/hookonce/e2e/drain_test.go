// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// terminate asks the process to end and returns when it has begun to.
func (s *Sidecar) terminate(t *testing.T) {
	t.Helper()
	mark := s.Logs.Len()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.Logs.Since(t, mark, "grace period", func(r Record) bool { return strings.Contains(r.Msg(), "grace period initiated") })
}

// ended waits for the end, which must be clean.
func (s *Sidecar) ended(t *testing.T) {
	t.Helper()
	s.await(t)
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("the sidecar ended with %d:\n%s", code, s.Logs.Tail(100))
	}
}

// untilClosed delivers until nobody listens any more, and returns how many were
// answered.
func (s *Sidecar) untilClosed(t *testing.T) int {
	t.Helper()
	for n := range 100_000 {
		a, err := s.Send(Delivery{Provider: "github", Body: fmt.Sprintf(`{"after":%d}`, n)}.Request(t, "http://"+s.Site))
		if err != nil {
			return n
		}
		a.Is(t, "during the shutdown", 200, "first")
	}
	t.Fatal("it listens for ever")
	return 0
}

// A shutdown with many attempts under way waits for all of them, whatever their
// outcome and whether their provider is still there. What it still takes at the
// last moment is done as well.
func TestDrain(t *testing.T) {
	const each = 8
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	kinds := map[string]struct {
		does   string // of the app, after it was released
		ctx    context.Context
		status int
		word   string
		next   string
	}{
		"done":     {`{"hold":true}`, nil, 200, "first", "duplicate"},
		"fails":    {`[{"hold":true,"status":500},"ok"]`, nil, 500, "first", "first-again"},
		"unknown":  {`{"hold":true,"then":"close"}`, nil, 200, "held", "held"},
		"hangs up": {`{"hold":true}`, ctx, 0, "", "duplicate"},
	}
	body := func(kind string, n int) string {
		return fmt.Sprintf(`{"kind":%q,"n":%d,"effectd":%s}`, kind, n, kinds[kind].does)
	}
	pending := make(map[string]*Pending)
	for kind, k := range kinds {
		for n := range each {
			d := Delivery{Provider: "github", Body: body(kind, n), Context: k.ctx}
			pending[d.Body] = s.Go(t, d)
			app.Wait(t, d.Body, 1)
		}
	}
	s.terminate(t)
	hangUp()
	after := s.untilClosed(t)
	app.Release()
	for kind, k := range kinds {
		for n := range each {
			p := pending[body(kind, n)]
			if k.ctx == nil {
				p.Answer(t).Is(t, kind, k.status, k.word)
			} else if p.Err() == nil {
				t.Error("the provider should have gone")
			}
		}
	}
	s.ended(t)
	s.Restart(t)
	for kind, k := range kinds {
		for n := range each {
			s.Deliver(t, Delivery{Provider: "github", Body: body(kind, n)}).Is(t, kind+", after the restart", 200, k.next)
			if effects := app.Effects(t, body(kind, n)); effects != 1 {
				t.Errorf("%s: %d effects", kind, effects)
			}
		}
	}
	for n := range after {
		s.Deliver(t, Delivery{Provider: "github", Body: fmt.Sprintf(`{"after":%d}`, n)}).Is(t, "taken at the last moment", 200, "duplicate")
	}
	for _, i := range s.Items(t, "state=uncertain") {
		if i.Reason != "no_answer" {
			t.Errorf("the shutdown left %+v", i)
		}
	}
}

// When the grace period is over the rest is given up: those connections die, the
// deliveries are uncertain, and what had ended before is known.
func TestDrainIsOver(t *testing.T) {
	const each = 8
	app := NewApp(t, oracle.Config{})
	sites := Site(Route("/github", "github", "upstream "+app.Addr()))
	s := Prepare(t, sites, Options{})
	s.writeWhole(t, strings.Replace(s.Caddyfile(sites), "grace_period 20s", "grace_period 500ms", 1))
	s.Restart(t)
	late := make(map[string]*Pending)
	for n := range each {
		s.Deliver(t, Delivery{Provider: "github", Body: fmt.Sprintf(`{"in time":%d}`, n)}).Is(t, "in time", 200, "first")
		d := Delivery{Provider: "github", Body: fmt.Sprintf(`{"late":%d,"effectd":"hold"}`, n)}
		late[d.Body] = s.Go(t, d)
		app.Wait(t, d.Body, 1)
	}
	s.terminate(t)
	s.ended(t)
	for body, p := range late {
		if p.Err() == nil {
			t.Errorf("a delivery that was given up was answered %v", p.Answer(t))
		}
		app.Wait(t, body, 1)
	}
	app.Release()
	s.Restart(t)
	for n := range each {
		s.Deliver(t, Delivery{Provider: "github", Body: fmt.Sprintf(`{"in time":%d}`, n)}).Is(t, "in time, repeated", 200, "duplicate")
	}
	for body := range late {
		s.Deliver(t, Delivery{Provider: "github", Body: body}).Is(t, "late, repeated", 200, "held")
		if i := s.ItemOf(t, body); i.State != "uncertain" || i.Reason != "shutdown" && i.Reason != "owner_lost" || i.Request == nil || !i.Owed {
			t.Errorf("late: %+v", i)
		}
		if n := app.Effects(t, body); n != 1 {
			t.Errorf("%d effects, want 1", n)
		}
	}
}
