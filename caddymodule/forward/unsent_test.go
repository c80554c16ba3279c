// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// wantUnsent asserts the only verdict that lets a delivery be sent again
// without an answer.
func wantUnsent(t *testing.T, got *Attempt) {
	t.Helper()
	out := delivery.Classify(got.Evidence, delivery.Contract{})
	if out.Class != delivery.NotDoneRetry || out.Reason != delivery.ReasonNotDelivered {
		t.Errorf("class %v (%s), want not delivered; evidence %+v, error %v", out.Class, out.Reason, got.Evidence, got.Err)
	}
	if got.Err == nil || got.Status != 0 {
		t.Errorf("status %d, error %v: want an error alone", got.Status, got.Err)
	}
}

func wantUnknown(t *testing.T, got *Attempt, why delivery.Reason) {
	t.Helper()
	out := delivery.Classify(got.Evidence, delivery.Contract{})
	if out.Class != delivery.Unknown || out.Reason != why {
		t.Errorf("class %v (%s), want unknown (%s); evidence %+v, error %v", out.Class, out.Reason, why, got.Evidence, got.Err)
	}
}

// closedPort is an address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func TestOutcome_O12(t *testing.T) {
	blocked := func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
		<-ctx.Done()
		return ctx.Err()
	}
	noServer := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("no name server")
	}}
	for _, c := range []struct {
		name, addr string
		dialer     net.Dialer
		within     time.Duration
		timedOut   bool
	}{
		{name: "refused", addr: closedPort(t)},
		{name: "no-socket", addr: "unix/" + t.TempDir() + "/none"},
		{name: "unknown-host", addr: "app.invalid:80", dialer: net.Dialer{Resolver: noServer}},
		{name: "dial-timeout", addr: "127.0.0.1:80", dialer: net.Dialer{ControlContext: blocked, Timeout: 20 * time.Millisecond}},
		{name: "deadline-in-dial", addr: "127.0.0.1:80", dialer: net.Dialer{ControlContext: blocked}, within: 20 * time.Millisecond, timedOut: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newForwarder(t, Config{Addresses: []string{c.addr}})
			f.targets[0].dialer.Dialer = c.dialer
			ctx := t.Context()
			if c.within > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.within)
				defer cancel()
			}
			got := f.Do(ctx, post(100))
			wantUnsent(t, got)
			if got.Evidence.TimedOut != c.timedOut {
				t.Errorf("timed out %v, want %v", got.Evidence.TimedOut, c.timedOut)
			}
		})
	}
}

func TestOutcome_O13(t *testing.T) {
	silent := func(p *peer) { _, _ = p.raw.Read(make([]byte, 1)) }
	for _, c := range []struct {
		name, kind string
		script     func(*peer)
		tls        *tls.Config
	}{
		{name: "untrusted", kind: "tls", script: func(p *peer) { p.request() }},
		{name: "wrong-name", kind: "tls", script: func(p *peer) { p.request() }, tls: func() *tls.Config {
			c := trusting()
			c.ServerName = "other.test"
			return c
		}()},
		{name: "not-tls", kind: "tcp", script: func(p *peer) { p.say("HTTP/1.1 400 Bad Request\r\n\r\n") }, tls: trusting()},
		{name: "closed", kind: "tcp", script: silent, tls: trusting()},
		{name: "silent", kind: "tcp", script: func(p *peer) { p.hang() }, tls: trusting()},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := startApp(t, c.kind, c.script)
			conf := a.conf
			conf.TLS = c.tls
			if c.kind == "tcp" {
				conf.Addresses = []string{"https://" + a.address}
			}
			if c.name == "silent" {
				conf.DialTimeout = 50 * time.Millisecond
			}
			wantUnsent(t, newForwarder(t, conf).Do(t.Context(), post(100)))
			if n := a.effects.Load(); n != 0 {
				t.Errorf("%d effects, want 0", n)
			}
		})
	}
}

func TestOutcome_O14(t *testing.T) {
	busy, free := make(chan struct{}), make(chan struct{})
	a := startApp(t, "tcp", func(p *peer) {
		p.request()
		close(busy)
		<-free
		p.say(okEmpty)
	})
	conf := a.conf
	conf.MaxConns = 1
	f := newForwarder(t, conf)
	first := make(chan *Attempt, 1)
	go func() { first <- f.Do(context.Background(), post(1)) }()
	<-busy
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	wantUnsent(t, f.Do(ctx, post(1)))
	close(free)
	if got := <-first; got.Status != 200 {
		t.Errorf("the request that held the connection: status %d, %v", got.Status, got.Err)
	}
}

