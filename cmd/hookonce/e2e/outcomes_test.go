// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// outcome is one row of the table of how an attempt can end, as far as the
// answer of a plain HTTP/1.1 app decides it.
type outcome struct {
	row    string
	app    oracle.Behaviour // what the attempt meets; later ones meet 200
	status int              // what the provider of this delivery gets
	word   string
	next   string // Hookonce-Status of a repeat afterwards
	effect int    // entries of the ledger after the repeat

	or *outcome // what may be seen instead, for rows that chance decides

	lines []string // of the hookonce block
	size  int      // of the body in bytes, if it matters
	conn  string   // fresh or reused, when only one makes sense
}

func named(name string) oracle.Behaviour { return oracle.MustNamed(name) }

func answering(status int) oracle.Behaviour {
	return oracle.Behaviour{Status: status, Body: fmt.Sprint("the app says ", status), Header: map[string]string{"X-App": "yes"}}
}

func outcomes() (rows []outcome) {
	add := func(name string, b oracle.Behaviour, status int, word, next string, effect int, lines ...string) *outcome {
		rows = append(rows, outcome{row: name, app: b, status: status, word: word, next: next, effect: effect, lines: lines})
		return &rows[len(rows)-1]
	}
	for _, s := range []int{200, 201, 202, 299} {
		add(fmt.Sprint("O1 ", s), answering(s), s, "first", "duplicate", 1)
	}
	add("O1 204", oracle.Behaviour{Status: 204}, 204, "first", "duplicate", 1)
	add("O1 chunked", named("chunked"), 200, "first", "duplicate", 1)
	add("O1 after 103", named("interim"), 200, "first", "duplicate", 1)
	add("O2 HTTP 1.0", named("http10"), 200, "first", "duplicate", 1)
	for _, name := range []string{"cut-length", "cut-chunked", "cut-reset"} {
		add("O3 "+name, named(name), 200, "held", "held", 1)
	}
	add("O4 302", named("redirect"), 302, "first", "first-again", 1)
	add("O4 302 is success here", named("redirect"), 302, "first", "duplicate", 0, "success 2xx 302")
	for _, s := range []int{400, 401, 403, 404, 405, 411, 413, 414, 415, 422} {
		add(fmt.Sprint("O5 ", s), answering(s), s, "first", "first-again", 1)
	}
	add("O6 410", named("gone"), 410, "first", "first-again", 1)
	for _, s := range []int{408, 409, 421, 423, 425} {
		add(fmt.Sprint("O7 ", s), answering(s), s, "first", "first-again", 1)
	}
	add("O8 429 without a time", answering(429), 429, "first", "first-again", 1)
	add("O8 503 without a time", answering(503), 503, "first", "first-again", 1)
	add("O9 500", answering(500), 500, "first", "first-again", 1)
	add("O9 507", answering(507), 507, "first", "first-again", 1)
	add("O9 500 strict", named("done-500"), 200, "held", "held", 1, "outcome strict")
	add("O10 502", answering(502), 502, "first", "first-again", 1)
	add("O10 502 strict", answering(502), 200, "held", "held", 0, "outcome strict")
	add("O11 504", answering(504), 200, "held", "held", 1)
	add("O11 524", answering(524), 200, "held", "held", 1)
	o15 := add("O15 FIN at once", named("close-accept"), 200, "held", "held", 0)
	o15.conn, o15.or = "fresh", &outcome{status: 503, word: "not-delivered", next: "first-again", effect: 1}
	o15 = add("O15 RST at once", named("reset-accept"), 200, "held", "held", 0)
	o15.conn, o15.or = "fresh", &outcome{status: 503, word: "not-delivered", next: "first-again", effect: 1}
	add("O16 stale keep-alive", named("close-after"), 200, "first", "duplicate", 1)
	add("O16 FIN unread", named("close-reused"), 200, "held", "held", 0).conn = "reused"
	add("O16 RST unread", named("reset-reused"), 200, "held", "held", 0).conn = "reused"
	add("O18 done, then FIN", named("done-reused"), 200, "held", "held", 1).conn = "reused"
	for _, name := range []string{"close-body", "reset-body"} {
		add("O17 "+name, named(name), 200, "held", "held", 0).size = 8 << 20
	}
	add("O18 FIN", named("close"), 200, "held", "held", 1)
	add("O18 RST", named("reset"), 200, "held", "held", 1)
	add("O19 silent", named("silent"), 200, "held", "held", 1, "upstream_timeout 300ms")
	add("O19 never read", named("never-read"), 200, "held", "held", 0, "upstream_timeout 300ms")
	for _, name := range []string{"cut-status", "cut-head", "interim-close"} {
		add("O20 "+name, named(name), 200, "held", "held", 1)
	}
	add("O21 early 413", named("early-413"), 413, "first", "first-again", 1).size = 8 << 20
	// reverse_proxy keeps the 101 to itself.
	add("O22 upgrade", named("upgrade"), 502, "held", "held", 1).or = &outcome{status: 200, word: "held", next: "held", effect: 1}
	return rows
}

