// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"slices"
	"testing"
	"time"
)

// vector is one entry of testdata/vectors.json.
type vector struct {
	Name         string
	Provider     string
	Secret       string
	ExtraSecrets []string `json:"extra_secrets"`
	Method       string
	URL          string
	Headers      map[string]string
	Body         string
	BodyBase64   string `json:"body_base64"`
	Expect       string
	At           *int64
	ToleranceS   int64  `json:"tolerance_s"`
	EventID      string `json:"event_id"`
	Kind         string
	Scheme       string
}

func readJSON(t *testing.T, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func newRequest(t *testing.T, method, rawURL string, headers map[string]string, body, body64 string) *Request {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	r := &Request{Method: method, RawQuery: u.RawQuery, Header: http.Header{}, Body: []byte(body)}
	for name, value := range headers {
		r.Header.Set(name, value)
	}
	if body64 != "" {
		if r.Body, err = base64.StdEncoding.DecodeString(body64); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// overrides are what a user has to say over the preset for some vectors: the
// generic presets leave the header to the user, and SHA-1 is opt-in.
func (v *vector) override() Scheme {
	var o Scheme
	generic := map[string]Signature{
		"X-Hub-Signature-256":   {Source: Source{Header: "X-Hub-Signature-256"}, Prefix: "sha256="},
		"X-Shopify-Hmac-SHA256": {Source: Source{Header: "X-Shopify-Hmac-SHA256"}},
		"X-Convoy-Signature":    {Source: Source{Header: "X-Convoy-Signature"}},
	}
	if len(v.Provider) > 7 && v.Provider[:7] == "generic" {
		for name := range v.Headers {
			if s, ok := generic[name]; ok {
				o.Signature = s
			}
		}
	}
	if v.Scheme == "sha1" {
		o.Algorithm = "hmac-sha1"
		o.Signature = Signature{Source: Source{Header: "X-Hub-Signature"}, Prefix: "sha1="}
	}
	o.Timestamp.Tolerance = Duration(time.Duration(v.ToleranceS) * time.Second)
	return o
}

func (v *vector) secrets() []Secret {
	all := []Secret{{Value: v.Secret}}
	for _, s := range v.ExtraSecrets {
		all = append(all, Secret{Value: s})
	}
	return all
}

func TestVectors(t *testing.T) {
	var vectors []vector
	readJSON(t, "../../testdata/vectors.json", &vectors)
	names, err := PresetNames()
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, v := range vectors {
		if !slices.Contains(names, v.Provider) {
			continue
		}
		ran[v.Provider]++
		t.Run(v.Provider+"/"+v.Name, func(t *testing.T) { v.run(t) })
	}
	for _, name := range []string{
		"github", "gitlab", "bitbucket", "bitbucket-server", "gitea", "forgejo", "gogs", "stripe", "shopify", "slack",
		"standard-webhooks", "svix", "clerk", "resend", "openai", "linear", "paddle", "square", "zoom", "twitch", "xquik",
		"meta", "discord", "generic-hmac-sha256-hex", "generic-hmac-sha256-base64", "generic-hmac-sha512-hex",
		"generic-hmac-sha512-base64",
	} {
		if ran[name] == 0 {
			t.Errorf("no vector of %s ran", name)
		}
	}
}

func (v *vector) run(t *testing.T) {
	p, err := LookupPreset(v.Provider)
	if err != nil {
		t.Fatal(err)
	}
	r := newRequest(t, v.Method, v.URL, v.Headers, v.Body, v.BodyBase64)
	if v.Kind == "handshake" && v.Method == http.MethodGet {
		if got := p.Handshake(r, false, v.Secret) != nil; got != (v.Expect == "valid") {
			t.Fatalf("handshake accepted: %v, want %s", got, v.Expect)
		}
		return
	}
	scheme := p.Scheme.Override(v.override())
	if v.At == nil && scheme.Timestamp.set() {
		t.Fatal("the vector has no clock and the scheme has a timestamp")
	}
	verifier, err := scheme.Compile(v.secrets(), Options{PublicURL: v.URL})
	if err != nil {
		if v.Secret != "" {
			t.Fatal(err)
		}
		return // an empty secret is refused before any delivery
	}
	now := time.Unix(1760000000, 0)
	if v.At != nil {
		now = time.Unix(*v.At, 0)
	}
	result, reason := verifier.Verify(r, now)
	if v.Expect == "invalid" {
		if reason == OK {
			t.Fatal("accepted")
		}
		return
	}
	if reason != OK {
		t.Fatalf("refused: %s", reason)
	}
	if reason := verifier.HeadersPlausible(r, now); reason != OK {
		t.Fatalf("headers not plausible: %s", reason)
	}
	if v.EventID != "" && !slices.Contains(foundIDs(p, r, result), v.EventID) {
		t.Errorf("found the IDs %q, want %q", foundIDs(p, r, result), v.EventID)
	}
	if v.Kind == "handshake" && p.Handshake(r, true, "") == nil {
		t.Error("not recognised as a handshake")
	}
}

// foundIDs is the delivery ID as the documentation of Identity says, else the
// event ID.
func foundIDs(p *Preset, r *Request, result Result) []string {
	if result.ID != "" {
		return []string{result.ID}
	}
	for _, s := range append(p.Identity.DeliveryID, p.Identity.EventID...) {
		if id := s.Get(r); id != "" {
			return []string{id}
		}
	}
	return nil
}
