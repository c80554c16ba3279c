// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// comeBack does what Retry-After asks of a provider: it waits that long.
func comeBack(t *testing.T, a Answer) {
	t.Helper()
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil || seconds < 1 || seconds > 60 {
		t.Fatalf("%v: Retry-After %q", a, a.Header.Get("Retry-After"))
	}
	<-time.After(time.Duration(seconds) * time.Second)
}

// An app that is not there is known not to have done the work: the provider is
// asked to return, and the retry is forwarded once the app is back.
func TestO12_refused(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			addr := freeAddr(t)
			s := Start(t, Site(w.route("/github", "github", addr)), Options{})
			d := Delivery{Provider: "github", Body: `{"o":12}`}
			for i, next := range []string{"not-delivered", "not-delivered"} {
				a := s.Deliver(t, d)
				a.Is(t, fmt.Sprint("try ", i+1), 503, next)
				if a.Header.Get("Retry-After") == "" || a.Body != "" {
					t.Errorf("want Retry-After and no body, got %v %q", a.Header, a.Body)
				}
			}
			app := NewApp(t, oracle.Config{Addr: addr})
			s.Deliver(t, d).Is(t, "app is back", 200, "first-again")
			s.Deliver(t, d).Is(t, "repeat", 200, "duplicate")
			if n := app.Effects(t, d.Body); n != 1 {
				t.Errorf("%d effects, want 1", n)
			}
		})
	}
}

// The other ways of not reaching an app.
func TestO12_notReached(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	socket := filepath.Join(t.TempDir(), "app.sock")
	sick := "reverse_proxy " + freeAddr(t) + " {\n\t\t\tfail_duration 10m\n\t\t\tmax_fails 1\n\t\t}"
	s := Start(t, Site(
		Route("/name", "github", "upstream no-such-host.invalid:80"),
		Route("/name-forward", "github", "forward {\n\t\treverse_proxy no-such-host.invalid:80\n\t}"),
		Route("/socket", "github", "upstream unix/"+socket),
		Route("/fastcgi", "github", "forward {\n\t\tphp_fastcgi "+freeAddr(t)+"\n\t}"),
		Route("/sick", "github", "forward {\n\t\t"+sick+"\n\t}"),
		Route("/sick-next", "github"), "handle /sick-next {\n\t"+sick+"\n}",
		Route("/well", "github", "upstream "+app.Addr()),
	), Options{})
	for _, path := range []string{"/name", "/name-forward", "/socket", "/fastcgi", "/sick", "/sick-next"} {
		t.Run(path[1:], func(t *testing.T) {
			d := Delivery{Provider: "github", Path: path, Body: `{"path":"` + path + `"}`}
			for range 3 { // the second and third time, a sick upstream is not even tried
				s.Deliver(t, d).Is(t, path, 503, "not-delivered")
			}
		})
	}
	s.Deliver(t, Delivery{Provider: "github", Path: "/well", Body: "{}"}).Is(t, "another route", 200, "first")
}

