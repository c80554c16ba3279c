// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"net"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestLeaks counts connections that stay open and goroutines that stay alive
// after attempts of every kind.
func TestLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	var open atomic.Int32
	var gone sync.WaitGroup
	t.Run("attempts", func(t *testing.T) {
		for _, o := range outcomes() {
			a := startApp(t, "tcp", o.script)
			f, err := New(a.conf)
			if err != nil {
				t.Fatal(err)
			}
			tr := f.targets[0].transport
			dial := tr.DialContext
			tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
				conn, err := dial(ctx, network, addr)
				if c, ok := conn.(*countConn); ok {
					open.Add(1)
					gone.Add(1)
					c.Conn = &closing{Conn: c.Conn, done: func() {
						open.Add(-1)
						gone.Done()
					}}
				}
				return conn, err
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			f.Do(ctx, post(max(o.body, 1)))
			cancel()
			f.CloseIdle()
		}
	})
	gone.Wait() // hangs, and shows the goroutines, when a connection is never closed
	if n := open.Load(); n != 0 {
		t.Errorf("%d connections are open", n)
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		runtime.Gosched() // the last goroutines are on their way out
		if i > 1e7 {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// closing tells once that a connection was closed.
type closing struct {
	net.Conn
	once sync.Once
	done func()
}

func (c *closing) Close() error {
	c.once.Do(c.done)
	return c.Conn.Close()
}

// TestKeepAlive closes an idle connection before the app would: the time is
// that of a bubble, so nobody waits.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, err := New(Config{Addresses: []string{"app:80"}})
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := net.Pipe()
		var closed atomic.Bool
		f.targets[0].transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
			return &countConn{Conn: &closing{Conn: ours, done: func() { closed.Store(true) }}}, nil
		}
		server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})}
		go func() { _ = server.Serve(&oneConn{conn: theirs, end: make(chan struct{})}) }()
		if got := f.Do(t.Context(), post(10)); got.Status != 200 {
			t.Fatal(got.Err)
		}
		synctest.Wait()
		for _, c := range []struct {
			after time.Duration
			want  bool
		}{{DefaultKeepAlive - time.Millisecond, false}, {2 * time.Millisecond, true}} {
			<-time.After(c.after)
			synctest.Wait()
			if closed.Load() != c.want {
				t.Errorf("after another %v: closed %v, want %v", c.after, closed.Load(), c.want)
			}
		}
		_ = server.Close()
	})
}

// oneConn is a listener with one connection to give.
type oneConn struct {
	conn net.Conn
	once sync.Once
	end  chan struct{}
}

func (l *oneConn) Accept() (net.Conn, error) {
	var conn net.Conn
	l.once.Do(func() { conn, l.conn = l.conn, nil })
	if conn != nil {
		return conn, nil
	}
	<-l.end
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	close(l.end)
	return nil
}

func (l *oneConn) Addr() net.Addr { return &net.TCPAddr{} }

var _ net.Listener = (*oneConn)(nil)
