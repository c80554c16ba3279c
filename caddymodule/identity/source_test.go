// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestParseSource(t *testing.T) {
	for text, want := range map[string]Source{
		"header X-GitHub-Delivery": {Header: "X-GitHub-Delivery"},
		"json /data/id":            {JSON: "/data/id"},
		`json "/my data/id"`:       {JSON: "/my data/id"},
		"form MessageSid":          {Form: "MessageSid"},
		"query id":                 {Query: "id"},
		"form +":                   {Form: "+"},
		"header A + json /b + form c": {All: []Source{
			{Header: "A"}, {JSON: "/b"}, {Form: "c"},
		}},
	} {
		got, err := ParseSource(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("ParseSource(%q) = %+v, %v; want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("String() = %q, want %q", got.String(), text)
		}
	}
}

func TestParseSourceErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "no source",
		"header":                "has no name",
		`header ""`:             "has no name",
		"cookie id":             `unknown source "cookie"`,
		"header A +":            "missing after +",
		"header A + json":       "has no name",
		"header A B C":          `unknown source "B"`,
		"header A header B":     "found 2 sources",
		"header X:Y":            "not a header name",
		"header Ümlaut":         "not a header name",
		"json id":               "does not begin with a slash",
		"json /a~2":             "tilde",
		`form "a`:               "not closed",
		`form "a"b`:             "white space is missing",
		"form a\x01":            "control characters",
		"form a\\b":             "backslashes",
		"form " + longText(257): "longer than 256",
		strings.Repeat("header A + ", 8) + "header A": "has 9 parts",
	} {
		if got, err := ParseSource(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseSource(%.40q) = %+v, %v; want an error with %q", text, got, err, want)
		}
	}
}

func TestParseSourcesAlternatives(t *testing.T) {
	got, err := ParseSources([]string{"header", "A", "+", "header", "B", "json", "/my id", "form", "c"})
	want := []Source{{All: []Source{{Header: "A"}, {Header: "B"}}}, {JSON: "/my id"}, {Form: "c"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
}

func TestSourceValidate(t *testing.T) {
	for name, s := range map[string]Source{
		"empty":          {},
		"two kinds":      {Header: "A", JSON: "/a"},
		"one part":       {All: []Source{{Header: "A"}}},
		"nested":         {All: []Source{{Header: "A"}, {All: []Source{{Header: "B"}, {Header: "C"}}}}},
		"bad part":       {All: []Source{{Header: "A"}, {JSON: "b"}}},
		"kind and parts": {Header: "A", All: []Source{{Header: "B"}, {Header: "C"}}},
		"bad UTF-8":      {Form: "a\xff"},
	} {
		if err := s.Validate(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestSourceJSON(t *testing.T) {
	for text, want := range map[string]string{
		"header X":             `{"header":"X"}`,
		"json /a/b":            `{"json":"/a/b"}`,
		"form a + query b":     `{"all":[{"form":"a"},{"query":"b"}]}`,
		`json "/with a space"`: `{"json":"/with a space"}`,
	} {
		s, err := ParseSource(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(s)
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
		var back Source
		if err := json.Unmarshal(got, &back); err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%s: read back as %+v, %v", got, back, err)
		}
	}
}

func TestCandidatesTrust(t *testing.T) {
	sources, err := ParseSources(strings.Fields("header A json /b header A + json /b json /b + json /c"))
	if err != nil {
		t.Fatal(err)
	}
	got := Candidates(sources, func(s Source) bool { return s.JSON != "" })
	for i, want := range []bool{false, true, false, true} {
		if got[i].Signed != want {
			t.Errorf("%s: signed %v, want %v", got[i].Source, got[i].Signed, want)
		}
	}
}

func FuzzParseSource(f *testing.F) {
	for _, seed := range []string{"header A", "json /a~1b", `form "a b" + query c`, "header A + ", `json "/"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSource(text)
		if err != nil {
			return
		}
		if err := s.Validate(); err != nil {
			t.Fatalf("%q: parsed, but invalid: %v", text, err)
		}
		back, err := ParseSource(s.String())
		if err != nil || !reflect.DeepEqual(back, s) {
			t.Fatalf("%q: %q read back as %+v, %v", text, s.String(), back, err)
		}
	})
}

func longText(n int) string { return strings.Repeat("x", n) }
