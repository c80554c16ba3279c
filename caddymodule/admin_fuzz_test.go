// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hookonce/hookonce/caddymodule/spool"
)

// S25: whatever others write, what we print shows itself and does nothing else,
// and JSON still says the same.
func FuzzOutput(f *testing.F) {
	for _, seed := range []string{"plain", "\x1b[2J\x07", "\u202ea\u009b", "\U000e0041", "\xff\xfe", `a"b\c`, "\u2028\n\t", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got := visible(text); strings.ContainsFunc(got, func(c rune) bool { return hidden(c) || c == '\n' }) {
			t.Errorf("%q is shown as %q", text, got)
		}
		out, err := safeJSON(map[string]string{text: text})
		if err != nil || strings.ContainsFunc(string(out), hidden) {
			t.Fatalf("%q is written as %q, error %v", text, out, err)
		}
		var back map[string]string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%v in %q", err, out)
		}
		for key, value := range back {
			if utf8.ValidString(text) && (key != text || value != text) {
				t.Errorf("%q comes back as %q: %q", text, key, value)
			}
		}
	})
}

// What a delivery holds behind names is not shown, however its URI and headers
// are written.
func FuzzRequestView(f *testing.F) {
	for _, seed := range [][2]string{
		{"/hook?token=canary&a", "X-Hub-Signature"}, {"?=canary", "authorization"}, {"/a?%zz=canary&%61=canary", "Set-COOKIE"}, {"", ""},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, uri, name string) {
		req := spool.Request{URI: uri + "?secret=canary-value&secret=canary-value", Header: http.Header{
			"X-" + name + "-Token": {"canary-value", "canary-value"}, "X-Mine": {"canary-value"},
		}}
		view := viewRequest(&req, []string{"X-Mine"})
		for header, values := range view.Headers {
			if len(values) != len(req.Header[header]) || strings.Contains(strings.Join(values, " "), "canary") {
				t.Errorf("%q is shown as %q", header, values)
			}
		}
		if shown := view.Path + strings.Join(view.Query, " "); strings.Contains(shown, "canary-value") && !strings.Contains(uri, "canary-value") {
			t.Errorf("%q is shown as %q with %q", req.URI, view.Path, view.Query)
		}
	})
}

func FuzzFirstBytes(f *testing.F) {
	f.Add("plain", 3)
	f.Add(strings.Repeat("ü", 70), 101)
	f.Add(strings.Repeat("\x80", 200), 100)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = max(0, n)
		got := firstBytes(text, n)
		if len(got) > n || !strings.HasPrefix(text, got) || utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("the first %d bytes of %q are %q", n, text, got)
		}
	})
}
