// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// sent makes one call and returns the bytes that the app received.
func sent(t *testing.T, r *Request) (head, body string) {
	t.Helper()
	a := startApp(t, "tcp", answer(okEmpty))
	if got := newForwarder(t, a.conf).Do(t.Context(), r); got.Status != 200 {
		t.Fatalf("status %d, %v", got.Status, got.Err)
	}
	seen := <-a.requests
	return seen[0], seen[1]
}

func TestRequestTarget(t *testing.T) {
	for _, uri := range []string{
		"/",
		"/hook",
		"/a%2Fb/%41;v=1,2/c",
		"/a%2fb%zz",
		"/a//b/../c/./d",
		"//double",
		"//double%2F/x?y=//z",
		"//double?",
		"///triple;p=[1]",
		"/q?",
		"/q??",
		"/q?a=%zz&b=1;c=2&a=%20+x",
		`/weird"<>\^{|}` + "`?" + `"<>\^{|}` + "`",
		"/hook?url=http://other.example//x",
		"/ümlaut?ü",
		"/trailing/?x#y",
		"*",
	} {
		r := post(1)
		r.URI = uri
		head, _ := sent(t, r)
		if want := "POST " + uri + " HTTP/1.1\r\n"; !strings.HasPrefix(head, want) {
			line, _, _ := strings.Cut(head, "\r\n")
			t.Errorf("request line %q, want %q", line, want)
		}
	}
}

func TestRequestTarget_absolute(t *testing.T) {
	for uri, want := range map[string]string{
		"http://hooks.example/a%2Fb?c": "/a%2Fb?c",
		"http://hooks.example":         "/",
		"http://hooks.example?c":       "/?c",
		"http://hooks.example//a":      "//a",
	} {
		r := post(1)
		r.URI = uri
		head, _ := sent(t, r)
		if !strings.HasPrefix(head, "POST "+want+" HTTP/1.1\r\n") {
			t.Errorf("%s: head %q, want target %q", uri, head, want)
		}
	}
}

// TestWholeHead pins every byte that leaves, so that nothing is added unseen.
func TestWholeHead(t *testing.T) {
	r := post(3)
	r.Header = http.Header{
		"X-Hub-Signature-256": {"sha256=abc"},
		"X-Multi":             {"one", "two"},
		"X-Empty":             {""},
		"X-Spaces":            {"a  b"},
		"Te":                  {"gzip, trailers;q=0.5, Trailers"},
		"Connection":          {"close, X-Private", "keep-alive"},
		"X-Private":           {"gone"},
		"Keep-Alive":          {"gone"},
		"Proxy-Connection":    {"gone"},
		"Proxy-Authorization": {"gone"},
		"Transfer-Encoding":   {"gone"},
		"Trailer":             {"gone"},
		"Upgrade":             {"gone"},
		"Expect":              {"100-continue"},
		"Content-Length":      {"99"},
		"Host":                {"gone"},
		"Hookonce-Key":        {"forged"},
		"Hookonce_attempt":    {"forged"},
		"Via":                 {"1.0 other"},
	}
	head, body := sent(t, r)
	want := "POST /hook HTTP/1.1\r\n" +
		"Host: hooks.example\r\n" +
		"Content-Length: 3\r\n" +
		"Te: trailers\r\n" +
		"Via: 1.0 other\r\n" +
		"Via: 1.1 Caddy\r\n" +
		"X-Empty: \r\n" +
		"X-Forwarded-For: 192.0.2.7\r\n" +
		"X-Forwarded-Host: hooks.example\r\n" +
		"X-Forwarded-Proto: https\r\n" +
		"X-Hub-Signature-256: sha256=abc\r\n" +
		"X-Multi: one\r\n" +
		"X-Multi: two\r\n" +
		"X-Spaces: a  b\r\n\r\n"
	if head != want {
		t.Errorf("head\n%s\nwant\n%s", head, want)
	}
	if body != "xxx" {
		t.Errorf("body %q", body)
	}
	if len(r.Header) != 19 || len(r.Header["Via"]) != 1 {
		t.Errorf("the received headers were changed: %v", r.Header)
	}
}

func TestOwnHeaders(t *testing.T) {
	r := post(1)
	r.Header = http.Header{"User-Agent": {"GitHub-Hookshot/1"}, "Accept-Encoding": {"br"}}
	r.Key, r.Attempt, r.EarlyData = "0123abcd", 2, true
	head, _ := sent(t, r)
	for _, want := range []string{"User-Agent: GitHub-Hookshot/1", "Accept-Encoding: br", "Hookonce-Key: 0123abcd", "Hookonce-Attempt: 2", "Early-Data: 1"} {
		if strings.Count(head, want+"\r\n") != 1 {
			t.Errorf("head %q: want %q once", head, want)
		}
	}
}