func TestO13_tls(t *testing.T) {
	dir := t.TempDir()
	good := NewApp(t, oracle.Config{TLS: oracle.TLSGood})
	trust := filepath.Join(dir, "root.pem")
	if err := os.WriteFile(trust, good.RootPEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := []struct {
		name string
		app  *App
		word string
	}{
		{"trusted", good, "first"},
		{"stranger", NewApp(t, oracle.Config{TLS: oracle.TLSGood}), "not-delivered"},
		{"expired", NewApp(t, oracle.Config{TLS: oracle.TLSExpired}), "not-delivered"},
		{"wrong-name", NewApp(t, oracle.Config{TLS: oracle.TLSWrongName}), "not-delivered"},
		{"no-tls", NewApp(t, oracle.Config{}), "not-delivered"},
	}
	var routes []string
	for _, r := range rows {
		routes = append(routes,
			Route("/"+r.name, "github", "upstream https://"+r.app.Addr()+" {\n\t\ttls_trust_pool "+trust+"\n\t}"),
			Route("/"+r.name+"-forward", "github", "forward {\n\t\treverse_proxy https://"+r.app.Addr()+
				" {\n\t\t\ttransport http {\n\t\t\t\ttls_trust_pool file "+trust+"\n\t\t\t}\n\t\t}\n\t}"))
	}
	s := Start(t, Site(routes...), Options{})
	for _, r := range rows {
		for _, path := range []string{"/" + r.name, "/" + r.name + "-forward"} {
			t.Run(path[1:], func(t *testing.T) {
				d := Delivery{Provider: "github", Path: path, Body: `{"path":"` + path + `"}`}
				status := map[string]int{"first": 200, "not-delivered": 503}[r.word]
				s.Deliver(t, d).Is(t, path, status, r.word)
				if n := len(r.app.Arrivals(d.Body)); n != map[string]int{"first": 1}[r.word] {
					t.Errorf("%d requests arrived", n)
				}
			})
		}
	}
}

// An app that says "not now, in so many seconds" is left alone until then.
func TestO8_retryAfter(t *testing.T) {
	for _, w := range ways {
		for _, name := range []string{"busy", "unavailable"} {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				app := NewApp(t, oracle.Config{})
				s := Start(t, Site(w.route("/github", "github", app.Addr())), Options{})
				b := named(name)
				app.Script(b)
				d := Delivery{Provider: "github", Body: `{"o":8}`}
				a := s.Deliver(t, d)
				a.Is(t, "first", b.Status, "first")
				if got := a.Header.Get("Retry-After"); got != "2" {
					t.Errorf("the app's Retry-After came back as %q", got)
				}
				early := s.Deliver(t, d)
				early.Is(t, "too early", 503, "not-delivered")
				if n := len(app.Arrivals(d.Body)); n != 1 {
					t.Errorf("the app was asked %d times before its time", n)
				}
				comeBack(t, early)
				s.Deliver(t, d).Is(t, "in time", 200, "first-again")
				s.Deliver(t, d).Is(t, "repeat", 200, "duplicate")
				if n := app.Effects(t, d.Body); n != 1 {
					t.Errorf("%d effects, want 1", n)
				}
			})
		}
	}
}

// L-12: the first of two addresses refuses, the second gets the same bytes.
// L-13: the first has read them and is silent for ever, so the second gets nothing.
func TestSeveralAddresses(t *testing.T) {
	first, second := NewApp(t, oracle.Config{}), NewApp(t, oracle.Config{})
	s := Start(t, Site(
		Route("/refused", "github", "upstream "+freeAddr(t)+" "+second.Addr()),
		Route("/two", "github", "upstream "+first.Addr()+" "+second.Addr()),
	), Options{})
	t.Run("L-12", func(t *testing.T) {
		d := Delivery{Provider: "github", Path: "/refused", Body: `{"case":"L-12","text":"\u00e4\t"}`}
		s.Deliver(t, d).Is(t, "first", 200, "first")
		s.Deliver(t, d).Is(t, "repeat", 200, "duplicate")
		if n := second.Effects(t, d.Body); n != 1 {
			t.Errorf("%d effects of the same bytes at the second, want 1", n)
		}
	})
	for _, name := range []string{"reset", "close", "cut-head"} {
		t.Run("L-13/"+name, func(t *testing.T) {
			first.Script(named(name))
			d := Delivery{Provider: "github", Path: "/two", Body: `{"case":"L-13 ` + name + `"}`}
			s.Deliver(t, d).Is(t, "first", 200, "held")
			s.Deliver(t, d).Is(t, "repeat", 200, "held")
			if a, b := len(first.Arrivals(d.Body)), len(second.Arrivals(d.Body)); a != 1 || b != 0 {
				t.Errorf("%d and %d requests arrived, want 1 and 0", a, b)
			}
		})
	}
	t.Run("an answer of the first counts", func(t *testing.T) {
		first.Script(answering(500))
		d := Delivery{Provider: "github", Path: "/two", Body: `{"case":"500"}`}
		s.Deliver(t, d).Is(t, "first", 500, "first")
		if n := len(second.Arrivals(d.Body)); n != 0 {
			t.Errorf("%d requests at the second, want 0", n)
		}
	})
}
