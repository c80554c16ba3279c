// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// member is one name and value of an object, in the order of the document.
type member struct {
	name  string
	value any
}

// decodeTree is the naive reference: it builds the document from the tokens of
// encoding/json, keeping duplicate names and the text of numbers.
func decodeTree(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		object := []member{}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			value, err := decodeTree(dec)
			if err != nil {
				return nil, err
			}
			object = append(object, member{name.(string), value})
		}
		_, err := dec.Token()
		return object, err
	case json.Delim('['):
		array := []any{}
		for dec.More() {
			value, err := decodeTree(dec)
			if err != nil {
				return nil, err
			}
			array = append(array, value)
		}
		_, err := dec.Token()
		return array, err
	}
	return token, nil
}

// lookUp follows a pointer. It panics with a Reason where the path is ambiguous.
func lookUp(doc any, p Pointer) any {
	if len(p) == 0 {
		return doc
	}
	switch doc := doc.(type) {
	case []any:
		if i := arrayIndex(p[0]); i >= 0 && i < len(doc) {
			return lookUp(doc[i], p[1:])
		}
	case []member:
		var found []any
		for _, m := range doc {
			if m.name == p[0] {
				found = append(found, m.value)
			}
		}
		if len(found) > 1 {
			panic(ReasonDuplicateName)
		}
		if len(found) == 1 {
			return lookUp(found[0], p[1:])
		}
	}
	return nil
}

// naive is what read returns for a JSON pointer, the slow way.
func naive(body []byte, p Pointer) (id string, bad Reason) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if !json.Valid(body) {
		return "", ""
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	doc, err := decodeTree(dec)
	if err != nil {
		panic(err)
	}
	defer func() {
		if r := recover(); r != nil {
			id, bad = "", r.(Reason)
		}
	}()
	switch v := lookUp(doc, p).(type) {
	case nil:
		return "", ""
	case string:
		if bad := checkText([]byte(v)); bad != "" || isPlaceholder([]byte(v)) {
			return "", bad
		}
		return v, ""
	case json.Number:
		if bad := checkText([]byte(v)); bad != "" {
			return "", bad
		}
		if strings.Trim(strings.SplitN(strings.ToLower(v.String()), "e", 2)[0], "-0.") == "" {
			return "", ""
		}
		return "#" + v.String(), ""
	}
	return "", ReasonWrongType
}

// jsonText draws documents without limits on order, spelling or duplicates of
// names, from a small alphabet so that pointers hit.
func jsonText(t *rapid.T, depth int, duplicates bool) string {
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space") }
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind = kind % 4
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]string{"null", "true", "false"}).Draw(t, "literal")
	case 1:
		return rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?`).Draw(t, "number")
	case 2, 3:
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z0-9]{1,12}`)).Draw(t, "text")
		return quote(t, text)
	case 4:
		var b strings.Builder
		for i := range rapid.IntRange(0, 4).Draw(t, "elements") {
			if i > 0 {
				b.WriteString("," + space())
			}
			b.WriteString(jsonText(t, depth-1, duplicates))
		}
		return "[" + space() + b.String() + space() + "]"
	}
	names := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "0", "1", "ä/~", ""}), 0, 5)
	if !duplicates {
		names = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "0", "1", "ä/~", ""}), 0, 5, rapid.ID[string])
	}
	var b strings.Builder
	for i, name := range names.Draw(t, "names") {
		if i > 0 {
			b.WriteString("," + space())
		}
		b.WriteString(quote(t, name) + space() + ":" + space() + jsonText(t, depth-1, duplicates))
	}
	return "{" + space() + b.String() + space() + "}"
}

// quote spells a string with some characters as escapes.
func quote(t *rapid.T, text string) string {
	if rapid.Bool().Draw(t, "escaped") {
		var b strings.Builder
		for _, r := range text {
			if r < 0x10000 && rapid.Bool().Draw(t, "escape") {
				fmt.Fprintf(&b, `\u%04X`, r)
				continue
			}
			q, _ := json.Marshal(string(r))
			b.Write(q[1 : len(q)-1])
		}
		return `"` + b.String() + `"`
	}
	q, _ := json.Marshal(text)
	return string(q)
}

func drawPointer(t *rapid.T) Pointer {
	return rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "0", "1", "ä/~", ""}), 1, 3).Draw(t, "pointer")
}

func TestJSONAgreesWithReference(t *testing.T) {
	for name, duplicates := range map[string]bool{"distinct names": false, "duplicate names": true} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				body := []byte(jsonText(t, 4, duplicates))
				compare(t, body, drawPointer(t), drawPointer(t), drawPointer(t))
			})
		})
	}
}

// compare reads several pointers in one pass and each with the reference.
func compare(t rapid.TB, body []byte, pointers ...Pointer) {
	root := &node{index: -1}
	for i, p := range pointers {
		if err := root.add(p, i); err != nil {
			t.Fatal(err)
		}
	}
	d := &Deriver{tree: root}
	w := &work{found: make([]finding, len(pointers))}
	for i, p := range pointers {
		want, wantBad := naive(body, p)
		got, present, bad := d.readLeaf(w, &Request{Body: body}, &leaf{kind: "json", slot: i})
		text := string(got.text)
		if got.number {
			text = "#" + text
		}
		if bad != "" || !present {
			text = ""
		}
		if wantBad != "" {
			want = ""
		}
		if text != want || bad != wantBad {
			t.Fatalf("%s in %q: got %q, %q; want %q, %q", p, body, text, bad, want, wantBad)
		}
	}
}

// FuzzJSON checks arbitrary bodies against the reference. Where encoding/json
// is laxer (bad UTF-8 and lone surrogates become U+FFFD, any depth), it only
// checks that the scanner comes back.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"a":"x"}`, `{"a":1,"a":2}`, `{"a":{"b":["x",{"0":null}]}}`, `[1,2]`, `{"a":"\ud83c\udf89"}`, `{"\u0061":1e5}`,
		"\xef\xbb\xbf{\"a\":\"x\"}", "{\"a\":\"\x01\"}", `{"a`, `{"a\u0000":1}`, `{"a":"\`,
	} {
		f.Add([]byte(seed), "/a/b", "/a")
	}
	f.Fuzz(func(t *testing.T, body []byte, first, second string) {
		p1, err1 := ParsePointer(first)
		p2, err2 := ParsePointer(second)
		if err1 != nil || err2 != nil {
			return
		}
		root := &node{index: -1}
		if root.add(p1, 0) != nil || root.add(p2, 1) != nil {
			t.Fatal("two pointers do not fit")
		}
		var s scanner
		found := make([]finding, 2)
		s.run(root, body, found)
		if !isComparable(body, found) {
			return
		}
		compare(t, body, p1, p2)
	})
}

func isComparable(body []byte, found []finding) bool {
	for _, f := range found {
		if f.bad == ReasonTooDeep {
			return false
		}
	}
	var decoded any
	if json.Unmarshal(bytes.TrimPrefix(body, byteOrderMark), &decoded) != nil {
		// A bare control character in an ID is reported, not called missing.
		return !bytes.ContainsFunc(body, func(r rune) bool { return r < 0x20 })
	}
	plain, err := json.Marshal(decoded)
	return err == nil && !bytes.Contains(plain, []byte("\ufffd")) && !bytes.Contains(plain, []byte(`\ufffd`)) &&
		!bytes.Contains(body, []byte(`\u00`)) && !bytes.ContainsFunc(plain, func(r rune) bool { return r == 0x7f })
}