func TestForwardedHeaders(t *testing.T) {
	prior := http.Header{
		"X-Forwarded-For":   {"198.51.100.1", "198.51.100.2"},
		"X-Forwarded-Proto": {"https"},
		"X-Forwarded-Host":  {"first.example", "last.example"},
	}
	for _, c := range []struct {
		name             string
		remote           string
		trusted, tls     bool
		prior            http.Header
		chain, proto, at string
	}{
		{name: "plain", remote: "192.0.2.7", chain: "192.0.2.7", proto: "http", at: "hooks.example"},
		{name: "tls", remote: "192.0.2.7", tls: true, chain: "192.0.2.7", proto: "https", at: "hooks.example"},
		{name: "untrusted", remote: "192.0.2.7", prior: prior, chain: "192.0.2.7", proto: "http", at: "hooks.example"},
		{name: "trusted", remote: "192.0.2.7", trusted: true, prior: prior, chain: "198.51.100.1, 198.51.100.2, 192.0.2.7", proto: "https", at: "last.example"},
		{name: "trusted-first", remote: "192.0.2.7", trusted: true, chain: "192.0.2.7", proto: "http", at: "hooks.example"},
		{name: "socket", prior: prior},
		{name: "trusted-socket", trusted: true, prior: prior, chain: "198.51.100.1, 198.51.100.2", proto: "https", at: "last.example"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := post(1)
			r.RemoteIP, r.TrustedProxy, r.TLS, r.Header = c.remote, c.trusted, c.tls, c.prior
			h := r.header()
			for name, want := range map[string]string{"X-Forwarded-For": c.chain, "X-Forwarded-Proto": c.proto, "X-Forwarded-Host": c.at} {
				got := h[name]
				if want == "" && got != nil || want != "" && (len(got) != 1 || got[0] != want) {
					t.Errorf("%s %q, want %q", name, got, want)
				}
			}
		})
	}
}

// TestEmptyBody_S29 is a provider that sends an Idempotency-Key with an empty
// body to an app that does the work on a reused connection and hangs up: net/http
// would send such a request again by itself.
func TestEmptyBody_S29(t *testing.T) {
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "GET", "HEAD", "OPTIONS", "PURGE"} {
		t.Run(method, func(t *testing.T) {
			a := startApp(t, "tcp", func(p *peer) {
				p.request()
				p.say(okEmpty)
				p.request()
			})
			f := newForwarder(t, a.conf)
			r := post(0)
			r.Method = method
			r.Header = http.Header{"Idempotency-Key": {"a"}, "X-Idempotency-Key": {"b"}}
			if w := f.Do(t.Context(), r); w.Status != 200 {
				t.Fatal(w.Err)
			}
			wantUnknown(t, f.Do(t.Context(), r), delivery.ReasonNoAnswer)
			<-a.requests
			got := (<-a.requests)[0]
			if n := a.effects.Load(); n != 2 || a.accepted.Load() != 1 {
				t.Errorf("%d effects on %d connections, want 2 on 1", n, a.accepted.Load())
			}
			lengths := strings.Count(strings.ToLower(got), "\r\ncontent-length: 0\r\n")
			if want := map[bool]int{true: 0, false: 1}[method == "GET" || method == "HEAD"]; lengths != want {
				t.Errorf("head %q: %d times a length of 0, want %d", got, lengths, want)
			}
			if strings.Contains(strings.ToLower(got), "transfer-encoding") {
				t.Errorf("head %q: want no chunked body", got)
			}
			if !strings.Contains(got, "\r\nIdempotency-Key: a\r\n") {
				t.Errorf("head %q: the provider's header is missing", got)
			}
		})
	}
}

// TestOneWrite lets head and body arrive in one read, over each transport.
func TestOneWrite(t *testing.T) {
	for _, kind := range kinds {
		for _, size := range []int{0, 2 << 10, 24 << 10} {
			var writes []int
			a := startApp(t, kind, func(p *peer) {
				p.request()
				p.say(okEmpty)
			})
			f := newForwarder(t, a.conf)
			tr := f.targets[0].transport
			tr.DialContext = watched(tr.DialContext, &writes)
			tr.DialTLSContext = watched(tr.DialTLSContext, &writes)
			if got := f.Do(t.Context(), post(size)); got.Status != 200 || !got.Evidence.CountsBytes {
				t.Fatalf("status %d, %v", got.Status, got.Err)
			}
			if len(writes) != 1 || writes[0] < size {
				t.Errorf("%s, %d bytes: writes of %v bytes, want a single one", kind, size, writes)
			}
		}
	}
}

// watched puts a layer below the counting of a connection that notes writes.
func watched(dial func(context.Context, string, string) (net.Conn, error), writes *[]int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if c, ok := conn.(*countConn); ok {
			c.Conn = &watchedConn{Conn: c.Conn, writes: writes}
		}
		return conn, err
	}
}

type watchedConn struct {
	net.Conn
	writes *[]int
}

func (c *watchedConn) Write(p []byte) (int, error) {
	*c.writes = append(*c.writes, len(p))
	return c.Conn.Write(p)
}

func TestBodyIsExact(t *testing.T) {
	for _, size := range []int{1, 4095, 4096, 32 << 10, 33 << 10, 1 << 20} {
		r := post(size)
		for i := range r.Body {
			r.Body[i] = byte(i * 7)
		}
		_, body := sent(t, r)
		if body != string(r.Body) {
			t.Errorf("%d bytes: the app got %d other bytes", size, len(body))
		}
	}
}

var _ io.Writer = (*watchedConn)(nil)
