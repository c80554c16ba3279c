// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// foreign is a transport that this package has not made, as reverse_proxy has
// one below our handler.
func foreign(t *testing.T) *http.Transport {
	tr := &http.Transport{TLSClientConfig: trusting()}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// through makes one call with a foreign transport.
func through(ctx context.Context, tr *http.Transport, url string) error {
	req, err := http.NewRequestWithContext(ctx, "POST", url, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// dialOnly does what the FastCGI transport does: a plain dialer with the
// context of the request, no pool, no other hook.
func dialOnly(ctx context.Context, network, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func TestRecorder(t *testing.T) {
	up := startApp(t, "tcp", answer(okEmpty)).address
	hangsUp := startApp(t, "tcp", func(p *peer) { p.request() }).address
	badTLS := startApp(t, "tcp", func(p *peer) { _, _ = p.raw.Read(make([]byte, 1)) }).address
	down := closedPort(t)
	noServer := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
	for _, c := range []struct {
		name   string
		call   func(context.Context) // what happens below the handler
		class  delivery.Class
		reason delivery.Reason
	}{
		{"no-hooks", func(context.Context) {}, delivery.Unknown, delivery.ReasonNoEvidence},
		{"pool-refused", func(ctx context.Context) { _ = through(ctx, foreign(t), "http://"+down) }, delivery.NotDoneRetry, delivery.ReasonNotDelivered},
		{"pool-tls-failed", func(ctx context.Context) { _ = through(ctx, foreign(t), "https://"+badTLS) }, delivery.NotDoneRetry, delivery.ReasonNotDelivered},
		{"pool-connected", func(ctx context.Context) { _ = through(ctx, foreign(t), "http://"+hangsUp) }, delivery.Unknown, delivery.ReasonNoAnswer},
		{"pool-delivered-then-refused", func(ctx context.Context) {
			_ = through(ctx, foreign(t), "http://"+hangsUp)
			_ = through(ctx, foreign(t), "http://"+down)
		}, delivery.Unknown, delivery.ReasonNoAnswer},
		{"pool-refused-twice", func(ctx context.Context) {
			_ = through(ctx, foreign(t), "http://"+down)
			_ = through(ctx, foreign(t), "http://"+down)
		}, delivery.NotDoneRetry, delivery.ReasonNotDelivered},
		{"plain-refused", func(ctx context.Context) { _ = dialOnly(ctx, "tcp", down) }, delivery.NotDoneRetry, delivery.ReasonNotDelivered},
		{"plain-no-socket", func(ctx context.Context) { _ = dialOnly(ctx, "unix", t.TempDir()+"/none") }, delivery.NotDoneRetry, delivery.ReasonNotDelivered},
		{"plain-unknown-host", func(ctx context.Context) {
			_, _ = (&net.Dialer{Resolver: noServer}).DialContext(ctx, "tcp", "app.invalid:80")
		}, delivery.NotDoneRetry, delivery.ReasonNotDelivered},
		{"plain-connected", func(ctx context.Context) { _ = dialOnly(ctx, "tcp", up) }, delivery.Unknown, delivery.ReasonNoAnswer},
		{"plain-refused-then-connected", func(ctx context.Context) {
			_ = dialOnly(ctx, "tcp", down)
			_ = dialOnly(ctx, "tcp", up)
		}, delivery.Unknown, delivery.ReasonNoAnswer},
		{"pool-refused-then-plain-connected", func(ctx context.Context) {
			_ = through(ctx, foreign(t), "http://"+down)
			_ = dialOnly(ctx, "tcp", up)
		}, delivery.Unknown, delivery.ReasonNoAnswer},
		{"pool-tls-failed-then-plain-connected", func(ctx context.Context) {
			_ = through(ctx, foreign(t), "https://"+badTLS)
			_ = dialOnly(ctx, "tcp", up)
		}, delivery.Unknown, delivery.ReasonNoAnswer},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rec Recorder
			ctx := rec.Context(t.Context())
			c.call(ctx)
			ev := HandlerEvidence(ctx, &rec, HandlerResult{})
			if out := delivery.Classify(ev, delivery.Contract{}); out.Class != c.class || out.Reason != c.reason {
				t.Errorf("class %v (%s), want %v (%s); evidence %+v", out.Class, out.Reason, c.class, c.reason, ev)
			}
		})
	}
}

// TestRecorder_reuse sees a connection that was used before, and leaves the
// trace of somebody else in place.
func TestRecorder_reuse(t *testing.T) {
	a := startApp(t, "tcp", func(p *peer) {
		for range 2 {
			p.request()
			p.say(okEmpty)
		}
	})
	var others int
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { others++ }})
	tr := foreign(t)
	for _, want := range []bool{false, true} {
		var rec Recorder
		if err := through(rec.Context(ctx), tr, "http://"+a.address); err != nil {
			t.Fatal(err)
		}
		if rec.Reused() != want || !rec.Heard() {
			t.Errorf("reused %v, heard %v; want %v, true", rec.Reused(), rec.Heard(), want)
		}
	}
	if others != 2 {
		t.Errorf("the other trace saw %d connections, want 2", others)
	}
}

// TestRecorder_informational ends an app that never stops saying "wait".
func TestRecorder_informational(t *testing.T) {
	a := startApp(t, "tcp", func(p *peer) {
		p.request()
		for range maxInformational + 1 {
			p.say("HTTP/1.1 103 Early Hints\r\n\r\n")
		}
		p.hang()
	})
	var rec Recorder
	if err := through(rec.Context(t.Context()), foreign(t), "http://"+a.address); err == nil {
		t.Error("an endless row of informational answers came to an end")
	}
}

// TestRecorder_late lets hooks fire while the evidence is read, as net/http
// does for dials that go on after a call has returned.
func TestRecorder_late(t *testing.T) {
	var rec Recorder
	trace := httptrace.ContextClientTrace(rec.Context(t.Context()))
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				trace.GetConn("app")
				trace.ConnectDone("tcp", "app", nil)
				trace.DNSDone(httptrace.DNSDoneInfo{Err: errors.New("none")})
				trace.TLSHandshakeDone(tls.ConnectionState{}, errors.New("bad"))
				trace.GotConn(httptrace.GotConnInfo{Conn: &countConn{}})
				trace.WroteRequest(httptrace.WroteRequestInfo{Err: errors.New("cut")})
				_ = rec.Evidence()
			}
		})
	}
	wg.Wait()
	if ev := rec.Evidence(); ev.Connections != 400 || ev.CountsBytes || !ev.WriteFailed || !ev.DialFailed {
		t.Errorf("evidence %+v", ev)
	}
}
