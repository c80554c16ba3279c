// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// More trial cases, as stories: each delivery and what its provider is told. All
// that is told "first" reaches the app, and nothing else does.
func TestCases(t *testing.T) {
	gh := func(id, body string) Delivery { return Delivery{Provider: "github", ID: id, Body: body} }
	own := func(path, body string) Delivery {
		return Delivery{Provider: "generic-hmac-sha256-hex", Path: path, ID: digest(path + body)[:8], Body: body}
	}
	shop := func(id, topic, body string) Delivery {
		return Delivery{Provider: "shopify", ID: id, Body: body, Header: map[string]string{"X-Shopify-Topic": topic, "X-Shopify-Event-Id": "ev"}}
	}
	form := func(body string) Delivery {
		d := own("/form", body)
		d.Header = map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
		return d
	}
	long := strings.Repeat("x", 8000)
	rows := []struct {
		name  string
		steps []step
	}{
		{"I-14 another webhook ID for one event", []step{{shop("w1", "orders/create", "{}"), "first"}, {shop("w2", "orders/create", "{}"), "held"}, {shop("w3", "orders/paid", `{"p":1}`), "first"}}},
		{"I-16 large numbers", []step{{own("/id", `{"id":9123456789654321001}`), "first"}, {own("/id", `{"id":9123456789654321002}`), "first"}, {own("/id", `{"id":9123456789654321001}`), "duplicate"}}},
		{"I-17 spellings of a number", []step{{own("/id", `{"id":1000}`), "first"}, {own("/id", `{"id":1000.0}`), "first"}, {own("/id", `{"id":1e3}`), "first"}, {own("/id", `{"id":"1000"}`), "first"}, {own("/id", `{"id":1000}`), "duplicate"}}},
		{"I-19 no object", []step{{own("/id", "null"), "first"}, {own("/id", "[]"), "first"}, {own("/id", `"x"`), "first"}, {own("/id", "42"), "first"}, {own("/id", "no JSON"), "first"}, {own("/id", "42"), "duplicate"}}},
		{"I-22 placeholder IDs", []step{{gh("null", "ping"), "first"}, {gh("null", "real"), "first"}, {gh("undefined", "other"), "first"}, {gh("0", "zero"), "first"}}},
		{"I-23 a new header ID for each attempt", []step{{own("/id", `{"id":"e1"}`), "first"}, {Delivery{Provider: "generic-hmac-sha256-hex", Path: "/id", ID: "another", Body: `{"id":"e1"}`}, "duplicate"}}},
		{"I-25 composite keys", []step{{form("a=x&b=yz"), "first"}, {form("a=xy&b=z"), "first"}, {form("a=x&b=yz"), "duplicate"}}},
		{"S13 duplicate keys in JSON", []step{{own("/id", `{"id":"1","id":"2"}`), "held"}}},
		{"B-11 no body, told apart by ID", []step{{gh("b1", ""), "first"}, {gh("b2", ""), "first"}, {gh("b1", ""), "duplicate"}}},
		{"B-12 20 MB", []step{{gh("b3", strings.Repeat("0123456789", 2<<20)), "first"}, {gh("b3", strings.Repeat("0123456789", 2<<20)), "duplicate"}}},
		{"G-04 out of order", []step{{gh("g1", `{"created":2}`), "first"}, {gh("g2", `{"created":1}`), "first"}}},
		{"A-05 long header IDs", []step{{gh(long+"1", "l1"), "held"}, {gh(long+"2", "l2"), "held"}, {gh(long+"1", "l1"), "held"}}},
		{"A-05 long body IDs", []step{{own("/id", `{"id":"`+strings.Repeat(long, 9)+`1"}`), "held"}, {own("/id", `{"id":"`+strings.Repeat(long, 9)+`2"}`), "held"}}},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{})
			up := "upstream " + app.Addr()
			s := Start(t, Site(
				Route("/github", "github", up), Route("/shopify", "shopify", up),
				Route("/id", "generic-hmac-sha256-hex", up, "delivery_id json /id"),
				Route("/form", "generic-hmac-sha256-hex", up, "delivery_id form a + form b"),
			), Options{})
			forwarded := 0
			for n, step := range r.steps {
				s.Deliver(t, step.d).Is(t, fmt.Sprint("delivery ", n+1), 200, step.word)
				if step.word == "first" {
					forwarded++
				}
			}
			if n := int(app.Stats().Requests); n != forwarded {
				t.Errorf("%d requests at the app, want %d", n, forwarded)
			}
		})
	}
}

