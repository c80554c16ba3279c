// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLookupJSON(t *testing.T) {
	for _, c := range []struct {
		body, pointer, want string
		n                   occurs
	}{
		{`{"id":"evt_1"}`, "/id", "evt_1", once},
		{` { "a" : [ 1 , {"b":"x"} ] } `, "/a/1/b", "x", once},
		{"\xEF\xBB\xBF{\"id\":1}", "/id", "1", once},
		{`{"id":9123456789654321001}`, "/id", "9123456789654321001", once},
		{`{"id":1.0}`, "/id", "1.0", once},
		{`{"id":true}`, "/id", "true", once},
		{`{"id":""}`, "/id", "", once},
		{`{"i\u0064":"\u00e4\n"}`, "/id", "ä\n", once},
		{`{"a/b":{"c~d":1}}`, "/a~1b/c~0d", "1", once},
		{`{"":1}`, "/", "1", once},
		{`{"id":null}`, "/id", "", absent},
		{`{"id":{}}`, "/id", "", absent},
		{`{"id":[1]}`, "/id", "", absent},
		{`{"ID":1}`, "/id", "", absent},
		{`{"a":1}`, "/a/b", "", absent},
		{`[1,2]`, "/2", "", absent},
		{`[1,2]`, "/01", "", absent},
		{`[1,2]`, "/-", "", absent},
		{`"x"`, "/id", "", absent},
		{`null`, "/id", "", absent},
		{`{}`, "/id", "", absent},
		{`{"id":1,"id":1}`, "/id", "", ambiguous},
		{`{"a":{"id":1},"a":{}}`, "/a/id", "", ambiguous},
		{`{"id":1,"i\u0064":2}`, "/id", "", ambiguous},
		{`{"id":1} x`, "/id", "", ambiguous},
		{`{"id":1`, "/id", "", ambiguous},
		{`{"id":01}`, "/id", "", ambiguous},
		{`{"id":1,}`, "/id", "", ambiguous},
		{`{"id":"` + "\xff" + `"}`, "/id", "", ambiguous},
		{``, "/id", "", ambiguous},
		{`id=1`, "/id", "", ambiguous},
		{strings.Repeat("[", 10000), "/0", "", ambiguous},
		{strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300), "/b", "", ambiguous},
	} {
		pointer, err := parsePointer(c.pointer)
		if err != nil {
			t.Fatal(err)
		}
		if got, n := lookupJSON([]byte(c.body), pointer); got != c.want || n != c.n {
			t.Errorf("%.60s at %s: %q %d, want %q %d", c.body, c.pointer, got, n, c.want, c.n)
		}
	}
}

// The scanner and encoding/json must agree on what is JSON, and on the value
// wherever the latter's rules for equal keys do not come in.
func FuzzLookupJSON(f *testing.F) {
	for _, s := range []string{`{"a":{"b":"x"}}`, `{"a":[1,{"b":2}]}`, `{"a":{"b":1,"b":2}}`, ` [] `, `{"a":{"b":"\ud800"}}`, `{"a":{"b":-0.1e+9}}`, "\xEF\xBB\xBF{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got, n := lookupJSON(body, []string{"a", "b"})
		s := scanner{b: body}
		s.bom()
		if s.i > 0 {
			body = body[s.i:]
		}
		if !json.Valid(body) {
			if n != ambiguous {
				t.Fatalf("found %q in what is no JSON", got)
			}
			return
		}
		if n != once {
			return
		}
		var tree struct {
			A map[string]json.RawMessage `json:"a"`
		}
		if err := json.Unmarshal(body, &tree); err != nil {
			return // a is of another kind elsewhere, under a name in other case
		}
		want := string(tree.A["b"])
		if strings.HasPrefix(want, `"`) {
			if err := json.Unmarshal(tree.A["b"], &want); err != nil {
				t.Fatal(err)
			}
		}
		if got != want && tree.A["b"] != nil && strings.Count(strings.ToLower(string(body)), `"a"`) == 1 {
			t.Fatalf("%q, encoding/json says %q", got, want)
		}
	})
}
