// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"context"
	"crypto/tls"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// http2Server serves HTTP/2 with net/http. Behaviours act on streams: Reset
// resets the stream, Close drops the connection with all its streams, Cut
// resets the stream in the middle of the answer.
type http2Server struct {
	s     *Server
	http  *http.Server
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

// h2conn is what a request needs to know of its connection.
type h2conn struct {
	wire     *wire
	requests atomic.Int64
}

type h2connKey struct{}

func newHTTP2Server(s *Server) *http2Server {
	h := &http2Server{s: s, conns: make(chan net.Conn), done: make(chan struct{})}
	var protocols http.Protocols
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	h.http = &http.Server{
		Handler:     http.HandlerFunc(h.serve),
		Protocols:   &protocols,
		IdleTimeout: s.cfg.IdleTimeout,
		ErrorLog:    log.New(logWriter(s.cfg.Logf), "", 0),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if t, ok := c.(*tls.Conn); ok {
				c = t.NetConn()
			}
			return context.WithValue(ctx, h2connKey{}, &h2conn{wire: c.(*wire)})
		},
	}
	s.wg.Go(func() { ; _ = h.http.Serve(h) })
	return h
}

// hand gives a connection to net/http, which closes it.
func (h *http2Server) hand(w *wire) {
	var c net.Conn = w
	if h.s.tls != nil {
		c = tls.Server(w, h.s.tls)
	}
	select {
	case h.conns <- c:
	case <-h.done:
		_ = w.Close()
	}
}

// serve is the handler of all requests.
func (h *http2Server) serve(w http.ResponseWriter, req *http.Request) {
	hc := req.Context().Value(h2connKey{}).(*h2conn)
	reused := hc.requests.Add(1) > 1
	b, settled, err := h.s.script.atHead(reused, req.RequestURI)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	in, err := h.s.readBody(req.Body, b)
	if err != nil {
		h.s.aborted.Add(1)
		return
	}
	if !settled {
		if asked, ok, err := h.s.script.atBody(in.bytes, in.digest()); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		} else if ok {
			b = asked
		}
	}
	h.s.requests.Add(1)
	e := h.s.effect(req, in, b)
	e.Conn, e.Reused = hc.wire.id, reused
	run, err := h.s.begin(e, b)
	if err != nil || !run.pause(req.Context().Done()) {
		panic(http.ErrAbortHandler)
	}
	defer run.after()
	h.act(w, req, hc.wire, b)
}

func (h *http2Server) act(w http.ResponseWriter, req *http.Request, c *wire, b Behaviour) {
	if b.Interim != 0 {
		w.WriteHeader(b.Interim)
	}
	switch b.action() {
	case Die:
		h.s.die()
		panic(http.ErrAbortHandler)
	case Close:
		_ = c.Close()
		panic(http.ErrAbortHandler)
	case Silent:
		select {
		case <-req.Context().Done():
		case <-h.s.done:
		}
		panic(http.ErrAbortHandler)
	case Answer:
		h.answer(w, c, b)
	default:
		panic(http.ErrAbortHandler)
	}
}

func (h *http2Server) answer(w http.ResponseWriter, c *wire, b Behaviour) {
	if b.Cut == CutStatus || b.Cut == CutHead || b.status() == http.StatusSwitchingProtocols {
		panic(http.ErrAbortHandler) // a HEADERS frame is all or nothing, and HTTP/2 knows no 101
	}
	for name, value := range b.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(b.status())
	_, _ = w.Write([]byte(b.Body))
	if b.end() == EndKeep {
		return
	}
	_ = http.NewResponseController(w).Flush()
	if b.Cut == CutBody {
		panic(http.ErrAbortHandler)
	}
	_ = c.Close()
}

func (h *http2Server) close() {
	h.once.Do(func() { close(h.done) })
	_ = h.http.Close()
}

// Accept, Close and Addr make the server the listener of its net/http part.
func (h *http2Server) Accept() (net.Conn, error) {
	select {
	case c := <-h.conns:
		return c, nil
	case <-h.done:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (h *http2Server) Close() error {
	h.once.Do(func() { close(h.done) })
	return nil
}

// Addr is the address of the real listener.
func (h *http2Server) Addr() net.Addr { return h.s.listener.Addr() }

// logWriter turns the lines of a log.Logger into calls of Logf.
type logWriter func(string, ...any)

func (f logWriter) Write(p []byte) (int, error) {
	f("%s", p)
	return len(p), nil
}

var _ net.Listener = (*http2Server)(nil)
