// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"net/http"
	"testing"
)

func TestHandshakes(t *testing.T) {
	get := func(query string) *Request {
		r := request("")
		r.Method, r.RawQuery = http.MethodGet, query
		return r
	}
	const subscribe = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=t"
	withBody := get(subscribe)
	withBody.Body = []byte("x")
	post := request("")
	post.RawQuery = subscribe
	for _, c := range []struct {
		name, preset string
		r            *Request
		signed       bool
		token        string
		want         string
	}{
		{"P-02 meta, app checks the token", "meta", get(subscribe), false, "", "subscription"},
		{"P-02 meta, right token", "meta", get(subscribe), false, "t", "subscription"},
		{"P-02 meta, wrong token", "meta", get(subscribe), false, "u", ""},
		{"meta, no challenge", "meta", get("hub.mode=subscribe&hub.verify_token=t"), false, "t", ""},
		{"meta, other mode", "meta", get("hub.mode=unsubscribe&hub.challenge=1&hub.verify_token=t"), false, "", ""},
		{"meta, mode twice", "meta", get(subscribe + "&hub.mode=x"), false, "", ""},
		{"meta, with a body", "meta", withBody, false, "", ""},
		{"meta, POST", "meta", post, false, "", ""},
		{"meta, not as a signed one", "meta", get(subscribe), true, "", ""},
		{"P-01 slack", "slack", request(`{"type":"url_verification","challenge":"c"}`), true, "", "url verification"},
		{"P-01 slack, unsigned", "slack", request(`{"type":"url_verification","challenge":"c"}`), false, "", ""},
		{"slack event", "slack", request(`{"type":"event_callback"}`), true, "", ""},
		{"slack, type twice", "slack", request(`{"type":"url_verification","type":"event_callback"}`), true, "", ""},
		{"zoom", "zoom", request(`{"event":"endpoint.url_validation"}`), true, "", "url validation"},
		{"twitch", "twitch", request(`{}`, "Twitch-Eventsub-Message-Type: webhook_callback_verification"), true, "", "callback verification"},
		{"twitch revocation is a delivery", "twitch", request(`{}`, "Twitch-Eventsub-Message-Type: revocation"), true, "", ""},
		{"xquik test", "xquik", request(`{"eventType":"webhook.test"}`), true, "", "test event"},
		{"P-04 discord ping", "discord", request(`{"type":1}`), true, "", "ping"},
		{"discord webhook ping", "discord", request(`{"type":0}`), true, "", "webhook event ping"},
		{"discord event", "discord", request(`{"type":1,"event":{"type":"X"}}`), true, "", ""},
		{"discord event null", "discord", request(`{"type":1,"event":null}`), true, "", ""},
		{"discord, broken body", "discord", request(`{"type":1`), true, "", ""},
		{"github has none", "github", request(`{}`, "X-GitHub-Event: ping"), true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := LookupPreset(c.preset)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if h := p.Handshake(c.r, c.signed, c.token); h != nil {
				got = h.Name
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	if (&Match{Source: Source{Header: "X-Test"}, Value: "1"}).Holds(request("", "X-Test: 1")) != true {
		t.Error("a match that was never checked does not hold")
	}
}
