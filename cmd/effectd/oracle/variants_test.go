// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestCertificates(t *testing.T) {
	for mode, want := range map[TLS]func(error) bool{
		TLSExpired: func(err error) bool {
			var invalid x509.CertificateInvalidError
			return errors.As(err, &invalid) && invalid.Reason == x509.Expired
		},
		TLSWrongName: func(err error) bool {
			var host x509.HostnameError
			return errors.As(err, &host)
		},
	} {
		r := newRig(t, Config{TLS: mode})
		if a := r.post(t.Context(), "/", strings.NewReader("x")); !want(a.err) {
			t.Errorf("%s: got %d, %v", mode, a.status, a.err)
		}
		r.effects(t, 0)
	}
	r := newRig(t, Config{TLS: TLSGood})
	r.client.Transport.(*http.Transport).TLSClientConfig = nil
	var unknown x509.UnknownAuthorityError
	if a := r.post(t.Context(), "/", strings.NewReader("x")); !errors.As(a.err, &unknown) {
		t.Errorf("without the root: %d, %v", a.status, a.err)
	}
}

// TestHTTP2 covers what the behaviours mean for streams, with and without TLS.
func TestHTTP2(t *testing.T) {
	for _, mode := range []TLS{TLSOff, TLSGood} {
		for _, f := range []struct {
			name    string
			effects int
			status  int
			body    bool // the body ends with an error
		}{
			{"ok", 1, 200, false},
			{"interim", 1, 200, false},
			{"unavailable", 0, 503, false},
			{"early-413", 0, 413, false},
			{"close", 1, 0, false},
			{"reset", 1, 0, false},
			{"cut-head", 1, 0, false},
			{"cut-length", 1, 200, true},
			{"upgrade", 1, 0, false},
			{"close-accept", 0, 0, false},
			{"goaway", 0, 0, false},
			{"refuse-stream", 0, 0, false},
			{"die-after", 1, 0, false},
		} {
			t.Run(string(mode)+"/"+f.name, func(t *testing.T) {
				r := newRig(t, Config{HTTP: HTTP2, TLS: mode})
				r.Script(MustNamed(f.name))
				a := r.post(t.Context(), "/", strings.NewReader("x"))
				if a.status != f.status || (a.err == nil) != (f.status != 0) || (a.bodyErr != nil) != f.body {
					t.Errorf("got %d, %v, body %v", a.status, a.err, a.bodyErr)
				}
				if f.name == "refuse-stream" && !strings.Contains(a.err.Error(), "REFUSED_STREAM") {
					t.Errorf("refused with %v", a.err)
				}
				got := r.effects(t, f.effects)
				if f.effects == 1 && got[0].Proto != "HTTP/2.0" {
					t.Errorf("effect %+v", got[0])
				}
			})
		}
	}
}

// TestRefusedStreamIsSafe: what was refused can be sent again, on a new
// connection, and happens once.
func TestRefusedStreamIsSafe(t *testing.T) {
	for _, name := range []string{"refuse-stream", "goaway"} {
		r := newRig(t, Config{HTTP: HTTP2})
		r.Script(MustNamed(name))
		if a := r.post(t.Context(), "/", strings.NewReader("x")); a.err == nil {
			t.Errorf("%s: got %d", name, a.status)
		}
		if a := r.post(t.Context(), "/", strings.NewReader("x")); a.status != 200 {
			t.Errorf("after %s: %d, %v", name, a.status, a.err)
		}
		if got := r.effects(t, 1); got[0].Conn != 2 {
			t.Errorf("after %s: %+v", name, got[0])
		}
	}
}

func TestHTTP2HoldAndReuse(t *testing.T) {
	r := newRig(t, Config{HTTP: HTTP2})
	answers := make(chan answer, 2)
	for i := range 2 {
		go func() { answers <- r.post(t.Context(), "/do/hold", strings.NewReader("x")) }()
		if e := r.arrival(t); e.Conn != 1 || e.Reused != (i == 1) {
			t.Errorf("arrival %d: %+v", i, e)
		}
	}
	r.Release()
	for range 2 {
		if a := <-answers; a.status != 200 {
			t.Errorf("%+v", a)
		}
	}
}

// TestIdleTimeout lets the server end an idle connection with a clean FIN.
func TestIdleTimeout(t *testing.T) {
	r := newRig(t, Config{TLS: TLSGood, IdleTimeout: 20 * time.Millisecond})
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(r.RootPEM())
	c, err := tls.Dial("tcp", r.Addr(), &tls.Config{RootCAs: pool})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(data), "HTTP/1.1 200 OK\r\n") {
		t.Errorf("got %q, %v", data, err)
	}
}
