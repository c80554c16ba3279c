// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// okEmpty keeps the connection open for the next request.
const okEmpty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// app is a scripted upstream. It speaks raw bytes, so it can misbehave in ways
// that an HTTP server cannot.
type app struct {
	address string
	conf    Config // how to reach it

	accepted atomic.Int32
	effects  atomic.Int32   // requests that arrived whole
	requests chan [2]string // head and body of the first of them

	deadline *deadline

	mu     sync.Mutex
	conns  []net.Conn
	closed bool
	wg     sync.WaitGroup
}

// peer is one connection as the app sees it.
type peer struct {
	net.Conn          // what the script talks through
	raw      net.Conn // below TLS
	r        *bufio.Reader
	app      *app
}

// kinds of transport that every HTTP/1.1 row is tested on.
var kinds = []string{"tcp", "unix", "tls"}

// startApp serves every connection with script and hangs up when it returns.
func startApp(t testing.TB, kind string, script func(*peer)) *app {
	t.Helper()
	a := &app{requests: make(chan [2]string, 8), deadline: &deadline{Context: t.Context(), done: make(chan struct{})}}
	ln := a.listen(t, kind)
	a.wg.Go(func() {
		for {
			raw, err := ln.Accept()
			if err != nil {
				return
			}
			a.accepted.Add(1)
			a.serve(raw, kind, script)
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		a.mu.Lock()
		a.closed = true
		for _, c := range a.conns {
			_ = c.Close()
		}
		a.mu.Unlock()
		a.wg.Wait()
	})
	return a
}

func (a *app) listen(t testing.TB, kind string) net.Listener {
	network, at := "tcp", "127.0.0.1:0"
	if kind == "unix" {
		network, at = "unix", filepath.Join(t.TempDir(), "s")
	}
	ln, err := net.Listen(network, at)
	if err != nil {
		t.Fatal(err)
	}
	switch kind {
	case "unix":
		a.address = "unix/" + at
	case "tls":
		a.address = "https://" + ln.Addr().String()
	default:
		a.address = ln.Addr().String()
	}
	a.conf = Config{Addresses: []string{a.address}, Versions: []string{"1.1"}, TLS: trusting()}
	return ln
}

func (a *app) serve(raw net.Conn, kind string, script func(*peer)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		_ = raw.Close()
		return
	}
	a.conns = append(a.conns, raw)
	p := &peer{Conn: raw, raw: raw, app: a}
	if kind == "tls" {
		p.Conn = tls.Server(raw, &tls.Config{Certificates: certificates()})
	}
	p.r = bufio.NewReader(p.Conn)
	a.wg.Go(func() {
		defer p.Close()
		script(p)
	})
}

// deadline is a context whose deadline passes when a script says so, and not
// when a busy machine is late.
type deadline struct {
	context.Context
	done chan struct{}
	once sync.Once
}

func (d *deadline) pass()                 { d.once.Do(func() { close(d.done) }) }
func (d *deadline) Done() <-chan struct{} { return d.done }

func (d *deadline) Err() error {
	select {
	case <-d.done:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// head reads the head of a request, byte for byte.
func (p *peer) head() string {
	var b strings.Builder
	for {
		line, err := p.r.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			return b.String()
		}
	}
}

// request reads a whole request and counts it as an effect. It returns an empty
// head when the connection ended before.
func (p *peer) request() (head, body string) {
	head = p.head()
	if !strings.HasSuffix(head, "\r\n\r\n") {
		return "", ""
	}
	_, rest, _ := strings.Cut(head, "\r\n")
	mime, err := textproto.NewReader(bufio.NewReader(strings.NewReader(rest))).ReadMIMEHeader()
	if err != nil {
		return "", ""
	}
	n, _ := strconv.Atoi(mime.Get("Content-Length"))
	buf := make([]byte, n)
	if _, err := io.ReadFull(p.r, buf); err != nil {
		return "", ""
	}
	p.app.effects.Add(1)
	select {
	case p.app.requests <- [2]string{head, string(buf)}:
	default: // nobody looks at so many
	}
	return head, string(buf)
}

// say writes raw bytes. The other side may be gone, which is its own affair.
func (p *peer) say(s string) { _, _ = io.WriteString(p, s) }

// hang reads until the other side hangs up.
func (p *peer) hang() { _, _ = io.Copy(io.Discard, p.r) }

// reset ends the connection with a reset instead of a farewell.
func (p *peer) reset() {
	if c, ok := p.raw.(*net.TCPConn); ok {
		_ = c.SetLinger(0)
	}
	_ = p.raw.Close()
}

var testServer = sync.OnceValue(func() *httptest.Server {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	s.Close() // only its certificate is needed
	return s
})

func certificates() []tls.Certificate { return testServer().TLS.Certificates }

// trusting is a client configuration that trusts the test certificate.
func trusting() *tls.Config {
	pool := x509.NewCertPool()
	pool.AddCert(testServer().Certificate())
	return &tls.Config{RootCAs: pool}
}

// newForwarder makes a forwarder that leaves no connection behind.
func newForwarder(t testing.TB, c Config) *Forwarder {
	t.Helper()
	f, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.CloseIdle)
	return f
}

// post is a delivery with a body of n bytes.
func post(n int) *Request {
	return &Request{
		Method: "POST", URI: "/hook", Host: "hooks.example",
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       bytes.Repeat([]byte("x"), n),
		ProtoMajor: 1, ProtoMinor: 1, RemoteIP: "192.0.2.7", TLS: true,
	}
}
