// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// Probes, challenges and test events reach the app each time and are recorded
// never; with handshake off they are refused.
func TestHandshakes(t *testing.T) {
	rows := []struct {
		name, provider string
		d              Delivery
		off            int // status with handshake off
	}{
		{"P-08 GET", "github", Delivery{Method: http.MethodGet}, 405},
		{"HEAD", "github", Delivery{Method: http.MethodHead}, 405},
		{"P-09 OPTIONS", "github", Delivery{Method: http.MethodOptions, Header: map[string]string{"WebHook-Request-Origin": "events.example.test"}}, 405},
		{"P-02 Meta challenge", "meta", Delivery{Method: http.MethodGet, Path: "?hub.mode=subscribe&hub.challenge=123&hub.verify_token=t"}, 405},
		{"P-01 Slack url_verification", "slack", Delivery{Provider: "slack", Body: `{"type":"url_verification","challenge":"abc"}`}, 0},
		{"Zoom URL validation", "zoom", Delivery{Provider: "zoom", Body: `{"event":"endpoint.url_validation","payload":{"plainToken":"q"}}`}, 0},
		{"Twitch callback", "twitch", Delivery{Provider: "twitch", Body: `{"challenge":"c"}`, Header: map[string]string{"Twitch-Eventsub-Message-Type": "webhook_callback_verification"}}, 0},
		{"P-04 Discord ping", "discord", Delivery{Provider: "discord", Body: `{"type":1}`}, 0},
		{"GitHub ping", "github", Delivery{Provider: "github", Body: `{"zen":"Design for failure."}`, Header: map[string]string{"X-GitHub-Event": "ping"}}, 0},
		{"R15 Xquik test event", "xquik", Delivery{Provider: "xquik", Body: `{"eventType":"webhook.test"}`}, 400},
		{"bypass", "github", Delivery{Provider: "github", Body: `{"kind":"test"}`}, 0},
	}
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{Default: oracle.Behaviour{Body: "the challenge", Header: map[string]string{"X-App": "yes"}}})
			var routes []string
			for _, p := range []string{"github", "meta", "slack", "zoom", "twitch", "discord", "xquik"} {
				lines := []string{}
				if p == "github" {
					lines = append(lines, "bypass json /kind test drill", "bypass header X-GitHub-Event ping")
				}
				routes = append(routes, w.route("/"+p, p, app.Addr(), lines...), w.route("/off/"+p, p, app.Addr(), "handshake off"))
			}
			s := Start(t, Site(routes...), Options{})
			for _, r := range rows {
				t.Run(r.name, func(t *testing.T) {
					query := r.d.Path
					for i := range 3 {
						r.d.Path = "/" + r.provider + query
						before := app.Stats().Requests
						a := s.Deliver(t, r.d)
						body := "the challenge"
						if r.d.Method == http.MethodHead {
							body = ""
						}
						if a.Status != 200 || a.Body != body || a.Header.Get("X-App") != "yes" || app.Stats().Requests != before+1 {
							t.Errorf("time %d: %v, app asked %d times", i+1, a, app.Stats().Requests-before)
						}
					}
					if r.off == 0 {
						return
					}
					r.d.Path = "/off/" + r.provider + query
					before := app.Stats().Requests
					if a := s.Deliver(t, r.d); a.Status != r.off || app.Stats().Requests != before {
						t.Errorf("off: %v, want %d and no request at the app", a, r.off)
					}
				})
			}
			if all := s.Items(t, "all=true"); len(all) != 0 {
				t.Errorf("recorded: %+v", all)
			}
		})
	}
}

// A challenge is passed only when its signature is right (P-04), and a word that
// looks like one does not make an event a challenge.
func TestHandshakeIsVerified(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	up := "upstream " + app.Addr()
	s := Start(t, Site(Route("/discord", "discord", up), Route("/slack", "slack", up), Route("/github", "github", up, "bypass json /kind test")), Options{})
	forged := func(r *http.Request) {
		for _, name := range []string{"X-Signature-Ed25519", "X-Slack-Signature", "X-Hub-Signature-256"} {
			if v := r.Header.Get(name); v != "" {
				r.Header.Set(name, strings.Map(func(c rune) rune {
					if c == '1' {
						return '2'
					}
					return c
				}, v))
			}
		}
	}
	for _, d := range []Delivery{
		{Provider: "discord", Body: `{"type":1,"forged":true}`},
		{Provider: "slack", Body: `{"type":"url_verification","challenge":"forged"}`},
		{Provider: "github", Body: `{"kind":"test"}`},
	} {
		d.Change = forged
		s.Deliver(t, d).Is(t, d.Provider, 401, "refused")
	}
	if n := app.Stats().Requests; n != 0 {
		t.Errorf("%d forged challenges reached the app", n)
	}
	real := Delivery{Provider: "slack", Body: `{"type":"event_callback","event_id":"Ev1","text":"url_verification"}`}
	s.Deliver(t, real).Is(t, "an event", 200, "first")
	s.Deliver(t, real).Is(t, "its repeat", 200, "duplicate")
}