// L-07: the app is down and the provider never sends again by itself. The event
// is not gone: the operator sees it and sends it once the app is back.
func TestL07_down(t *testing.T) {
	for _, w := range ways[:2] {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			addr := freeAddr(t)
			s := Start(t, Site(w.route("/github", "github", addr)), Options{})
			d := Delivery{Provider: "github", Body: `{"l":"07"}`}
			s.Deliver(t, d).Is(t, "down", 503, "not-delivered")
			item := s.ItemOf(t, d.Body)
			if item.State != "ready" || !item.Kept || item.Owed {
				t.Errorf("after the failure: %+v", item)
			}
			s.Kill(t)
			s.Restart(t)
			app := NewApp(t, oracle.Config{Addr: addr})
			s.Act(t, item.ID, "retry")
			got := app.Wait(t, d.Body, 1)
			if got.Path != "/github" || got.Header.Get("X-Hub-Signature-256") == "" || got.Header.Get("X-GitHub-Delivery") == "" {
				t.Errorf("sent again as %s %v", got.Path, got.Header)
			}
			s.Deliver(t, d).Is(t, "redelivery", 200, "duplicate")
			if n := app.Effects(t, d.Body); n != 1 {
				t.Errorf("%d effects, want 1", n)
			}
		})
	}
}

// L-15: what is sent again late may be refused by an app that checks the age of
// the signature. It stays, with its bytes, and can be sent once more.
func TestL15_refusedLate(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/stripe", "stripe", "upstream "+app.Addr())), Options{})
	app.Script(named("close"), answering(401), answering(200))
	d := Delivery{Provider: "stripe", Body: `{"id":"evt_l15"}`}
	s.Deliver(t, d).Is(t, "first", 200, "held")
	item := s.ItemOf(t, d.Body)
	s.Act(t, item.ID, "retry")
	if again := s.Item(t, item.ID); again.State != "ready" || again.Reason != "refused" || !again.Kept || !again.Owed {
		t.Errorf("after the refusal: %+v", again)
	}
	s.Act(t, item.ID, "retry")
	if again := s.Item(t, item.ID); again.State != "confirmed" || again.Attempts != 3 {
		t.Errorf("after the last try: %+v", again)
	}
}

// O-06: validating a configuration beside the server that runs it needs nothing
// that the server holds.
func TestO06_validateBeside(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	s.Deliver(t, Delivery{Provider: "github", Body: "1"}).Is(t, "before", 200, "first")
	if r := Run(t, nil, "validate", "--adapter", "caddyfile", "--config", s.file()); r.Code != 0 {
		t.Errorf("validate ended with %d:\n%s", r.Code, r.Output)
	}
	s.Deliver(t, Delivery{Provider: "github", Body: "2"}).Is(t, "after", 200, "first")
}

// O-10: IPv6 all the way.
func TestO10_ipv6(t *testing.T) {
	app := NewApp(t, oracle.Config{Addr: "[::1]:0"})
	listen := strings.Replace(freeAddr(t), "127.0.0.1", "[::1]", 1)
	var routes []string
	for _, w := range ways {
		routes = append(routes, w.route("/"+w.name, "github", app.Addr()))
	}
	s := Start(t, strings.Replace(Site(routes...), "<site>", "http://"+listen, 1), Options{})
	for _, w := range ways {
		d := Delivery{Provider: "github", Path: "/" + w.name, Body: w.name}
		for _, word := range []string{"first", "duplicate"} {
			a, err := s.Send(d.Request(t, "http://"+listen))
			if err != nil {
				t.Fatal(err)
			}
			a.Is(t, w.name, http.StatusOK, word)
		}
		if from := app.Wait(t, d.Body, 1).Header.Get("X-Forwarded-For"); from != "::1" {
			t.Errorf("%s: X-Forwarded-For %q", w.name, from)
		}
	}
}
