// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// What a route may say about answers, and what its provider is then told.
func TestPolicies(t *testing.T) {
	reply := oracle.Behaviour{Status: 201, Body: `{"text":"on it"}`, Header: map[string]string{
		"Content-Type": "application/vnd.app+json", "Content-Language": "de", "Set-Cookie": "session=1", "ETag": "x",
	}}
	type tell struct {
		status int
		word   string
		body   string
	}
	rows := []struct {
		name  string
		lines []string
		app   []oracle.Behaviour // later: 200
		tells []tell
		asked int // requests at the app
	}{
		{"duplicate default", nil, []oracle.Behaviour{reply}, []tell{{201, "first", reply.Body}, {200, "duplicate", ""}}, 1},
		{"duplicate 204", []string{"duplicate 204"}, nil, []tell{{200, "first", ""}, {204, "duplicate", ""}}, 1},
		{"duplicate with a body", []string{`duplicate 202 "[accepted]"`}, nil, []tell{{200, "first", ""}, {202, "duplicate", "[accepted]"}}, 1},
		{"X-05 duplicate replay", []string{"duplicate replay"}, []oracle.Behaviour{reply},
			[]tell{{201, "first", reply.Body}, {201, "duplicate", reply.Body}, {201, "duplicate", reply.Body}}, 1},
		{"X-04 duplicate replay 204", []string{"duplicate replay"}, []oracle.Behaviour{{Status: 204}}, []tell{{204, "first", ""}, {204, "duplicate", ""}}, 1},
		{"duplicate replay after a failure", []string{"duplicate replay"}, []oracle.Behaviour{answering(500), reply},
			[]tell{{500, "first", "the app says 500"}, {201, "first-again", reply.Body}, {201, "duplicate", reply.Body}}, 2},
		{"on_uncertain retry", []string{"on_uncertain retry"}, []oracle.Behaviour{named("close")},
			[]tell{{503, "not-delivered", ""}, {200, "first-again", ""}, {200, "duplicate", ""}}, 2},
		{"on_uncertain retry, twice", []string{"on_uncertain retry"}, []oracle.Behaviour{named("close"), named("cut-head")},
			[]tell{{503, "not-delivered", ""}, {503, "not-delivered", ""}, {200, "first-again", ""}, {200, "duplicate", ""}}, 3},
		{"R-06 409 is not done", nil, []oracle.Behaviour{answering(409)}, []tell{{409, "first", "the app says 409"}, {200, "first-again", ""}, {200, "duplicate", ""}}, 2},
		{"R-06 409 counts as done", []string{"success 2xx 409"}, []oracle.Behaviour{answering(409)}, []tell{{409, "first", "the app says 409"}, {200, "duplicate", ""}}, 1},
		{"success is narrower", []string{"success 201"}, []oracle.Behaviour{answering(200)}, []tell{{200, "held", ""}, {200, "held", ""}}, 1},
		{"success as a range", []string{"success 200-204"}, []oracle.Behaviour{answering(203)}, []tell{{203, "first", "the app says 203"}, {200, "duplicate", ""}}, 1},
		{"retry_status", []string{"retry_status 429", "on_uncertain retry"}, []oracle.Behaviour{named("reset")}, []tell{{429, "not-delivered", ""}, {200, "first-again", ""}}, 2},
		{"L-10 408 and 413 are not done", nil, []oracle.Behaviour{answering(413), answering(408), answering(404)},
			[]tell{{413, "first", "the app says 413"}, {408, "first-again", "the app says 408"}, {404, "first-again", "the app says 404"}, {200, "first-again", ""}}, 4},
		{"L-01 many failures", nil, []oracle.Behaviour{{Status: 500, Times: 5}},
			[]tell{{500, "first", ""}, {500, "first-again", ""}, {500, "first-again", ""}, {500, "first-again", ""}, {500, "first-again", ""}, {200, "first-again", ""}, {200, "duplicate", ""}}, 6},
	}
	var routes []string
	apps := make([]*App, len(rows))
	for i, r := range rows {
		apps[i] = NewApp(t, oracle.Config{})
		for _, w := range ways {
			routes = append(routes, w.route(fmt.Sprintf("/%d-%s", i, w.name), "github", apps[i].Addr(), r.lines...))
		}
	}
	s := Start(t, Site(routes...), Options{})
	for i, r := range rows {
		for _, w := range ways {
			t.Run(r.name+"/"+w.name, func(t *testing.T) {
				apps[i].Script(r.app...)
				d := Delivery{Provider: "github", Path: fmt.Sprintf("/%d-%s", i, w.name), Body: fmt.Sprintf(`{"%d":%q}`, i, w.name)}
				for n, tell := range r.tells {
					a := s.Deliver(t, d)
					a.Is(t, fmt.Sprint("delivery ", n+1), tell.status, tell.word)
					if a.Body != tell.body {
						t.Errorf("delivery %d: body %q, want %q", n+1, a.Body, tell.body)
					}
					if n > 0 && tell.body == reply.Body && tell.word == "duplicate" &&
						(a.Header.Get("Content-Type") != reply.Header["Content-Type"] || a.Header.Get("Content-Language") != "de" || a.Header.Get("Set-Cookie") != "") {
						t.Errorf("replayed header: %v", a.Header)
					}
				}
				if n := len(apps[i].Arrivals(d.Body)); n != r.asked {
					t.Errorf("%d requests at the app, want %d", n, r.asked)
				}
			})
		}
	}
}

// a provider that switches an endpoint off after some failures resends a
// finished event many times.
func TestX01_manyResends(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/stripe", "stripe", "upstream "+app.Addr())), Options{})
	d := Delivery{Provider: "stripe", Body: `{"id":"evt_x01"}`}
	s.Deliver(t, d).Is(t, "first", 200, "first")
	for i := range 15 {
		s.Deliver(t, d).Is(t, fmt.Sprint("resend ", i+1), 200, "duplicate")
	}
	if n := app.Effects(t, d.Body); n != 1 {
		t.Errorf("%d effects, want 1", n)
	}
}
