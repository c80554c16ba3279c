// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// scopeTuple is everything that may tell two deliveries apart.
type scopeTuple struct {
	namespace, provider, endpoint, sender string
	test, signed                          bool
	id                                    []string
	body                                  string
}

func drawTuple(t *rapid.T, label string) scopeTuple {
	// Few letters and separators, so that unequal tuples often join to the same text.
	text := func(name string) string {
		return rapid.StringMatching(`[ab|\x{1}]{0,3}`).Draw(t, label+name)
	}
	return scopeTuple{
		namespace: "r" + text("namespace"), provider: text("provider"), endpoint: text("endpoint"), sender: text("sender"),
		test: rapid.Bool().Draw(t, label+"test"), signed: rapid.Bool().Draw(t, label+"signed"),
		id:   rapid.SliceOfN(rapid.StringMatching(`[ab|]{1,3}`), 1, 3).Draw(t, label+"id"),
		body: rapid.SampledFrom([]string{"x", "y"}).Draw(t, label+"body"),
	}
}

// derive sends the tuple through a Deriver; the ID parts come from the query,
// so that the body is independent of them.
func (s scopeTuple) derive(t rapid.TB) Keys {
	query := url.Values{}
	var parts []Source
	for i, part := range s.id {
		name := string(rune('a' + i))
		query.Set(name, part)
		parts = append(parts, Source{Query: name})
	}
	source := parts[0]
	if len(parts) > 1 {
		source = Source{All: parts}
	}
	c := []Candidate{{source, s.signed}}
	cfg := Config{
		Pepper: testPepper, Namespace: s.namespace, Provider: s.provider, Endpoint: s.endpoint,
		DeliveryID: c, EventID: c, SameBodyCheck: true,
	}
	if s.signed {
		cfg.Action, cfg.Nonce = c, c
	}
	d, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return d.Derive(&Request{RawQuery: query.Encode(), Body: []byte(s.body), Sender: s.sender, Test: s.test})
}

// scopeOf reduces the tuple to what an alias of the kind depends on.
func (s scopeTuple) scopeOf(kind Kind) scopeTuple {
	switch kind {
	case KindEvent, KindAction:
		s.endpoint = ""
	case KindBody:
		s.test, s.signed, s.id = false, false, nil
		return s
	case KindDeliveryID:
		s.body = ""
		return s
	}
	if s.signed {
		s.body = ""
	}
	return s
}

// TestScopesNeverCollide: two aliases are equal exactly when kind and scope are.
func TestScopesNeverCollide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawTuple(t, "a "), drawTuple(t, "b ")
		if rapid.Bool().Draw(t, "near") {
			b = nearTo(t, a)
		}
		for _, x := range a.derive(t).Aliases {
			for _, y := range b.derive(t).Aliases {
				same := x.Kind == y.Kind && reflect.DeepEqual(a.scopeOf(x.Kind), b.scopeOf(y.Kind))
				if (x.Key == y.Key) != same {
					t.Fatalf("%s of %+v and %s of %+v: equal keys %v, equal scopes %v", x, a, y, b, x.Key == y.Key, same)
				}
			}
		}
	})
}

// nearTo changes at most one field, or moves a character to the next one.
func nearTo(t *rapid.T, s scopeTuple) scopeTuple {
	switch rapid.IntRange(0, 8).Draw(t, "change") {
	case 0:
		s.provider += "a"
	case 1:
		s.provider, s.endpoint = s.endpoint, s.provider
	case 2:
		s.endpoint, s.sender = s.sender, s.endpoint
	case 3:
		s.test = !s.test
	case 4:
		s.body = map[string]string{"x": "y", "y": "x"}[s.body]
	case 5:
		s.namespace, s.provider = s.namespace+s.provider, ""
	case 6:
		s.endpoint += "a"
	case 7:
		s.id = append([]string{"a"}, s.id[:len(s.id)-1]...)
	}
	return s
}

// TestCompositesAreUnambiguous is trial I-25: a|b and c is not a and b|c.
func TestCompositesAreUnambiguous(t *testing.T) {
	d := newDeriver(t, Config{DeliveryID: []Candidate{signed(t, "query a + query b")}})
	seen := map[[16]byte][2]string{}
	for _, id := range [][2]string{{"a|b", "c"}, {"a", "b|c"}, {"a+b", "c"}, {"a", "b+c"}, {"ab", "c"}, {"a", "bc"}, {"c", "ab"}} {
		k := d.Derive(&Request{RawQuery: url.Values{"a": {id[0]}, "b": {id[1]}}.Encode()})
		if other, ok := seen[k.Aliases[0].Key]; ok {
			t.Errorf("%q and %q have one key", id, other)
		}
		seen[k.Aliases[0].Key] = id
	}
}

