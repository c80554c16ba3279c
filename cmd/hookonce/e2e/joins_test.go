// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// awaitWaiting waits until n repeats wait for a running attempt. The stacks of
// the process are the only place where that shows before the attempt ends.
func (s *Sidecar) awaitWaiting(t testing.TB, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for ctx.Err() == nil {
		_, stacks := s.Call(t, http.MethodGet, "/debug/pprof/goroutine?debug=2", "")
		waiting := 0
		for stack := range strings.SplitSeq(string(stacks), "\n\n") {
			head, _, _ := strings.Cut(stack, "\n")
			if strings.Contains(head, "[select") && strings.Contains(stack, "(*call).await(") {
				waiting++
			}
		}
		if waiting >= n {
			return
		}
	}
	t.Fatalf("no %d repeats wait", n)
}

// T16: repeats that come while the attempt runs wait for it, and then get the
// real answer: success, failure, or doubt. R-01 with more copies.
func TestT16_repeatsJoin(t *testing.T) {
	const repeats = 8
	for _, w := range ways {
		for _, row := range []struct {
			name       string
			app        oracle.Behaviour
			status     int
			body       string
			word, wait string // of the first, of those who waited
			effects    int
		}{
			{"success", oracle.Behaviour{Hold: true, Status: 201, Body: "made", Header: map[string]string{"X-App": "yes"}}, 201, "made", "first", "in-progress", 1},
			{"failure", oracle.Behaviour{Hold: true, Status: 500, Body: "db locked"}, 500, "db locked", "first", "in-progress", 0},
			{"refusal", oracle.Behaviour{Hold: true, Status: 422, Body: "no"}, 422, "no", "first", "in-progress", 0},
			{"doubt", oracle.Behaviour{Hold: true, Then: oracle.Close}, 200, "", "held", "held", 1},
		} {
			t.Run(w.name+"/"+row.name, func(t *testing.T) {
				t.Parallel()
				app := NewApp(t, oracle.Config{})
				s := Start(t, Site(w.route("/github", "github", app.Addr())), Options{})
				app.Script(row.app)
				d := Delivery{Provider: "github", Body: `{"t":16}`}
				first := s.Go(t, d)
				app.Wait(t, d.Body, 1)
				var others []*Pending
				for range repeats {
					others = append(others, s.Go(t, d))
				}
				s.awaitWaiting(t, repeats)
				app.Release()
				a := first.Answer(t)
				a.Is(t, "first", row.status, row.word)
				for i, p := range others {
					b := p.Answer(t)
					b.Is(t, fmt.Sprint("repeat ", i), row.status, row.wait)
					if b.Body != row.body || a.Body != row.body || b.Header.Get("X-App") != a.Header.Get("X-App") {
						t.Errorf("repeat %d got %v %v, the first %v", i, b, b.Header, a)
					}
				}
				if n, asked := app.Effects(t, d.Body), len(app.Arrivals(d.Body)); n != row.effects || asked != 1 {
					t.Errorf("%d effects of %d requests, want %d of 1", n, asked, row.effects)
				}
			})
		}
	}
}

// T16: after inflight_wait a repeat is asked to return. It is never told 2xx: the
// attempt may still fail.
func TestT16_inflightWait(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{})
			s := Start(t, Site(w.route("/github", "github", app.Addr(), "inflight_wait 50ms")), Options{})
			app.Script(oracle.Behaviour{Hold: true, Status: 500})
			d := Delivery{Provider: "github", Body: `{"t":"16 wait"}`}
			first := s.Go(t, d)
			app.Wait(t, d.Body, 1)
			for range 3 {
				a := s.Deliver(t, d)
				a.Is(t, "repeat", 503, "in-progress")
				if a.Header.Get("Retry-After") != "5" {
					t.Errorf("Retry-After %q", a.Header.Get("Retry-After"))
				}
			}
			app.Release()
			first.Answer(t).Is(t, "first", 500, "first")
			s.Deliver(t, d).Is(t, "the next", 200, "first-again")
			s.Deliver(t, d).Is(t, "and then", 200, "duplicate")
		})
	}
}

// many copies at once, without an order: one reaches the app, nobody is
// told success before the app said so.
func TestR01_copiesAtOnce(t *testing.T) {
	const copies = 40
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{})
			s := Start(t, Site(w.route("/github", "github", app.Addr())), Options{})
			app.Script(oracle.Behaviour{Hold: true})
			d := Delivery{Provider: "github", Body: `{"r":"01"}`}
			all := make([]*Pending, copies)
			for i := range all {
				all[i] = s.Go(t, d)
			}
			app.Wait(t, d.Body, 1)
			s.awaitWaiting(t, copies-1)
			for i, p := range all {
				select {
				case <-p.Done():
					t.Errorf("copy %d was answered while the app works", i)
				default:
				}
			}
			app.Release()
			words := map[string]int{}
			for _, p := range all {
				a := p.Answer(t)
				words[fmt.Sprint(a.Status, " ", a.Word)]++
			}
			if words["200 first"] != 1 || words["200 in-progress"] != copies-1 {
				t.Errorf("answers: %v", words)
			}
			if n := len(app.Arrivals(d.Body)); n != 1 {
				t.Errorf("%d requests at the app, want 1", n)
			}
		})
	}
}

// A repeat that gives up waiting leaves the others alone.
func TestT16_waiterHangsUp(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	app.Script(oracle.Behaviour{Hold: true})
	d := Delivery{Provider: "github", Body: `{"waiter":"gone"}`}
	first := s.Go(t, d)
	app.Wait(t, d.Body, 1)
	patient := s.Go(t, d)
	s.awaitWaiting(t, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	d.Context = ctx
	if a, err := s.Send(d.Request(t, "http://"+s.Site)); err == nil {
		t.Errorf("got %v while the app works", a)
	}
	app.Release()
	first.Answer(t).Is(t, "first", 200, "first")
	patient.Answer(t).Is(t, "patient", 200, "in-progress")
}
