// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"net/http"
	"strings"
	"testing"
)

// read is what one source finds in a request: the ID's parts for display, with
// "#" before a number.
func read(t testing.TB, source string, req *Request) (id string, bad Reason) {
	t.Helper()
	d := newDeriver(t, Config{DeliveryID: []Candidate{{Source: mustSource(t, source)}}})
	w := d.pool.Get().(*work)
	alt, bad := d.resolve(w, req, &d.roles[0])
	if bad != "" || alt == nil {
		return "", bad
	}
	var b strings.Builder
	for i, p := range w.parts {
		if i > 0 {
			b.WriteByte('|')
		}
		if p.number {
			b.WriteByte('#')
		}
		b.Write(p.text)
	}
	return b.String(), ""
}

type jsonCase struct {
	name, pointer, body, want string
	bad                       Reason
}

func TestJSON(t *testing.T) {
	deep := func(n int) string {
		return `{"id":"x","a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + `}`
	}
	for _, c := range []jsonCase{
		{name: "plain", body: `{"id":"evt_1"}`, want: "evt_1"},
		{name: "nested", pointer: "/data/object/id", body: `{"id":"a","data":{"id":"b","object":{"id":"c"}}}`, want: "c"},
		{name: "last", body: ` { "a" : [1,{"id":"no"},null,true,-1.5e+3] , "id" : "x" } ` + "\r\n", want: "x"},
		{name: "array element", pointer: "/items/1/id", body: `{"items":[{"id":"a"},{"id":"b"},{"id":"c"}]}`, want: "b"},
		{name: "root array", pointer: "/0/id", body: `[{"id":"a"}]`, want: "a"},
		{name: "index as name", pointer: "/items/1", body: `{"items":{"1":"x"}}`, want: "x"},
		{name: "escaped token", pointer: "/a~1b~0", body: `{"a/b~":"x"}`, want: "x"},
		{name: "empty name", pointer: "/", body: `{"":"x"}`, want: "x"},
		{name: "B-02 escapes", body: `{"z":"\u001B[31m \u00e4 \/","id":"m-\u0031\/\"\\\u00e4\uD83C\uDF89"}`, want: `m-1/"\ä🎉`},
		{name: "escaped name", body: `{"\u0069d":"x"}`, want: "x"},
		{name: "UTF-8", body: `{"ключ":"нет","id":"ß€🎉"}`, want: "ß€🎉"},
		{name: "B-04 byte order mark", body: "\xef\xbb\xbf" + `{"id":"x"}`, want: "x"},
		{name: "I-16 above 2^53", body: `{"id":9123456789654321001}`, want: "#9123456789654321001"},
		{name: "I-17 fraction", body: `{"id":1000.0}`, want: "#1000.0"},
		{name: "I-17 exponent", body: `{"id":1e3}`, want: "#1e3"},
		{name: "I-17 text", body: `{"id":"1000"}`, want: "1000"},
		{name: "huge exponent", body: `{"id":1e999999999}`, want: "#1e999999999"},
		{name: "not trimmed", body: `{"id":" x "}`, want: " x "},
		{name: "256 bytes", body: `{"id":"` + longText(256) + `"}`, want: longText(256)},
		{name: "other case", body: `{"ID":"x"}`},
		{name: "64 levels", body: deep(64), want: "x"},
		{name: "duplicate elsewhere", body: `{"a":1,"a":2,"b":{"id":1,"id":2},"id":"x"}`, want: "x"},
		{name: "bad text elsewhere", body: "{\"a\":\"\xff\\ud800\\u0000\",\"id\":\"x\"}", want: "x"},

		{name: "duplicate", body: `{"id":"x","id":"x"}`, bad: ReasonDuplicateName},
		{name: "duplicate at the end", body: `{"id":"x","a":{},"\u0069\u0064":"y"}`, bad: ReasonDuplicateName},
		{name: "duplicate null", body: `{"id":"x","id":null}`, bad: ReasonDuplicateName},
		{name: "thrice", body: `{"id":"x","id":"y","id":"z"}`, bad: ReasonDuplicateName},
		{name: "duplicate on the path", pointer: "/data/id", body: `{"data":{"id":"x"},"data":{}}`, bad: ReasonDuplicateName},
		{name: "bad byte in name", body: "{\"id\":\"x\",\"id\xff\":\"y\"}", bad: ReasonOddName},
		{name: "bad byte inside name", body: "{\"i\xffd\":\"x\"}", bad: ReasonOddName},
		{name: "NUL after name", body: `{"id":"x","id\u0000more":"y"}`, bad: ReasonOddName},
		{name: "odd name first", body: `{"id\ud800":"y","id":"x"}`, bad: ReasonDuplicateName},
		{name: "object", body: `{"id":{}}`, bad: ReasonWrongType},
		{name: "array", body: `{"id":["x"]}`, bad: ReasonWrongType},
		{name: "boolean", body: `{"id":true}`, bad: ReasonWrongType},
		{name: "bad UTF-8", body: "{\"id\":\"a\xffb\"}", bad: ReasonEncoding},
		{name: "bad UTF-8 beside escape", body: "{\"id\":\"\\u0061\xff\"}", bad: ReasonEncoding},
		{name: "lone high surrogate", body: `{"id":"a\ud800"}`, bad: ReasonEncoding},
		{name: "lone low surrogate", body: `{"id":"\udc00a"}`, bad: ReasonEncoding},
		{name: "high before no low", body: `{"id":"\ud800\u0061"}`, bad: ReasonEncoding},
		{name: "bare control", body: "{\"id\":\"a\x01b\"}", bad: ReasonControl},
		{name: "DEL", body: "{\"id\":\"a\x7fb\"}", bad: ReasonControl},
		{name: "C1 control", body: `{"id":"a\u0085b"}`, bad: ReasonControl},
		{name: "NUL", body: `{"id":"a\u0000b"}`, bad: ReasonControl},
		{name: "blank with tab", body: `{"id":" \t"}`, bad: ReasonControl},
		{name: "newline", body: `{"id":"a\nb"}`, bad: ReasonControl},
		{name: "A-05 long", body: `{"id":"` + longText(70000) + `"}`, bad: ReasonTooLong},
		{name: "A-05 long with escape", body: `{"id":"\u0061` + longText(70000) + `"}`, bad: ReasonTooLong},
		{name: "A-05 long number", body: `{"id":` + strings.Repeat("1", 257) + `}`, bad: ReasonTooLong},
		{name: "65 levels", body: deep(65), bad: ReasonTooDeep},
		{name: "bomb", body: strings.Repeat("[", 1<<20), bad: ReasonTooDeep},

		{name: "absent", body: `{"a":"x"}`},
		{name: "path through text", pointer: "/a/b", body: `{"a":"b"}`},
		{name: "index with zero", pointer: "/01", body: `["a","b"]`},
		{name: "index after the last", pointer: "/-", body: `["a"]`},
		{name: "null", body: `{"id":null}`},
		{name: "empty", body: `{"id":""}`},
		{name: "blank", body: `{"id":" \u00a0\u2003"}`},
		{name: "zero", body: `{"id":0}`},
		{name: "other zero", body: `{"id":-0.00e5}`},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t) })
	}
}

