// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"net/http"
	"net/textproto"
	"strings"
	"testing"
)

func TestRemoveHopByHop(t *testing.T) {
	h := http.Header{
		"Connection":   {" x-one ,, X-Two", "\tx-three"},
		"X-One":        {"1"},
		"X-Two":        {"2"},
		"X-Three":      {"3"},
		"Alt-Svc":      {"h3"},
		"Content-Type": {"text/plain"},
	}
	removeHopByHop(h)
	if len(h) != 1 || h.Get("Content-Type") != "text/plain" {
		t.Errorf("left: %v", h)
	}
}

func TestOurs(t *testing.T) {
	for name, want := range map[string]bool{
		"Hookonce-Key": true, "hookonce-x": true, "HOOKONCE_KEY": true, "Hookonce-": true,
		"Hookonce": false, "Hookoncekey": false, "X-Hookonce-Key": false, "": false,
	} {
		if got := ours(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// TestConnectionNamesOurHeaders: a sender cannot use Connection to take away
// what we add.
func TestConnectionNamesOurHeaders(t *testing.T) {
	r := post(1)
	r.Key, r.Attempt = "0123abcd", 1
	r.Header = http.Header{"Connection": {"X-Forwarded-For, X-Forwarded-Host, Via, Hookonce-Key, Hookonce-Attempt, User-Agent"}}
	h := r.header()
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "Via", headerKey, headerAttempt} {
		if len(h[name]) != 1 {
			t.Errorf("%s is missing: %v", name, h)
		}
	}
}

// FuzzHeader builds headers from anything and checks what must never pass.
func FuzzHeader(f *testing.F) {
	f.Add("Connection", "close, X-A", "X-A", "1", false)
	f.Add("Te", "trailers", "Hookonce-Key", "x", true)
	f.Add("Upgrade", "h2c", "Transfer-Encoding", "chunked", false)
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string, trusted bool) {
		r := post(1)
		r.TrustedProxy = trusted
		r.Header = http.Header{}
		r.Header.Add(name1, value1)
		r.Header.Add(name2, value2)
		before := r.Header.Clone()
		h := r.header()
		for name := range h {
			if hopByHop(name) && name != "Te" || ours(name) || name == "Expect" || name == "Content-Length" {
				t.Errorf("%q passed: %v", name, h)
			}
		}
		for _, line := range r.Header["Connection"] {
			for token := range strings.SplitSeq(line, ",") {
				name := textproto.CanonicalMIMEHeaderKey(textproto.TrimString(token))
				if values, ok := h[name]; ok && values != nil && !set(name) {
					t.Errorf("%q is named by Connection and passed: %v", name, h)
				}
			}
		}
		if len(h["Via"]) == 0 || len(h["X-Forwarded-For"]) != 1 || len(h["X-Forwarded-Host"]) != 1 {
			t.Errorf("forwarding headers are missing: %v", h)
		}
		for name, values := range before {
			if strings.Join(r.Header[name], "\n") != strings.Join(values, "\n") {
				t.Errorf("the received header %q was changed", name)
			}
		}
	})
}

// set reports whether the forwarder itself sets a header.
func set(name string) bool {
	return name == "Via" || name == "Te" || strings.HasPrefix(name, "X-Forwarded-")
}

// FuzzRequestURL checks that no target is sent to another host and that a
// usual one is sent as it is.
func FuzzRequestURL(f *testing.F) {
	for _, s := range []string{"/", "//a//b?c", "/a%2Fb", "*", "http://x/y", "/%zz", "", "?", "x"} {
		f.Add(s)
	}
	base := newTarget(address{scheme: "http", dial: "app:80", network: "tcp"}, Config{}.withDefaults()).request.URL
	f.Fuzz(func(t *testing.T, uri string) {
		u := requestURL(base, uri)
		if u.Host != "app:80" || u.Scheme != "http" {
			t.Errorf("%q: goes to %s://%s", uri, u.Scheme, u.Host)
		}
		target := u.RequestURI()
		if !strings.HasPrefix(target, "/") && target != "*" {
			t.Errorf("%q: target %q", uri, target)
		}
		if strings.HasPrefix(uri, "/") && !strings.HasPrefix(uri, "//") && target != uri {
			t.Errorf("%q: target %q", uri, target)
		}
	})
}