// TestSpellings covers trials I-16 and I-17: the text as written, type kept apart.
func TestSpellings(t *testing.T) {
	d := newDeriver(t, Config{DeliveryID: []Candidate{signed(t, "json /id")}})
	seen := map[[16]byte]string{}
	for _, id := range []string{`1000`, `1000.0`, `1e3`, `1E3`, `"1000"`, `"1e3"`, `9123456789654321001`, `9123456789654321002`} {
		k := d.Derive(request(`{"id":` + id + `}`))
		if other, ok := seen[k.Aliases[0].Key]; ok {
			t.Errorf("%s and %s have one key", id, other)
		}
		seen[k.Aliases[0].Key] = id
	}
	a, b := d.Derive(request(`{"id":"m-1"}`)), d.Derive(request(`{"id":"m-\u0031","x":0}`))
	if a.Aliases[0].Key != b.Aliases[0].Key {
		t.Error("B-02: an escape changes the key")
	}
}

// TestRoutesAndPeppers is trial I-03, and the sabotage of a key without endpoint.
func TestRoutesAndPeppers(t *testing.T) {
	base := Config{
		Pepper: testPepper, Namespace: "r", Provider: "p", Endpoint: "e", DeliveryID: []Candidate{signed(t, "json /id")},
	}
	seen := map[[16]byte]string{}
	for name, change := range map[string]func(*Config){
		"base":      func(*Config) {},
		"namespace": func(c *Config) { c.Namespace = "r2" },
		"provider":  func(c *Config) { c.Provider = "p2" },
		"endpoint":  func(c *Config) { c.Endpoint = "e2" },
		"pepper":    func(c *Config) { c.Pepper = bytes.Repeat([]byte("q"), PepperLen) },
		"trust":     func(c *Config) { c.DeliveryID = []Candidate{unsigned(t, "json /id")} },
	} {
		cfg := base
		change(&cfg)
		d, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		key := d.Derive(request(`{"id":"1001"}`)).Aliases[0].Key
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[key] = name
	}
}

// TestEndpoints: events and actions span endpoints, all other kinds do not.
func TestEndpoints(t *testing.T) {
	derive := func(endpoint string) []Alias {
		d := newDeriver(t, Config{
			Endpoint: endpoint, Action: []Candidate{signed(t, "json /a")}, EventID: []Candidate{signed(t, "json /e")},
			DeliveryID: []Candidate{unsigned(t, "json /d")}, Nonce: []Candidate{signed(t, "json /n")}, SameBodyCheck: true,
		})
		k := d.Derive(request(`{"a":"1","e":"1","d":"1","n":"1"}`))
		return append(k.Aliases, d.Derive(request(`{}`)).Aliases[0])
	}
	one, two := derive("1"), derive("2")
	for i, a := range one {
		spans := a.Kind == KindAction || a.Kind == KindEvent
		if a.Kind != two[i].Kind || (a.Key == two[i].Key) != spans {
			t.Errorf("%s and %s: want equal %v", a, two[i], spans)
		}
	}
	if len(one) != 7 {
		t.Errorf("%d kinds, want all 7", len(one))
	}
}

// TestKeyFormat pins the hashed bytes: a change of them forgets every delivery
// in every store.
func TestKeyFormat(t *testing.T) {
	d := newDeriver(t, Config{
		Provider: "p", Endpoint: "e", DeliveryID: []Candidate{unsigned(t, "header X-A + json /n")},
	})
	body := `{"n":42}`
	digest := sha256.Sum256([]byte(body))
	field := func(s string) string { return string(rune(len(s))) + s }
	ids := "\x02s" + field("ab") + "n" + field("42")
	want := map[Kind]string{
		KindDelivery:   field("delivery") + field("route") + field("p") + field("e") + field("s") + "t\x00" + ids + field(string(digest[:])),
		KindDeliveryID: field("delivery_id") + field("route") + field("p") + field("e") + field("s") + "t\x00" + ids + "\x00",
		KindBody:       field("body") + field("route") + field("p") + field("e") + field("s") + "\x00" + field(string(digest[:])),
		KindFallback:   field("fp") + field("route") + field("p") + field("e") + field("s") + field("raw1") + field(string(digest[:])),
	}
	req := &Request{Header: http.Header{"X-A": {"ab"}}, Body: []byte(body), Sender: "s", Test: true}
	aliases := d.Derive(req).Aliases
	req.Header = nil
	aliases = append(aliases, d.Derive(req).Aliases...)
	for _, a := range aliases {
		mac := hmac.New(sha256.New, testPepper)
		mac.Write([]byte(want[a.Kind]))
		if sum := mac.Sum(nil); !bytes.Equal(a.Key[:], sum[:16]) {
			t.Errorf("%s: key %x, want %x", a.Kind, a.Key, sum[:16])
		}
		if a.String() != string(a.Kind)+":"+hex.EncodeToString(a.Key[:4]) {
			t.Errorf("shown as %s", a)
		}
	}
}

func TestStrengthTexts(t *testing.T) {
	for s, want := range map[Strength][2]string{
		Strong: {"strong", "high"}, Medium: {"medium", "medium"}, Fallback: {"fallback", "low"},
	} {
		if s.String() != want[0] || s.Confidence() != want[1] {
			t.Errorf("got %s, %s; want %v", s, s.Confidence(), want)
		}
	}
}
