// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPresetsAreConsistent(t *testing.T) {
	names, err := PresetNames()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			p, err := LookupPreset(name)
			if err != nil {
				t.Fatal(err)
			}
			if p.Title == "" || len(p.Docs) == 0 && !strings.HasPrefix(name, "generic-") {
				t.Error("has no title or no sources")
			}
			if p.Horizons.Window < p.Horizons.Longest() {
				t.Errorf("window %v is below the horizon %v", p.Horizons.Window, p.Horizons.Longest())
			}
			if p.Horizons.BodyWindow < p.Horizons.Window || p.Horizons.NeverRetries && p.Horizons.Retry != 0 {
				t.Errorf("horizons contradict each other: %+v", p.Horizons)
			}
			for _, s := range append([]Scheme{p.Scheme}, p.Scheme.Alternatives...) {
				if !s.ID.IsZero() && !slices.Contains(p.Identity.DeliveryID, s.ID) {
					t.Errorf("the ID place %s is missing in identity", s.ID)
				}
			}
			if len(p.Identity.DeliveryID) == 0 && p.Horizons.FallbackWindow < p.Horizons.Retry {
				t.Errorf("told apart by content for %v, but retried for %v", p.Horizons.FallbackWindow, p.Horizons.Retry)
			}
			if !p.Scheme.Timestamp.set() && p.Horizons.BodyWindow < Duration(90*day) {
				t.Errorf("captures never go stale, but bodies are forgotten after %v", p.Horizons.BodyWindow)
			}
			again, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			if q, err := ParsePreset(again); err != nil || q.Name != p.Name {
				t.Errorf("does not survive its own JSON: %v", err)
			}
		})
	}
}

func TestPresetDefaults(t *testing.T) {
	get := func(name string) *Preset {
		p, err := LookupPreset(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	github, stripe, shopify, slack := get("github"), get("stripe"), get("shopify"), get("slack")
	for name, ok := range map[string]bool{
		"github remembers 7 d and bodies 90 d": github.Horizons.Window == Duration(7*day) && github.Horizons.BodyWindow == Duration(90*day),
		"github never retries":                 github.Horizons.NeverRetries,
		"B-12 github takes 25 MiB":             github.MaxBody == 25<<20,
		"stripe remembers 30 d":                stripe.Horizons.Window == Duration(30*day),
		"shopify remembers bodies 90 d":        shopify.Horizons.BodyWindow == Duration(90*day),
		"slack waits less than 3 s":            slack.InflightWait() == 2500*time.Millisecond,
		"stripe waits 10 s":                    stripe.InflightWait() == 10*time.Second,
		"github waits 9.5 s":                   github.InflightWait() == 9500*time.Millisecond,
		"usual responses":                      github.Responses == Responses{401, 200, 503, 503, 400},
		"discord answers duplicates with 204":  get("discord").Responses.Duplicate == 204,
		"linear forbids the hash":              get("linear").Identity.HashFallback == "forbidden",
		"T-08 stripe remembers 72 h":           stripe.Horizons.Window > Duration(72*time.Hour),
		"an alias is the preset":               get("WhatsApp").Name == "meta",
		"generic-hmac is the usual one":        get("generic-hmac").Name == "generic-hmac-sha256-hex",
	} {
		if !ok {
			t.Errorf("not so: %s", name)
		}
	}
	github.Docs[0] = "changed"
	if get("github").Docs[0] == "changed" {
		t.Error("presets share their memory")
	}
}

func TestLookupErrors(t *testing.T) {
	for name, want := range map[string]string{
		"strip":                       `did you mean stripe?`,
		"Gihtub":                      `did you mean github`,
		"standard":                    `standard-webhooks`,
		"whatsap":                     `whatsapp`,
		"svixx":                       `svix`,
		"":                            `verify block`,
		"qqqqqqqq":                    `verify block`,
		"bitbuket":                    `bitbucket`,
		strings.Repeat("github", 100): `unknown provider`,
	} {
		_, err := LookupPreset(name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %q does not say %q", name, err, want)
		}
	}
}

func TestParsePresetErrors(t *testing.T) {
	const verify = `"verify":{"signature":{"header":"A","encoding":"hex"},"algorithm":"hmac-sha256","message":"{body}"}`
	if _, err := ParsePreset([]byte(`{"name":"a",` + verify + `}`)); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		``:                                  "EOF",
		`{"name":"a",` + verify + `} {}`:    "more after",
		`{"name":"a",` + verify + `,"x":1}`: `unknown field "x"`,
		`{` + verify + `}`:                  "no name",
		`{"name":"a"}`:                      "algorithm",
		`{"name":"a",` + verify + `,"identity":{"delivery_id":[{}]}}`:                                            "exactly one",
		`{"name":"a",` + verify + `,"identity":{"nonce":{"json":"x"}}}`:                                          "slash",
		`{"name":"a",` + verify + `,"identity":{"volatile":["x"]}}`:                                              "slash",
		`{"name":"a",` + verify + `,"identity":{"hash_fallback":"maybe"}}`:                                       "maybe",
		`{"name":"a",` + verify + `,"horizons":{"window":"soon"}}`:                                               "soon",
		`{"name":"a",` + verify + `,"horizons":{"window":-5}}`:                                                   "duration",
		`{"name":"a",` + verify + `,"handshakes":[{"name":"h"}]}`:                                                "every request",
		`{"name":"a",` + verify + `,"handshakes":[{"name":"h","method":"POST","match":[{"header":"A"}]}]}`:       "unsigned",
		`{"name":"a",` + verify + `,"handshakes":[{"name":"h","method":"GET","match":[{"json":"/a"}]}]}`:         "looks into the body",
		`{"name":"a",` + verify + `,"handshakes":[{"name":"h","signed":true,"match":[{"header":"A","x":"y"}]}]}`: `unknown field "x"`,
		`{"name":"a","verify":{"signature":{"header":"A","hex":true}}}`:                                          `unknown field "hex"`,
	} {
		_, err := ParsePreset([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v does not say %q", text, err, want)
		}
	}
}
