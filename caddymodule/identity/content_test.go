// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"strings"
	"testing"
	"time"
)

// TestGoldenCases are R16 for a sender without IDs: what is the same event.
func TestGoldenCases(t *testing.T) {
	rules := &FingerprintRules{
		Fields: []string{"/order", "/total", "/placed", "/lines"}, MinFields: 3,
		Time: []string{"/placed"}, Ignore: []string{"/lines/*/seen"},
	}
	const first = `{"order":"o-1","total":10.50,"placed":"2026-09-21T14:13:20Z","lines":[{"sku":1,"seen":1}],"attempt":1}`
	const fwd, dup, held = "forwarded", "duplicate", "held no_safe_key"
	for name, c := range map[string]struct{ body, want string }{
		"exact retry":                 {first, dup},
		"reordered fields":            {`{"placed":"2026-09-21T14:13:20Z","attempt":1,"lines":[{"seen":1,"sku":1}],"total":10.50,"order":"o-1"}`, dup},
		"reformatted":                 {"{\"order\": \"o-\\u0031\",\n\t\"total\": 1.05e1, \"placed\": 1790000000, \"lines\": [ { \"sku\": 1.0 } ] }", dup},
		"time drift in what counts":   {strings.Replace(first, "13:20Z", "13:21Z", 1), fwd},
		"time drift in what does not": {strings.Replace(first, `"seen":1`, `"seen":"2026"`, 1), dup},
		"same time in another zone":   {strings.Replace(first, "14:13:20Z", "16:13:20+02:00", 1), dup},
		"partial payload change":      {strings.Replace(first, "10.50", "10.51", 1), fwd},
		"true new version":            {strings.Replace(first, "o-1", "o-2", 1), fwd},
		"missing fingerprint fields":  {`{"order":"o-1","total":10.50}`, held},
		"nothing that counts":         {`{"attempt":2}`, held},
		"one field of four missing":   {strings.Replace(first, `"total":10.50,`, "", 1), fwd},
		"broken JSON falls to bytes":  {first[:40], fwd},
		"I-19 no JSON at all":         {"hello", fwd},
		"empty":                       {"", held},
	} {
		got := decideAll(newDeriver(t, Config{Fingerprint: rules}), []*Request{request(first), request(c.body)})
		if strings.HasPrefix(got[1], "held content_mismatch") { // the naive index compares bytes
			got[1] = dup
		}
		if got[0] != fwd || got[1] != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestNoteOfKeys: every delivery says why it has no fingerprint.
func TestNoteOfKeys(t *testing.T) {
	id := signed(t, "json /id")
	rules := &FingerprintRules{Ignore: []string{"/n"}}
	for name, c := range map[string]struct {
		cfg  Config
		body string
		want Note
	}{
		"no rules":           {Config{}, `{"id":1}`, NoteNoRules},
		"off":                {Config{Fingerprint: &FingerprintRules{Off: true}}, `{"id":1}`, NoteNoRules},
		"with ID":            {Config{DeliveryID: []Candidate{id}, Fingerprint: rules}, `{"id":1}`, ""},
		"without ID":         {Config{Fingerprint: rules}, `{"id":1}`, ""},
		"S13 ambiguous ID":   {Config{DeliveryID: []Candidate{id}, Fingerprint: rules}, `{"id":1,"id":2}`, NoteDuplicateName},
		"ambiguous, a print": {Config{DeliveryID: []Candidate{id}, Fingerprint: rules}, `{"id":[1]}`, ""},
		"nothing left":       {Config{Fingerprint: rules}, `{"n":1}`, NoteNothingLeft},
	} {
		k := newDeriver(t, c.cfg).Derive(request(c.body))
		if k.FingerprintNote != c.want || k.FingerprintOK != (c.want == "") || (k.Fingerprint != [32]byte{}) != k.FingerprintOK {
			t.Errorf("%s: got %q, %v, %x", name, k.FingerprintNote, k.FingerprintOK, k.Fingerprint)
		}
	}
	a := newDeriver(t, Config{Fingerprint: rules}).Derive(request(`{"id":1}`))
	b := newDeriver(t, Config{Fingerprint: rules, Namespace: "other"}).Derive(request(`{"id":1}`))
	if a.Fingerprint == b.Fingerprint {
		t.Error("two routes share a fingerprint")
	}
}

// TestHeadersDoNotMatter: a replay that changes what no signature covers changes
// neither fingerprint nor identity (trial I-20).
func TestHeadersDoNotMatter(t *testing.T) {
	d := newDeriver(t, Config{Fingerprint: &FingerprintRules{Ignore: []string{"/b"}}})
	for _, body := range []string{`{"a":1}`, "a=1&b=2", "hello", string(pack(t, "gzip", []byte(`{"a":1}`), 1))} {
		want := d.Derive(request(body))
		for _, h := range [][]string{
			{"Content-Type", "application/json"}, {"Content-Type", "text/plain"}, {"Content-Type", "multipart/form-data; boundary=x"},
			{"Content-Encoding", "gzip"}, {"Content-Encoding", "br"},
		} {
			if got := d.Derive(request(body, h...)); got.Fingerprint != want.Fingerprint || got.Aliases[0] != want.Aliases[0] {
				t.Errorf("%q: %q changes the identity", body, h)
			}
		}
	}
}

// TestNoSafeKey: contents that must not stand in for an ID.
func TestNoSafeKey(t *testing.T) {
	header := []Candidate{unsigned(t, "header X-Id")}
	forbidden := Config{DeliveryID: header, HashForbidden: true}
	thin := Config{DeliveryID: header, Fingerprint: &FingerprintRules{Ignore: []string{"/*"}}}
	few := Config{Fingerprint: &FingerprintRules{MinFields: 3}}
	for name, c := range map[string]struct {
		cfg     Config
		req     *Request
		want    string
		problem string
	}{
		"hash forbidden":             {forbidden, request(`{"a":1}`), "| body signed", "no_safe_key: no ID and equal bodies of this sender need not be one event"},
		"hash forbidden, with ID":    {forbidden, request(`{"a":1}`, "X-Id", "1"), "delivery unsigned | body signed delivery_id unsigned", ""},
		"hash forbidden, ambiguous":  {forbidden, request(`{"a":1}`, "X-Id", "1", "X-Id", "2"), "| body signed", "ambiguous_id: the ID in header X-Id occurs more than once"},
		"nothing left":               {thin, request(`{"a":1}`), "| body signed", "no_safe_key: no ID and the fingerprint rules leave nothing of the body"},
		"nothing left, with ID":      {thin, request(`{"a":1}`, "X-Id", "1"), "delivery unsigned | body signed delivery_id unsigned", ""},
		"too few":                    {few, request(`{"a":1}`), "|", "no_safe_key: no ID and the body has fewer values than min_fields"},
		"no canonical form is bytes": {thin, request(`{"a":1`), "fp signed | body signed", ""},
	} {
		k := newDeriver(t, c.cfg).Derive(c.req)
		if got := kinds(k); got != c.want || k.Problem.String() != c.problem {
			t.Errorf("%s: got %q, %q", name, got, k.Problem)
		}
	}
}

// TestVolatileFields: an unsigned ID is bound to the body without what is
// ignored, so that a retry with a fresh time in it is a repeat, and nothing else.
func TestVolatileFields(t *testing.T) {
	linear := Config{
		Provider: "linear", DeliveryID: []Candidate{unsigned(t, "header Linear-Delivery")}, HashForbidden: true,
		Fingerprint: (*FingerprintRules)(nil).Ignoring([]string{"/webhookTimestamp"}),
	}
	const body = `{"action":"update","data":{"id":"i","n":1},"webhookTimestamp":1}`
	first := newDeriver(t, linear).Derive(request(body, "Linear-Delivery", "d1"))
	fields := linear
	fields.Fingerprint = &FingerprintRules{Fields: []string{"/action"}, Ignore: []string{"/webhookTimestamp"}}
	firstOfFields := newDeriver(t, fields).Derive(request(body, "Linear-Delivery", "d1"))
	for name, c := range map[string]struct {
		body, id string
		same     bool
	}{
		"retry with a fresh time": {strings.Replace(body, `p":1}`, `p":2}`, 1), "d1", true},
		"retry, reformatted":      {strings.ReplaceAll(body, ":", ": "), "d1", true},
		"other body":              {strings.Replace(body, `"n":1`, `"n":2`, 1), "d1", false},
		"other ID":                {body, "d2", false},
		"no JSON":                 {body[:20], "d1", false},
	} {
		if got := newDeriver(t, linear).Derive(request(c.body, "Linear-Delivery", c.id)); (got.Aliases[0] == first.Aliases[0]) != c.same {
			t.Errorf("%s: same %v", name, !c.same)
		}
		// Fields do not loosen what an unsigned ID is bound to.
		got := newDeriver(t, fields).Derive(request(c.body, "Linear-Delivery", c.id))
		if (got.Aliases[0] == firstOfFields.Aliases[0]) != c.same {
			t.Errorf("with fields, %s: same %v", name, !c.same)
		}
	}
	raw := linear
	raw.Fingerprint = nil
	plain := linear
	plain.Fingerprint = &FingerprintRules{Fields: []string{"/action"}}
	x := newDeriver(t, raw).Derive(request(body, "Linear-Delivery", "d1"))
	if y := newDeriver(t, plain).Derive(request(body, "Linear-Delivery", "d1")); x.Aliases[0] != y.Aliases[0] {
		t.Error("without anything to ignore, an unsigned ID is bound to the bytes")
	}
}

// TestChangeOfRules: a retry across a change of the rules is recognised, in both
// directions and from and to raw bytes.
func TestChangeOfRules(t *testing.T) {
	off := &FingerprintRules{Off: true}
	one, two := &FingerprintRules{Ignore: []string{"/n"}}, &FingerprintRules{Ignore: []string{"/n", "/m"}}
	header := []Candidate{unsigned(t, "header X-Id")}
	const body = `{"a":1,"n":1,"m":1}`
	for name, c := range map[string]struct {
		before, after *FingerprintRules
		retry         string
	}{
		"more is ignored": {one, two, `{"a":1,"n":2,"m":1}`},
		"less is ignored": {two, one, `{"a":1,"n":2,"m":2}`},
		"from raw bytes":  {off, one, body},
		"from no rules":   {nil, one, body},
		"to raw bytes":    {one, off, `{"m":1,"n":2,"a":1}`},
	} {
		for _, headers := range [][]string{nil, {"X-Id", "1"}} {
			old := newDeriver(t, Config{DeliveryID: header, Fingerprint: c.before}).Derive(request(body, headers...))
			before := c.before
			if before == nil {
				before = off
			}
			k := newDeriver(t, Config{DeliveryID: header, Fingerprint: c.after, OldFingerprint: before}).Derive(request(c.retry, headers...))
			if ids := k.Identity(); len(ids) != 2 || ids[0].Key == old.Aliases[0].Key || ids[1] != old.Aliases[0] {
				t.Errorf("%s, %q: got %v, want %v second", name, headers, ids, old.Aliases[0])
			}
			if k.OldFingerprint != old.Fingerprint || k.OldFingerprintOK != old.FingerprintOK {
				t.Errorf("%s: the old fingerprint is not the old one", name)
			}
		}
	}
	same := newDeriver(t, Config{Fingerprint: one, OldFingerprint: off}).Derive(request(`{"a":1`))
	if len(same.Aliases) != 1 {
		t.Errorf("one key twice: %v", same.Aliases)
	}
	signedID := newDeriver(t, Config{DeliveryID: []Candidate{signed(t, "json /a")}, Fingerprint: two, OldFingerprint: one})
	if k := signedID.Derive(request(body)); len(k.Aliases) != 1 || !k.OldFingerprintOK || k.OldFingerprint == k.Fingerprint {
		t.Errorf("a signed ID depends on the rules: %v", k.Aliases)
	}
}

// TestFallbackKey: with rules the fingerprint is the identity, without them the
// bytes are.
func TestFallbackKey(t *testing.T) {
	raw := newDeriver(t, Config{}).Derive(request(`{"a":1}`)).Aliases[0]
	off := newDeriver(t, Config{Fingerprint: &FingerprintRules{Off: true}}).Derive(request(`{"a":1}`)).Aliases[0]
	on := newDeriver(t, Config{Fingerprint: &FingerprintRules{}, Windows: Windows{Fallback: time.Minute}}).Derive(request(`{"a":1}`)).Aliases[0]
	if off != raw || raw.Window != DefaultFallbackWindow {
		t.Errorf("off: got %v, want %v", off, raw)
	}
	if on.Key == raw.Key || on.Window != time.Minute || on.Trust != Signed {
		t.Errorf("on: got %v", on)
	}
}
