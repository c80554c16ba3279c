// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// running starts a delivery that the app holds, and returns when it is there.
func running(t *testing.T, s *Sidecar, app *App, d Delivery) *Pending {
	t.Helper()
	app.Script(named("hold"))
	p := s.Go(t, d)
	app.Wait(t, d.Body, 1)
	return p
}

// A provider that hangs up (R-07: at its own limit) changes nothing: the attempt
// goes on, its outcome is recorded, the resend is a duplicate.
func TestO24_providerHangsUp(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{})
			s := Start(t, Site(w.route("/github", "github", app.Addr())), Options{})
			ctx, hangUp := context.WithCancel(t.Context())
			d := Delivery{Provider: "github", Body: `{"o":24}`, Context: ctx}
			p := running(t, s, app, d)
			hangUp()
			if p.Err() == nil {
				t.Fatal("the provider should have gone")
			}
			d.Context = nil
			resend := s.Go(t, d) // joins the attempt that still runs
			app.Release()
			a := resend.Answer(t)
			if a.Status != 200 || a.Word != "in-progress" && a.Word != "duplicate" {
				t.Errorf("resend: %v", a)
			}
			s.Deliver(t, d).Is(t, "afterwards", 200, "duplicate")
			if n := app.Effects(t, d.Body); n != 1 {
				t.Errorf("%d effects, want 1", n)
			}
		})
	}
}

// A failure that comes after the provider has gone is not lost either: the
// resend is forwarded.
func TestO24_failsLater(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	ctx, hangUp := context.WithCancel(t.Context())
	d := Delivery{Provider: "github", Body: `{"o":24,"fails":true}`, Context: ctx}
	app.Script(oracle.Behaviour{Hold: true, Status: 500})
	p := s.Go(t, d)
	app.Wait(t, d.Body, 1)
	hangUp()
	if p.Err() == nil {
		t.Fatal("the provider should have gone")
	}
	app.Release()
	s.Logs.Wait(t, "the decision record of the attempt", func(r Record) bool {
		return r.Msg() == "delivery" && r.Str("outcome") == "not_done_retry"
	})
	d.Context = nil
	s.Deliver(t, d).Is(t, "resend", 200, "first-again")
}

// A reload in the middle of an attempt changes nothing: the attempt ends under
// the old configuration, repeats under the new one wait for it.
func TestO29_reload(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{})
			site := Site(w.route("/github", "github", app.Addr()))
			s := Start(t, site, Options{})
			d := Delivery{Provider: "github", Body: `{"o":29}`}
			first := running(t, s, app, d)
			for i := range 3 {
				if err := s.Reload(t, site+strings.Repeat("# changed\n", i+1)+"http://"+freeAddr(t)+" {\n\trespond ok\n}\n"); err != nil {
					t.Fatal(err)
				}
			}
			second := s.Go(t, d)
			app.Release()
			first.Answer(t).Is(t, "first", 200, "first")
			if a := second.Answer(t); a.Status != 200 || a.Word != "in-progress" && a.Word != "duplicate" {
				t.Errorf("repeat under the new configuration: %v", a)
			}
			s.Deliver(t, d).Is(t, "afterwards", 200, "duplicate")
			if n := app.Effects(t, d.Body); n != 1 {
				t.Errorf("%d effects, want 1", n)
			}
		})
	}
}

// A shutdown waits for the attempt, within its grace period.
func TestO30_drain(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{})
			s := Start(t, Site(w.route("/github", "github", app.Addr())), Options{})
			d := Delivery{Provider: "github", Body: `{"o":30}`}
			first := running(t, s, app, d)
			stopped := make(chan struct{})
			mark := s.Logs.Len()
			go func() { defer close(stopped); s.Stop(t) }()
			s.Logs.Since(t, mark, "shutting down", func(r Record) bool { return strings.HasPrefix(r.Msg(), "shutting down") })
			app.Release()
			first.Answer(t).Is(t, "first", 200, "first")
			<-stopped
			s.Restart(t)
			s.Deliver(t, d).Is(t, "after the restart", 200, "duplicate")
			if n := app.Effects(t, d.Body); n != 1 {
				t.Errorf("%d effects, want 1", n)
			}
		})
	}
}

// A shutdown that cannot wait any longer leaves the attempt uncertain.
func TestO31_drainIsOver(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{})
			site := Site(w.route("/github", "github", app.Addr()))
			s := Start(t, site, Options{})
			if err := s.Load(t, strings.Replace(s.Caddyfile(site), "grace_period 20s", "grace_period 300ms", 1)); err != nil {
				t.Fatal(err)
			}
			d := Delivery{Provider: "github", Body: `{"o":31}`}
			first := running(t, s, app, d)
			s.Stop(t)
			if first.Err() == nil && first.Answer(t).Status == 200 && first.Answer(t).Word != "held" {
				t.Errorf("the first was told %v", first.Answer(t))
			}
			app.Release()
			s.Restart(t)
			s.Deliver(t, d).Is(t, "after the restart", 200, "held")
			if n := len(app.Arrivals(d.Body)); n != 1 {
				t.Errorf("%d requests at the app, want 1", n)
			}
		})
	}
}

// O26: killed while the app works. O27: killed after its answer. O-01: killed
// right after the 200 went out.
func TestKilled(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	t.Run("O26", func(t *testing.T) {
		d := Delivery{Provider: "github", Body: `{"o":26}`}
		first := running(t, s, app, d)
		s.Kill(t)
		if first.Err() == nil {
			t.Error("the connection should have died")
		}
		app.Release()
		s.Restart(t)
		s.Deliver(t, d).Is(t, "after the restart", 200, "held")
		if n := app.Effects(t, d.Body); n != 1 {
			t.Errorf("%d effects, want 1", n)
		}
	})
	t.Run("O-01", func(t *testing.T) {
		d := Delivery{Provider: "github", Body: `{"o":"-01"}`}
		s.Deliver(t, d).Is(t, "first", 200, "first")
		s.Kill(t)
		s.Restart(t)
		s.Deliver(t, d).Is(t, "after the restart", 200, "duplicate")
		if n := app.Effects(t, d.Body); n != 1 {
			t.Errorf("%d effects, want 1", n)
		}
	})
	t.Run("a known failure survives", func(t *testing.T) {
		d := Delivery{Provider: "github", Body: `{"o":"failed"}`}
		app.Script(answering(500))
		s.Deliver(t, d).Is(t, "first", 500, "first")
		s.Kill(t)
		s.Restart(t)
		s.Deliver(t, d).Is(t, "after the restart", 200, "first-again")
	})
}
