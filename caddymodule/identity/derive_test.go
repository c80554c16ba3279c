// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/sha256"
	"net/http"
	"slices"
	"strings"
	"testing"
)

var testPepper = bytes.Repeat([]byte("p"), PepperLen)

func mustSource(t testing.TB, text string) Source {
	t.Helper()
	s, err := ParseSource(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func signed(t testing.TB, text string) Candidate   { return Candidate{mustSource(t, text), true} }
func unsigned(t testing.TB, text string) Candidate { return Candidate{mustSource(t, text), false} }

// newDeriver fills what every configuration needs.
func newDeriver(t testing.TB, cfg Config) *Deriver {
	t.Helper()
	cfg.Pepper = testPepper
	if cfg.Namespace == "" {
		cfg.Namespace = "route"
	}
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// request builds a request from a body and pairs of header name and value.
func request(body string, headers ...string) *Request {
	r := &Request{Header: http.Header{}, Body: []byte(body)}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// kinds lists the aliases, evidence after a bar.
func kinds(k Keys) string {
	var b strings.Builder
	for _, a := range k.Identity() {
		b.WriteString(string(a.Kind) + " " + a.Trust.String() + " ")
	}
	b.WriteString("|")
	for _, a := range k.Evidence() {
		b.WriteString(" " + string(a.Kind) + " " + a.Trust.String())
	}
	return b.String()
}

func TestAliases(t *testing.T) {
	json, header := signed(t, "json /id"), unsigned(t, "header X-Id")
	const body = `{"id":"evt_1","action":"a"}`
	for _, c := range []struct {
		name     string
		cfg      Config
		req      *Request
		want     string
		strength Strength
		problem  ProblemCode
	}{
		{"signed delivery", Config{DeliveryID: []Candidate{json}}, request(body), "delivery signed |", Strong, ""},
		{"signed event", Config{EventID: []Candidate{json}}, request(body), "event signed |", Strong, ""},
		{"unsigned delivery", Config{DeliveryID: []Candidate{header}}, request(body, "X-Id", "1"),
			"delivery unsigned | body signed delivery_id unsigned", Medium, ""},
		{"unsigned event", Config{EventID: []Candidate{header}}, request(body, "X-Id", "1"),
			"event unsigned | body signed", Medium, ""},
		{"I-23 signed event, unsigned delivery", Config{DeliveryID: []Candidate{header}, EventID: []Candidate{json}},
			request(body, "X-Id", "1"), "event signed delivery unsigned | delivery_id unsigned", Strong, ""},
		{"all", Config{
			Action: []Candidate{signed(t, "json /action")}, EventID: []Candidate{json},
			DeliveryID: []Candidate{header}, Nonce: []Candidate{signed(t, "header X-Nonce")}, SameBodyCheck: true,
		}, request(body, "X-Id", "1", "X-Nonce", "n"),
			"action signed event signed delivery unsigned | nonce signed body signed delivery_id unsigned", Strong, ""},
		{"same body check", Config{DeliveryID: []Candidate{json}, SameBodyCheck: true}, request(body),
			"delivery signed | body signed", Strong, ""},
		{"no ID configured", Config{}, request(body), "fp signed |", Fallback, ""},
		{"signed ID missing", Config{DeliveryID: []Candidate{json}}, request(`{}`), "fp signed |", Fallback, ""},
		{"I-20 unsigned ID removed", Config{DeliveryID: []Candidate{header}}, request(body),
			"fp signed | body signed", Fallback, ""},
		{"B-11 empty body with ID", Config{DeliveryID: []Candidate{header}}, request("", "X-Id", "1"),
			"delivery unsigned | delivery_id unsigned", Medium, ""},
		{"empty body, no ID", Config{DeliveryID: []Candidate{header}, SameBodyCheck: true}, request(""),
			"|", Fallback, ProblemNoSafeKey},
		{"empty body, nothing configured", Config{}, request(""), "|", Fallback, ProblemNoSafeKey},
		{"repeated header", Config{DeliveryID: []Candidate{header}}, request(body, "X-Id", "1", "X-Id", "1"),
			"fp signed | body signed", Fallback, ProblemAmbiguousID},
		{"ambiguous beside a good event", Config{DeliveryID: []Candidate{header}, EventID: []Candidate{json}},
			request(body, "X-Id", "1", "X-Id", "2"), "fp signed | body signed", Fallback, ProblemAmbiguousID},
		{"ambiguous, empty body", Config{DeliveryID: []Candidate{header}}, request("", "X-Id", longText(999)),
			"|", Fallback, ProblemAmbiguousID},
		{"signed source ambiguous", Config{DeliveryID: []Candidate{json}}, request(`{"id":1,"id":1}`),
			"fp signed |", Fallback, ProblemAmbiguousID},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newDeriver(t, c.cfg).Derive(c.req)
			if got := kinds(k); got != c.want || k.Strength != c.strength || k.Problem.Code != c.problem {
				t.Errorf("got %q, %s, %v; want %q, %s, %q", got, k.Strength, k.Problem, c.want, c.strength, c.problem)
			}
			if k.Digest != sha256.Sum256(c.req.Body) {
				t.Error("wrong digest")
			}
		})
	}
}

func TestProblemText(t *testing.T) {
	d := newDeriver(t, Config{DeliveryID: []Candidate{unsigned(t, "header X-Hook + header X-Id")}})
	p := d.Derive(request("{}", "X-Hook", "1", "X-Id", "secret", "X-Id", "secret")).Problem
	if want := "ambiguous_id: the ID in header X-Hook + header X-Id occurs more than once"; p.String() != want {
		t.Errorf("got %q, want %q", p, want)
	}
	if p := d.Derive(request("")).Problem; p.String() != "no_safe_key: no ID and an empty body" {
		t.Errorf("got %q", p)
	}
	if (Problem{}).String() != "" {
		t.Error("no problem has a text")
	}
}

// TestAlternatives checks which source wins.
func TestAlternatives(t *testing.T) {
	d := newDeriver(t, Config{DeliveryID: []Candidate{
		unsigned(t, "header X-First"), unsigned(t, "header X-A + header X-B"), unsigned(t, "query id"), signed(t, "json /id"),
	}})
	for _, c := range []struct {
		name string
		req  *Request
		want string
	}{
		{"first present", request("{}", "X-First", "1", "X-A", "2", "X-B", "3"), "1"},
		{"composite", request("{}", "X-A", "2", "X-B", "3"), "2+3"},
		{"half a composite", &Request{Header: http.Header{"X-A": {"2"}}, RawQuery: "id=4", Body: []byte("{}")}, "4"},
		{"placeholder", request("{}", "X-First", "null", "X-A", "2", "X-B", "3"), "2+3"},
		{"signed before all", request(`{"id":"5"}`, "X-First", "1"), "5"},
		{"none", request("{}"), ""},
	} {
		if got := d.Derive(c.req); got.DeliveryID != c.want || got.Problem.Code != "" {
			t.Errorf("%s: got %q, %v; want %q", c.name, got.DeliveryID, got.Problem, c.want)
		}
	}
}

// TestSignedHeaderFamilies guards against an ID header that the signature of
// this delivery does not cover, beside the one that it does.
func TestSignedHeaderFamilies(t *testing.T) {
	d := newDeriver(t, Config{DeliveryID: []Candidate{signed(t, "header Svix-Id"), signed(t, "header Webhook-Id")}})
	plain := d.Derive(request("{}", "Webhook-Id", "a"))
	both := d.Derive(request("{}", "Webhook-Id", "a", "Svix-Id", "a"))
	if plain.Problem.Code != "" || both.Problem.Code != "" || plain.Aliases[0] != both.Aliases[0] {
		t.Errorf("equal IDs: %+v, %+v", plain, both)
	}
	for _, other := range []string{"b", "b\t", longText(300)} {
		forged := d.Derive(request("{}", "Webhook-Id", "a", "Svix-Id", other))
		if forged.Problem.Code != ProblemAmbiguousID {
			t.Errorf("%.10q: %v", other, forged.Problem)
		}
	}
	if k := d.Derive(request("{}", "Webhook-Id", "a", "Svix-Id", "null")); k.Aliases[0] != plain.Aliases[0] {
		t.Errorf("a placeholder counts: %+v", k)
	}
}

// TestSignedID: the ID that the verifier vouches for comes first, and is the
// same as one found in a signed source.
func TestSignedID(t *testing.T) {
	header := newDeriver(t, Config{DeliveryID: []Candidate{unsigned(t, "header Webhook-Id")}})
	req := request(`{"id":"a"}`, "Webhook-Id", "b")
	req.SignedID = "a"
	k := header.Derive(req)
	found := newDeriver(t, Config{DeliveryID: []Candidate{signed(t, "json /id")}}).Derive(req)
	bare := newDeriver(t, Config{}).Derive(req)
	if kinds(k) != "delivery signed |" || k.Strength != Strong || k.DeliveryID != "a" {
		t.Errorf("got %q, %s, %q", kinds(k), k.Strength, k.DeliveryID)
	}
	if k.Aliases[0] != found.Aliases[0] || k.Aliases[0] != bare.Aliases[0] {
		t.Error("the key depends on the place of a signed ID")
	}
	req.SignedID = "null"
	if k := header.Derive(req); k.DeliveryID != "b" || k.Strength != Medium {
		t.Errorf("placeholder: got %q, %s", k.DeliveryID, k.Strength)
	}
	req.SignedID = longText(300)
	want := "ambiguous_id: the ID in the place that the scheme signs is longer than 256 bytes"
	if p := header.Derive(req).Problem; p.String() != want {
		t.Errorf("got %q, want %q", p, want)
	}
}

func TestDisplay(t *testing.T) {
	d := newDeriver(t, Config{DeliveryID: []Candidate{signed(t, "json /id")}, EventID: []Candidate{signed(t, "json /e")}})
	for value, want := range map[string]string{
		`"evt_1"`:                             "evt_1",
		`12345678901234567890`:                "12345678901234567890",
		`"\u202eevil\u200b"`:                  `\u202eevil\u200b`,
		`"a\\b"`:                              `a\\b`,
		`"ü€🎉"`:                               "ü€🎉",
		`"` + longText(200) + `"`:             longText(128) + "…",
		`"x` + strings.Repeat("ü", 100) + `"`: "x" + strings.Repeat("ü", 63) + "…",
	} {
		k := d.Derive(request(`{"id":` + value + `,"e":"e1"}`))
		if k.DeliveryID != want || k.EventID != "e1" {
			t.Errorf("%.40s: shown as %q and %q, want %q", value, k.DeliveryID, k.EventID, want)
		}
	}
}

func TestWindowsOfAliases(t *testing.T) {
	w := Windows{ID: 1, Body: 2, Nonce: 3, Fallback: 4}
	d := newDeriver(t, Config{
		DeliveryID: []Candidate{unsigned(t, "header X-Id")}, Nonce: []Candidate{signed(t, "header X-Nonce")}, Windows: w,
	})
	k := d.Derive(request("{}", "X-Id", "1", "X-Nonce", "n"))
	k.Aliases = append(k.Aliases, d.Derive(request("{}")).Aliases...)
	for _, a := range k.Aliases {
		want := w.ID
		switch a.Kind {
		case KindBody:
			want = w.Body
		case KindNonce:
			want = w.Nonce
		case KindFallback:
			want = w.Fallback
		}
		if a.Window != want {
			t.Errorf("%s: window %d, want %d", a, a.Window, want)
		}
	}
	if got := newDeriver(t, Config{}).Derive(request("{}")).Aliases[0].Window; got != DefaultFallbackWindow {
		t.Errorf("default is %s", got)
	}
}

func TestNewErrors(t *testing.T) {
	good := Config{Pepper: testPepper, Namespace: "r"}
	for name, c := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"short pepper":    {func(c *Config) { c.Pepper = []byte("short") }, "pepper has 5 bytes, want 32"},
		"no namespace":    {func(c *Config) { c.Namespace = "" }, "namespace is empty"},
		"bad source":      {func(c *Config) { c.DeliveryID = []Candidate{{Source: Source{JSON: "x"}}} }, "delivery: source json"},
		"unsigned action": {func(c *Config) { c.Action = []Candidate{unsigned(t, "header A")} }, "action: header A is not covered"},
		"unsigned nonce":  {func(c *Config) { c.Nonce = []Candidate{unsigned(t, "header A")} }, "nonce: header A is not covered"},
		"too many pointers": {func(c *Config) {
			for i := range 65 {
				c.EventID = append(c.EventID, Candidate{Source: Source{JSON: "/" + longText(i)}})
			}
		}, "event: more than 64"},
	} {
		cfg := good
		c.change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "short") {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// TestPoolKeepsNothing checks that results do not share memory with the request
// or with the next one.
func TestPoolKeepsNothing(t *testing.T) {
	d := newDeriver(t, Config{DeliveryID: []Candidate{signed(t, `json /id`)}})
	req := request(`{"id":"\u0061bc"}`)
	first := d.Derive(req)
	want := slices.Clone(first.Aliases)
	copy(req.Body, bytes.Repeat([]byte("x"), len(req.Body)))
	d.Derive(request(`{"id":"\u0078yz"}`))
	if first.DeliveryID != "abc" || !slices.Equal(first.Aliases, want) {
		t.Errorf("changed to %q, %v", first.DeliveryID, first.Aliases)
	}
	w := d.pool.Get().(*work)
	if len(w.arena)+len(w.parts) != 0 || w.scanned {
		t.Error("work was not reset")
	}
	for _, f := range w.found {
		if f.raw != nil {
			t.Error("a body is kept alive")
		}
	}
}
