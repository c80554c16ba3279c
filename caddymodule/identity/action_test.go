// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"strings"
	"testing"
)

func orderAction(t testing.TB) Config {
	version := signed(t, "json /version")
	return Config{
		EventID: []Candidate{signed(t, "json /id")},
		Action: []Candidate{
			signed(t, "json /data/object/id + json /type"), signed(t, "json /order + json /type"),
		},
		ActionVersion: &version,
		ActionCompare: []Source{{JSON: "/amount"}, {JSON: "/lines"}, {Header: "X-Currency"}},
	}
}

// TestAction: a new event for the same action, and a true new version (R7, R16).
func TestAction(t *testing.T) {
	const first = `{"id":"e1","type":"confirm","data":{"object":{"id":"o"}},"version":0,"amount":10,"lines":[{"a":1,"b":2}]}`
	d := newDeriver(t, orderAction(t))
	base := d.Derive(request(first, "X-Currency", "eur"))
	if kinds(base) != "action signed event signed |" || base.Action != "o+confirm+0" || base.Strength != Strong {
		t.Fatalf("got %q, %q, %s", kinds(base), base.Action, base.Strength)
	}
	swap := strings.NewReplacer
	for name, c := range map[string]struct {
		body, currency  string
		action, compare bool
	}{
		"new event, same action": {swap("e1", "e2").Replace(first), "eur", true, true},
		"reformatted values":     {swap(":10,", ":1e1,", `"a":1,"b":2`, `"b":2.0, "a":1`).Replace(first), "eur", true, true},
		"version by value":       {swap(`"version":0`, `"version":0.0`).Replace(first), "eur", true, true},
		"true new version":       {swap(`"version":0`, `"version":1`).Replace(first), "eur", false, true},
		"version as text":        {swap(`"version":0`, `"version":"0"`).Replace(first), "eur", false, true},
		"other type":             {swap("confirm", "cancel").Replace(first), "eur", false, true},
		"other amount":           {swap(":10,", ":11,").Replace(first), "eur", true, false},
		"amount as text":         {swap(":10,", `:"10",`).Replace(first), "eur", true, false},
		"amount missing":         {swap(`"amount":10,`, "").Replace(first), "eur", true, false},
		"amount null":            {swap(":10,", `:null,`).Replace(first), "eur", true, false},
		"other line":             {swap(`"b":2`, `"b":3`).Replace(first), "eur", true, false},
		"other currency":         {first, "usd", true, false},
		"no currency":            {first, "", true, false},
		"S13 no canonical form":  {swap(`"b":2`, `"b":2,"b":2`).Replace(first), "eur", true, false},
		"something else changed": {swap(`"id":"e1"`, `"id":"e1","note":"x"`).Replace(first), "eur", true, true},
	} {
		req := request(c.body)
		if c.currency != "" {
			req.Header.Set("X-Currency", c.currency)
		}
		k := d.Derive(req)
		if (k.Aliases[0].Key == base.Aliases[0].Key) != c.action || (k.ActionDigest == base.ActionDigest) != c.compare {
			t.Errorf("%s: same action %v, same values %v", name,
				k.Aliases[0].Key == base.Aliases[0].Key, k.ActionDigest == base.ActionDigest)
		}
	}
}

// TestActionAlternatives: each template has the version; without one, or without
// a part, the action is missing.
func TestActionAlternatives(t *testing.T) {
	d := newDeriver(t, orderAction(t))
	for body, want := range map[string]string{
		`{"id":"e","order":"o","type":"t","version":"v1"}`: "o+t+v1",
		`{"id":"e","order":"o","version":"v1"}`:            "",
		`{"id":"e","order":"o","type":"t"}`:                "",
		`{"id":"e","order":"o","type":"t","version":null}`: "",
		`{"id":"e","order":"o","type":"t","version":""}`:   "",
		`{"id":"e","order":"o","type":"t","version":"0"}`:  "o+t+0",
	} {
		k := d.Derive(request(body))
		if k.Action != want || (k.ActionDigest != [32]byte{}) != (want != "") || k.Problem.Code != "" {
			t.Errorf("%s: got %q, %v", body, k.Action, k.Problem)
		}
	}
	k := d.Derive(request(`{"id":"e","order":"o","type":"t","version":[1]}`))
	if want := "ambiguous_id: the ID in json /data/object/id + json /type version json /version is neither a string nor a number"; k.Problem.String() != want {
		t.Errorf("got %q", k.Problem)
	}
	if k.Action != "" || k.ActionDigest != [32]byte{} {
		t.Error("an ambiguous delivery has an action")
	}
}

// TestVersionIsNoPart: three parts are not two parts and a version.
func TestVersionIsNoPart(t *testing.T) {
	body := request(`{"a":"x","b":"y","v":"1"}`)
	version := signed(t, "json /v")
	with := newDeriver(t, Config{Action: []Candidate{signed(t, "json /a + json /b")}, ActionVersion: &version}).Derive(body)
	without := newDeriver(t, Config{Action: []Candidate{signed(t, "json /a + json /b + json /v")}}).Derive(body)
	if with.Aliases[0].Key == without.Aliases[0].Key || with.ActionDigest != [32]byte{} {
		t.Errorf("got %v, %v", with, without)
	}
}

// TestCompareUnreadable: a repeated header agrees only with the same body.
func TestCompareUnreadable(t *testing.T) {
	d := newDeriver(t, Config{Action: []Candidate{signed(t, "json /a")}, ActionCompare: []Source{{Header: "X-A"}}})
	x := d.Derive(request(`{"a":"1"}`, "X-A", "1", "X-A", "2"))
	y := d.Derive(request(`{"a":"1" }`, "X-A", "1", "X-A", "2"))
	if x.ActionDigest == y.ActionDigest || x.Aliases[0] != y.Aliases[0] {
		t.Error("two unreadable values agree")
	}
	d = newDeriver(t, Config{Action: []Candidate{signed(t, "json /a")}, ActionCompare: []Source{{JSON: "/b"}}})
	x, y = d.Derive(request(`{"a":"1","c":1,"c":2}`)), d.Derive(request(`{"a":"1","c":1,"c":3}`))
	if x.ActionDigest == y.ActionDigest || x.Aliases[0] != y.Aliases[0] {
		t.Error("two bodies without canonical form agree")
	}
}

func TestActionErrors(t *testing.T) {
	plain, header := signed(t, "json /v"), unsigned(t, "header X-V")
	action := []Candidate{signed(t, "json /a")}
	for want, cfg := range map[string]Config{
		"action: a version or values to compare are given": {ActionVersion: &plain},
		"but no action":                         {ActionCompare: []Source{{JSON: "/a"}}},
		"the version header X-V is not covered": {Action: action, ActionVersion: &header},
		"does not begin with a slash":           {Action: action, ActionCompare: []Source{{JSON: "a"}}},
		"a source needs exactly one":            {Action: action, ActionCompare: []Source{{}}},
		"fingerprint: ignore":                   {Fingerprint: &FingerprintRules{Ignore: []string{"x"}}},
		"old fingerprint: fields":               {OldFingerprint: &FingerprintRules{Fields: []string{"x"}}},
	} {
		cfg.Pepper, cfg.Namespace = testPepper, "r"
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