// TestOutcome_O15 allows both classes, since a reset at once may or may not be
// seen before the request is written. What it may not be is done, or refused.
func TestOutcome_O15(t *testing.T) {
	for _, kind := range kinds {
		for _, how := range []string{"reset", "closed"} {
			t.Run(kind+"/"+how, func(t *testing.T) {
				a := startApp(t, kind, func(p *peer) {
					if how == "reset" {
						p.reset()
					}
				})
				got := newForwarder(t, a.conf).Do(t.Context(), post(100))
				out := delivery.Classify(got.Evidence, delivery.Contract{})
				unsent := out.Class == delivery.NotDoneRetry && out.Reason == delivery.ReasonNotDelivered
				if !unsent && out.Class != delivery.Unknown {
					t.Errorf("class %v (%s); evidence %+v", out.Class, out.Reason, got.Evidence)
				}
				if unsent && got.Evidence.Written != 0 {
					t.Errorf("not delivered, and yet %d bytes written", got.Evidence.Written)
				}
			})
		}
	}
}

// sever lets a test shut down the sending side of a connection of the dialer
// from below: the next write fails with no byte accepted, and nothing tells
// net/http before that.
func sever(t *testing.T, d *dialer) (cut func()) {
	t.Helper()
	var raw syscall.RawConn
	d.Control = func(_, _ string, c syscall.RawConn) error {
		raw = c
		return nil
	}
	return func() {
		t.Helper()
		var err error
		if cerr := raw.Control(func(fd uintptr) { err = syscall.Shutdown(int(fd), syscall.SHUT_WR) }); cerr != nil || err != nil {
			t.Fatal(cerr, err)
		}
	}
}

func TestOutcome_O16(t *testing.T) {
	for _, kind := range kinds {
		for _, size := range []int{0, 100, long} {
			t.Run(kind+"/reused", func(t *testing.T) {
				end := make(chan struct{})
				a := startApp(t, kind, func(p *peer) {
					p.request()
					p.say(okEmpty)
					<-end // does not notice that the other side has stopped
				})
				defer close(end)
				f := newForwarder(t, a.conf)
				cut := sever(t, f.targets[0].dialer)
				if w := f.Do(t.Context(), post(10)); w.Status != 200 {
					t.Fatal(w.Err)
				}
				cut()
				got := f.Do(t.Context(), post(size))
				wantUnsent(t, got)
				if ev := got.Evidence; ev.Connections != 1 || !ev.CountsBytes || ev.Written != 0 || !ev.WriteFailed {
					t.Errorf("evidence %+v: want one dead connection and no byte", ev)
				}
				if n := a.accepted.Load(); n != 1 {
					t.Errorf("%d connections, want 1: nothing is sent twice", n)
				}
			})
		}
	}
}

// TestOutcome_O16_written is the other half of the row: the request went out on
// a reused connection that the app was just closing.
func TestOutcome_O16_written(t *testing.T) {
	a := startApp(t, "tcp", func(p *peer) {
		p.request()
		p.say(okEmpty)
		_, _ = p.r.Peek(1) // the next request has begun to arrive
	})
	f := newForwarder(t, a.conf)
	if w := f.Do(t.Context(), post(10)); w.Status != 200 {
		t.Fatal(w.Err)
	}
	wantUnknown(t, f.Do(t.Context(), post(100)), delivery.ReasonNoAnswer)
}

func TestOutcome_O31(t *testing.T) {
	arrived := make(chan struct{})
	a := startApp(t, "tcp", func(p *peer) {
		p.request()
		close(arrived)
		p.hang()
	})
	ctx, stop := context.WithCancelCause(t.Context())
	go func() {
		<-arrived
		stop(ErrShutdown)
	}()
	got := newForwarder(t, a.conf).Do(ctx, post(100))
	wantUnknown(t, got, delivery.ReasonShutdown)
	if got.Evidence.TimedOut || !errors.Is(got.Err, ErrShutdown) {
		t.Errorf("timed out %v, error %v: want a shutdown", got.Evidence.TimedOut, got.Err)
	}
}

// TestDeadContext sends nothing at all.
func TestDeadContext(t *testing.T) {
	a := startApp(t, "tcp", func(p *peer) { p.request() })
	ctx, stop := context.WithCancelCause(t.Context())
	stop(ErrShutdown)
	wantUnsent(t, newForwarder(t, a.conf).Do(ctx, post(100)))
	if n := a.accepted.Load(); n != 0 {
		t.Errorf("%d connections, want 0", n)
	}
}
