// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"net/url"
	"strings"
	"testing"
)

func TestForm(t *testing.T) {
	for _, c := range []struct {
		text, want string
		present    bool
		bad        Reason
	}{
		{"id=1", "1", true, ""},
		{"a=b&id=1&c=d", "1", true, ""},
		{"id=a+b%20%26", "a b &", true, ""},
		{"i%64=1", "1", true, ""},
		{"id", "", true, ""},
		{"id=", "", true, ""},
		{"id=a=b", "a=b", true, ""},
		{"", "", false, ""},
		{"&&=&", "", false, ""},
		{"ID=1", "", false, ""},
		{"xid=1&idx=2", "", false, ""},
		{"a=1;id=2", "", false, ""},
		{"i%6=1&id%=2&%zz=3", "", false, ""},
		{`{"id":"1"}`, "", false, ""},
		{"id=1&id=1", "", true, ReasonRepeated},
		{"id=&i%64=1", "", true, ReasonRepeated},
		{"id=%", "", true, ReasonEncoding},
		{"id=%4", "", true, ReasonEncoding},
		{"id=%4x", "", true, ReasonEncoding},
		{"id=" + longText(769), "", true, ReasonTooLong},
	} {
		w := &work{arena: []byte("kept")}
		got, present, bad := w.form([]byte(c.text), "id")
		if present != c.present || bad != c.bad || bad == "" && string(got) != c.want {
			t.Errorf("%.40q: %q, %v, %q; want %q, %v, %q", c.text, got, present, bad, c.want, c.present, c.bad)
		}
		if !strings.HasPrefix(string(w.arena), "kept") {
			t.Errorf("%.40q: arena was overwritten: %q", c.text, w.arena)
		}
	}
}

// FuzzForm compares form and query extraction with net/url where that one sees
// no error; it refuses semicolons, which are plain text here.
func FuzzForm(f *testing.F) {
	for _, seed := range []string{"id=1", "a=b&id=%41+", "id=1&id=2", "i%64=x", "id=%zz", "id&"} {
		f.Add([]byte(seed), "id")
	}
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		if name == "" || len(name) > maxNameLen {
			return
		}
		got, present, bad := new(work).form(text, name)
		values, err := url.ParseQuery(string(text))
		if err != nil || bad == ReasonTooLong {
			return
		}
		switch all := values[name]; {
		case present != (len(all) > 0):
			t.Fatalf("present is %v, net/url finds %q", present, all)
		case len(all) > 1 && bad != ReasonRepeated:
			t.Fatalf("%q: reason %q for several values", all, bad)
		case len(all) == 1 && (bad != "" || string(got) != all[0]):
			t.Fatalf("got %q (%s), want %q", got, bad, all[0])
		}
	})
}