// TestJSONNotAnObject holds the bodies of trial I-19: none has an ID, and none
// may panic.
func TestJSONNotAnObject(t *testing.T) {
	for _, body := range []string{
		``, ` `, `null`, `[]`, `"x"`, `42`, `true`, `"id"`, `hello`, `<id>1</id>`, `id=1`, "\xef\xbb\xbf", "\x00",
		`{`, `{"`, `{"id`, `{"id"`, `{"id":`, `{"id":"`, `{"id":"x`, `{"id":"x"`, `{"id":"x",`, `{"id":"x",}`,
		`{"id":"x"}}`, `{"id":"x"}{"id":"y"}`, `{"id":"x"} x`, `{id:"x"}`, `{'id':'x'}`, `{"id" "x"}`, `{"id":"x" "a":1}`,
		`{"id":"\x"}`, `{"id":"\u12"}`, `{"id":"\u12g4"}`, `{"id":"x\`, "{\"a\":\"\x01\",\"id\":\"x\"}",
		`{"id":01}`, `{"id":1.}`, `{"id":.5}`, `{"id":-}`, `{"id":+1}`, `{"id":1e}`, `{"id":1e+}`, `{"id":NaN}`,
		`{"id":tru}`, `{"id":nul}`, `{"id":"x","a":[1,]}`, `{"id":"x","a":[1 2]}`, `{"id":"x","a":[}`, "{\"id\":\"x\"}\x00",
		"{\"id\":\"x\",\v\"a\":1}", `/*c*/{"id":"x"}`, "\xff\xfe{\x00}\x00",
	} {
		c := jsonCase{body: body}
		c.check(t)
	}
}

func (c jsonCase) check(t *testing.T) {
	t.Helper()
	pointer := c.pointer
	if pointer == "" {
		pointer = "/id"
	}
	got, bad := read(t, "json "+pointer, &Request{Body: []byte(c.body)})
	if got != c.want || bad != c.bad {
		t.Errorf("%.60s: got %.60q, %q; want %.60q, %q", c.body, got, bad, c.want, c.bad)
	}
}

func TestPlaceholders(t *testing.T) {
	for _, value := range []string{
		"null", "NULL", "Null", "nil", "None", "undefined", "0", "", "  ", "<nil>", "(null)", "NaN", "n/a", "-", " null ",
		"[object Object]", "00000000-0000-0000-0000-000000000000",
	} {
		for source, req := range map[string]*Request{
			"header X-Id": {Header: http.Header{"X-Id": {value}}}, // trial I-22
			"json /id":    {Body: []byte(`{"id":"` + value + `"}`)},
			"form id":     {Body: []byte("id=" + value)},
			"query id":    {RawQuery: "id=" + value},
		} {
			if got, bad := read(t, source, req); got != "" || bad != "" {
				t.Errorf("%s %q: got %q, %q; want it missing", source, value, got, bad)
			}
		}
	}
	for _, value := range []string{"nullable", "00", "1", "none-1", "0x0", "false"} {
		if got, _ := read(t, "header X-Id", &Request{Header: http.Header{"X-Id": {value}}}); got != value {
			t.Errorf("%q: got %q", value, got)
		}
	}
}

func TestHeader(t *testing.T) {
	for _, c := range []struct {
		name   string
		values []string
		want   string
		bad    Reason
	}{
		{"once", []string{"a"}, "a", ""},
		{"absent", nil, "", ""},
		{"twice", []string{"a", "b"}, "", ReasonRepeated},
		{"twice the same", []string{"a", "a"}, "", ReasonRepeated},
		{"A-05 8 KiB", []string{longText(8 << 10)}, "", ReasonTooLong},
		{"tab", []string{"a\tb"}, "", ReasonControl},
		{"bad UTF-8", []string{"a\xe9"}, "", ReasonEncoding},
	} {
		got, bad := read(t, "header x-iD", &Request{Header: http.Header{"X-Id": c.values}})
		if got != c.want || bad != c.bad {
			t.Errorf("%s: got %q, %q; want %q, %q", c.name, got, bad, c.want, c.bad)
		}
	}
}