// cell is an outcome by one way to the app, on a fresh or a reused connection.
type cell struct {
	outcome
	way
	path string
	app  *App
	conn string
}

func cells(t *testing.T) (all []cell) {
	for i, o := range outcomes() {
		for _, w := range ways {
			for _, conn := range []string{"fresh", "reused"} {
				if o.conn == "" || o.conn == conn {
					all = append(all, cell{o, w, fmt.Sprintf("/%d-%s-%s", i, w.name, conn), NewApp(t, oracle.Config{}), conn})
				}
			}
		}
	}
	return all
}

// Every way in which an attempt can end, by every way to the app, on fresh and
// on reused connections: what the provider gets, what a repeat gets, and how
// often the app did the work.
func TestOutcomes(t *testing.T) {
	all := cells(t)
	var routes []string
	for _, c := range all {
		routes = append(routes, c.way.route(c.path, "github", c.app.Addr(), append(c.lines, "max_body 16MiB")...))
	}
	s := Start(t, Site(routes...), Options{})
	t.Run("rows", func(t *testing.T) {
		for _, c := range all {
			t.Run(strings.Join([]string{c.row, c.way.name, c.conn}, "/"), func(t *testing.T) {
				t.Parallel()
				c.check(t, s)
			})
		}
	})
}

func (c *cell) check(t *testing.T, s *Sidecar) {
	if c.conn == "reused" {
		s.Deliver(t, Delivery{Provider: "github", Path: c.path, Body: `{"warm":"up"}`}).Is(t, "warm-up", 200, "first")
	}
	c.app.Script(c.outcome.app)
	d := Delivery{Provider: "github", Path: c.path, Body: fmt.Sprintf(`{"cell":%q,"fill":%q}`, t.Name(), strings.Repeat("x", c.size))}
	a := s.Deliver(t, d)
	if c.or != nil && a.Status == c.or.status {
		c.status, c.word, c.next, c.effect = c.or.status, c.or.word, c.or.next, c.or.effect
	}
	a.Is(t, "first", c.status, c.word)
	if c.word == "first" && (a.Body != c.outcome.app.Body || a.Header.Get("X-App") != c.outcome.app.Header["X-App"]) {
		t.Errorf("the app's answer did not come back unchanged: %v %v", a, a.Header)
	}
	c.checkState(t, s)
	status := 200
	if c.next == "first-again" {
		c.app.Script(answering(201))
		status = 201
	}
	s.Deliver(t, d).Is(t, "repeat", status, c.next)
	if n := c.app.Effects(t, d.Body); n != c.effect {
		t.Errorf("%d effects, want %d", n, c.effect)
	}
	if left := c.app.Stats().ScriptLeft; left != 0 {
		t.Errorf("the app was not asked: %d behaviours are left", left)
	}
}

// checkState compares what the operator sees after the first delivery: T11, T12
// and T13, T14.
func (c *cell) checkState(t *testing.T, s *Sidecar) {
	t.Helper()
	open := s.Items(t, "route="+url.QueryEscape("github:"+c.path))
	want := Item{State: map[string]string{"first-again": "ready", "held": "uncertain"}[c.next], Owed: c.next == "held", Kept: true, Attempts: 1, Seen: 1}
	switch {
	case c.next == "duplicate" && len(open) != 0:
		t.Errorf("open after success: %+v", open)
	case c.next == "duplicate":
	case len(open) != 1:
		t.Errorf("%d open deliveries, want 1: %+v", len(open), open)
	case open[0].State != want.State || open[0].Owed != want.Owed || open[0].Kept != want.Kept || open[0].Attempts != want.Attempts || open[0].Seen != want.Seen:
		t.Errorf("afterwards %+v, want %+v", open[0], want)
	}
}
