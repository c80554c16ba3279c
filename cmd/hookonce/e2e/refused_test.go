// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// flip changes the last digit of a signature.
func flip(text string) string {
	last := byte('0')
	if text[len(text)-1] == last {
		last = '1'
	}
	return text[:len(text)-1] + string(last)
}

// A request whose signature does not verify gets one answer for all causes,
// whoever the provider is. Nothing is stored, the app is not asked, and the real
// delivery that comes later is new.
func TestRefused(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	var routes []string
	for _, name := range providerNames() {
		routes = append(routes, Route("/"+name, name, "upstream "+app.Addr()))
	}
	s := Start(t, Site(routes...), Options{})
	commits := s.metric(t, "caddy_hookonce_store_commits_total")
	for _, name := range providerNames() {
		t.Run(name, func(t *testing.T) {
			d := Delivery{Provider: name, Body: providers[name].Body("refused-"+name, time.Now())}
			for what, change := range map[string]func(*http.Request){
				"unsigned": func(r *http.Request) {
					plain := Delivery{Path: d.Path, Body: d.Body}.Request(t, "http://"+s.Site)
					r.Header = plain.Header
				},
				"another body": func(r *http.Request) {
					if providers[name].Preset == "gitlab" && name == "gitlab" { // a token covers no body
						r.Header.Set("X-Gitlab-Token", flip(r.Header.Get("X-Gitlab-Token")))
						return
					}
					other := Delivery{Path: "/" + name, Body: d.Body + " "}.Request(t, "http://"+s.Site)
					r.Body, r.ContentLength, r.GetBody = other.Body, other.ContentLength, other.GetBody
				},
			} {
				e := d
				e.Change = change
				a := s.Deliver(t, e)
				if a.Status != 401 || a.Word != "refused" || a.Body != "" {
					t.Errorf("%s: got %v", what, a)
				}
			}
			if providers[name].seed == nil {
				e := d
				e.Secret = providers[name].Secret[:len(providers[name].Secret)-6] + "AAAAA="
				if !strings.Contains(providers[name].Secret, "whsec_") {
					e.Secret = "not the secret"
				}
				s.Deliver(t, e).Is(t, "another secret", 401, "refused")
			}
		})
	}
	if now := s.metric(t, "caddy_hookonce_store_commits_total"); now != commits {
		t.Errorf("the store wrote %v times for refused requests", now-commits)
	}
	if all := s.Items(t, "all=true"); len(all) != 0 || app.Stats().Requests != 0 {
		t.Errorf("stored: %+v, %d requests at the app", all, app.Stats().Requests)
	}
	for _, name := range providerNames() {
		d := Delivery{Provider: name, Body: providers[name].Body("refused-"+name, time.Now())}
		s.Deliver(t, d).Is(t, "the real one of "+name, 200, "first")
	}
}

// The reason goes to metrics and log, and nowhere else.
func TestRefusalReasons(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	up := "upstream " + app.Addr()
	s := Start(t, Site(Route("/github", "github", up), Route("/stripe", "stripe", up), Route("/xquik", "xquik", up)), Options{})
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	signature := func(change func(string) string) func(*http.Request) {
		return func(r *http.Request) {
			for _, name := range []string{"X-Hub-Signature-256", "Stripe-Signature"} {
				if v := r.Header.Get(name); v != "" {
					r.Header.Set(name, change(v))
				}
			}
		}
	}
	past, future := time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	for _, r := range []struct {
		name, provider string
		at             time.Time
		change         func(*http.Request)
		reason         string
	}{
		{"S-13 none", "github", time.Time{}, func(r *http.Request) { r.Header.Del("X-Hub-Signature-256") }, "signature_missing"},
		{"S-07 no prefix", "github", time.Time{}, signature(func(v string) string { return strings.TrimPrefix(v, "sha256=") }), "signature_malformed"},
		{"S-12 text", "github", time.Time{}, set("X-Hub-Signature-256", "sha256=test"), "signature_malformed"},
		{"S-12 commas", "stripe", time.Time{}, set("Stripe-Signature", ",,,,"), "signature_missing"},
		{"S-12 empty parts", "stripe", time.Time{}, set("Stripe-Signature", "t=,v1="), "signature_malformed"},
		{"S-12 many parts", "stripe", time.Time{}, set("Stripe-Signature", "t=1"+strings.Repeat(",v1=00", 1000)), "signature_malformed"},
		{"S-14 one digit", "github", time.Time{}, signature(flip), "signature_mismatch"},
		{"S-10 the weaker header alone is right", "github", time.Time{}, func(r *http.Request) {
			r.Header.Set("X-Hub-Signature", "sha1=e441b900c3696bdad816ea6a5b4e9248f2e6aac0")
			r.Header.Set("X-Hub-Signature-256", flip(r.Header.Get("X-Hub-Signature-256")))
		}, "signature_mismatch"},
		{"S-04 twice", "github", time.Time{}, func(r *http.Request) { r.Header.Add("X-Hub-Signature-256", r.Header.Get("X-Hub-Signature-256")) }, "signature_malformed"},
		{"T-01 stale", "stripe", past, nil, "timestamp_stale"},
		{"future", "stripe", future, nil, "timestamp_future"},
		{"T-07 digits", "stripe", time.Time{}, set("Stripe-Signature", "t="+strings.Repeat("9", 5000)+",v1="+strings.Repeat("0", 64)), "timestamp_malformed"},
		{"T-07 text", "stripe", time.Time{}, set("Stripe-Signature", "t=123abc,v1="+strings.Repeat("0", 64)), "timestamp_malformed"},
		{"no time", "stripe", time.Time{}, set("Stripe-Signature", "v1="+strings.Repeat("0", 64)), "timestamp_missing"},
	} {
		t.Run(r.name, func(t *testing.T) {
			series := fmt.Sprintf(`caddy_hookonce_refused_total{reason=%q,route="%s:/%s"}`, r.reason, r.provider, r.provider)
			before, mark := s.metric(t, series), s.Logs.Len()
			d := Delivery{Provider: r.provider, Body: `{"id":"evt_refused"}`, At: r.at, Change: r.change}
			a := s.Deliver(t, d)
			a.Is(t, "answer", 401, "refused")
			if a.Body != "" || strings.Contains(fmt.Sprint(a.Header), r.reason) {
				t.Errorf("the sender learns more than it should: %v %v", a, a.Header)
			}
			logged := s.Logs.Since(t, mark, "the refusal", func(l Record) bool { return l.Msg() == "refused" })
			if got := logged.Str("reason"); got != r.reason || s.metric(t, series) != before+1 {
				t.Errorf("logged %q, %s went from %v to %v", got, series, before, s.metric(t, series))
			}
		})
	}
	t.Run("id_missing", func(t *testing.T) {
		d := Delivery{Provider: "xquik", Body: `{"eventType":"post.created"}`}
		s.Deliver(t, d).Is(t, "answer", 400, "refused; reason=id_missing")
	})
	if n := app.Stats().Requests; n != 0 {
		t.Errorf("%d refused requests reached the app", n)
	}
}
