// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// An answer that is too large to keep goes to the provider as it comes. When it
// then breaks, the provider's connection breaks as well, and the delivery is
// uncertain.
func TestO3_largeAnswer(t *testing.T) {
	large := strings.Repeat("0123456789abcdef", 4<<20/16)
	app := NewApp(t, oracle.Config{})
	var routes []string
	for _, w := range ways {
		routes = append(routes, w.route("/"+w.name, "github", app.Addr()))
	}
	s := Start(t, Site(routes...), Options{})
	for _, w := range ways {
		t.Run(w.name+"/whole", func(t *testing.T) {
			app.Script(oracle.Behaviour{Body: large})
			d := Delivery{Provider: "github", Path: "/" + w.name, Body: `{"whole":"` + w.name + `"}`}
			if a := s.Deliver(t, d); a.Status != 200 || a.Word != "first" || a.Body != large {
				t.Errorf("got %d %q and %d bytes", a.Status, a.Word, len(a.Body))
			}
			s.Deliver(t, d).Is(t, "repeat", 200, "duplicate")
		})
		t.Run(w.name+"/cut", func(t *testing.T) {
			app.Script(oracle.Behaviour{Body: large, Cut: oracle.CutBody})
			d := Delivery{Provider: "github", Path: "/" + w.name, Body: `{"cut":"` + w.name + `"}`}
			if a, err := s.Send(d.Request(t, "http://"+s.Site)); err == nil {
				t.Errorf("the provider took %v and %d bytes for a whole answer", a.Status, len(a.Body))
			}
			s.Deliver(t, d).Is(t, "repeat", 200, "held")
			if n := app.Effects(t, d.Body); n != 1 {
				t.Errorf("%d effects, want 1", n)
			}
		})
	}
}

// HTTP/2 says that a stream was not processed.
func TestO23_unprocessed(t *testing.T) {
	for _, scheme := range []string{"h2c", "https"} {
		for _, name := range []string{"refuse-stream", "goaway"} {
			t.Run(scheme+"/"+name, func(t *testing.T) {
				t.Parallel()
				cfg, lines := oracle.Config{HTTP: oracle.HTTP2}, ""
				if scheme == "https" {
					cfg.TLS, lines = oracle.TLSGood, " {\n\t\ttls_insecure_skip_verify\n\t}"
				}
				app := NewApp(t, cfg)
				s := Start(t, Site(Route("/github", "github", "upstream "+scheme+"://"+app.Addr()+lines)), Options{})
				app.Script(named(name))
				d := Delivery{Provider: "github", Body: `{"o":23}`}
				s.Deliver(t, d).Is(t, "first", 503, "not-delivered")
				s.Deliver(t, d).Is(t, "repeat", 200, "first-again")
				s.Deliver(t, d).Is(t, "third", 200, "duplicate")
				if n := app.Effects(t, d.Body); n != 1 {
					t.Errorf("%d effects, want 1", n)
				}
			})
		}
	}
}

// The store has no room: nothing is sent, and the provider is asked to return.
func TestO32_noRoom(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	site := Site(Route("/github", "github", "upstream "+app.Addr()))
	s := Start(t, site, Options{})
	before := Delivery{Provider: "github", Body: `{"before":true}`}
	s.Deliver(t, before).Is(t, "with room", 200, "first")
	s.Stop(t)
	s.writeWhole(t, strings.Replace(s.Caddyfile(site), "min_free 32MiB", "min_free 900PiB", 1))
	s.Restart(t)
	d := Delivery{Provider: "github", Body: `{"o":32}`}
	for i := range 2 {
		a := s.Deliver(t, d)
		a.Is(t, fmt.Sprint("try ", i+1), 503, "refused; reason=no_capacity")
		if a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	if n := len(app.Arrivals(d.Body)); n != 0 {
		t.Errorf("%d requests at the app, want 0", n)
	}
	s.Deliver(t, before).Is(t, "what is known is known", 200, "duplicate")
	s.Stop(t)
	s.write(t, site)
	s.Restart(t)
	s.Deliver(t, d).Is(t, "room again", 200, "first")
}

// Handlers that answer by themselves are the app; one that gives up without an
// answer leaves doubt (a panic is row O34); no handler at all is known.
func TestLocalHandlers(t *testing.T) {
	s := Start(t, Site(
		Route("/respond", "github"), "respond /respond done 201",
		Route("/refuse", "github"), "respond /refuse no 422",
		Route("/error", "github"), "error /error nope 403",
		Route("/abort", "github"), "abort /abort",
		Route("/nobody", "github"),
		Route("/inside", "github", "forward {\n\t\trespond inside 202\n\t}"),
		Route("/inside-nobody", "github", "forward {\n\t\theader X-Only header\n\t}"),
	), Options{})
	for _, row := range []struct {
		path   string
		status int
		word   string
		again  int
		next   string
	}{
		{"/respond", 201, "first", 200, "duplicate"},
		{"/refuse", 422, "first", 422, "first-again"},
		{"/error", 403, "not-delivered", 403, "not-delivered"},
		{"/abort", 200, "held", 200, "held"},
		{"/nobody", 503, "not-delivered", 503, "not-delivered"},
		{"/inside", 202, "first", 200, "duplicate"},
		{"/inside-nobody", 503, "not-delivered", 503, "not-delivered"},
	} {
		t.Run(row.path[1:], func(t *testing.T) {
			d := Delivery{Provider: "github", Path: row.path, Body: `{"path":"` + row.path + `"}`}
			s.Deliver(t, d).Is(t, "first", row.status, row.word)
			s.Deliver(t, d).Is(t, "repeat", row.again, row.next)
		})
	}
}
