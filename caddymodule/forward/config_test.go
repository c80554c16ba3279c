// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"net"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]address{
		"127.0.0.1:9000":           {network: "tcp", dial: "127.0.0.1:9000", scheme: "http", host: "127.0.0.1"},
		"app":                      {network: "tcp", dial: "app:80", scheme: "http", host: "app"},
		":9000":                    {network: "tcp", dial: "localhost:9000", scheme: "http", host: "localhost"},
		"[::1]:9000":               {network: "tcp", dial: "[::1]:9000", scheme: "http", host: "::1"},
		"[::1]":                    {network: "tcp", dial: "[::1]:80", scheme: "http", host: "::1"},
		"http://app":               {network: "tcp", dial: "app:80", scheme: "http", host: "app"},
		"http://app:8080":          {network: "tcp", dial: "app:8080", scheme: "http", host: "app"},
		"https://app":              {network: "tcp", dial: "app:443", scheme: "https", host: "app"},
		"https://[::1]:8443":       {network: "tcp", dial: "[::1]:8443", scheme: "https", host: "::1"},
		"h2c://app:50051":          {network: "tcp", dial: "app:50051", scheme: "http", host: "app", h2c: true},
		"unix//run/app.sock":       {network: "unix", dial: "/run/app.sock", scheme: "http", host: "localhost"},
		"unix+h2c//run/x:y@z.sock": {network: "unix", dial: "/run/x:y@z.sock", scheme: "http", host: "localhost", h2c: true},
		"unix/relative.sock":       {network: "unix", dial: "relative.sock", scheme: "http", host: "localhost"},
	} {
		want.text = text
		got, err := parseAddress(text)
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
}

func TestNew_refuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "not a host and port",
		"unix/":                  "no path of a socket",
		"ftp://app":              "unknown scheme",
		"http://app/path":        "only scheme, host and port",
		"http://app/":            "only scheme, host and port",
		"http://app?x":           "only scheme, host and port",
		"http://user:geheim@app": "no user and password here",
		"http://app:443":         "does not go with",
		"https://app:80":         "does not go with",
		"h2c://app:443":          "does not go with",
		"app:0":                  "not a port",
		"app:":                   "not a port",
		"app:99999":              "not a port",
		"app:80-90":              "not a port",
		"{env.APP}":              "not a host and port",
		"http://[::1":            "missing ']'",
		"a:b:c":                  "not a host and port",
		"::1":                    "not a host and port",
		"app:http":               "not a port",
		"0]0":                    "not a host and port",
		"tcp/app:80":             "not a host and port",
	} {
		_, err := New(Config{Addresses: []string{text}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: the password is in the error: %v", text, err)
		}
	}
	if _, err := New(Config{}); err == nil {
		t.Error("no address: want an error")
	}
	if _, err := New(Config{Addresses: []string{"app"}, Versions: []string{"3"}}); err == nil || !strings.Contains(err.Error(), `"3"`) {
		t.Errorf("unknown version: error %v", err)
	}
}

// TestNew_versions maps the versions to what net/http may speak.
func TestNew_versions(t *testing.T) {
	for _, c := range []struct {
		address         string
		versions        []string
		one, two, clear bool
	}{
		{"app", nil, true, false, false},
		{"app", []string{"2"}, true, false, false},
		{"app", []string{"h2c"}, false, false, true},
		{"h2c://app", nil, false, false, true},
		{"https://app", nil, true, true, false},
		{"https://app", []string{"1.1"}, true, false, false},
		{"https://app", []string{"2"}, false, true, false},
	} {
		f := newForwarder(t, Config{Addresses: []string{c.address}, Versions: c.versions})
		p := f.targets[0].transport.Protocols
		if p.HTTP1() != c.one || p.HTTP2() != c.two || p.UnencryptedHTTP2() != c.clear {
			t.Errorf("%s %v: %v", c.address, c.versions, p)
		}
	}
}

// FuzzParseAddress checks that an accepted address can be dialled as it is.
func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{"app", "app:80", "[::1]:1", "unix//x", "https://app:8443", "h2c://a", "://", "a/b", "http://[::1%25eth0]:80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := parseAddress(s)
		if err != nil {
			return
		}
		if a.dial == "" || a.host == "" || a.scheme != "http" && a.scheme != "https" {
			t.Errorf("%q: %+v", s, a)
		}
		if _, _, err := net.SplitHostPort(a.dial); a.network == "tcp" && err != nil {
			t.Errorf("%q: %+v: %v", s, a, err)
		}
	})
}
