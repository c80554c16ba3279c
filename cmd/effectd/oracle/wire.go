// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// linger is how long a connection that we ended with FIN is still read from,
// so that late bytes of the client do not turn the FIN into a reset.
const linger = 10 * time.Second

// wire is an accepted connection below TLS and HTTP.
type wire struct {
	net.Conn
	id   int64
	s    *Server
	once sync.Once
}

// accept takes connections until the listener is closed.
func (s *Server) accept() {
	if s.h2 != nil {
		defer s.h2.close()
	}
	for {
		nc, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.cfg.Logf("accept: %v", err)
			select {
			case <-s.cfg.After(10 * time.Millisecond):
				continue
			case <-s.done:
				return
			}
		}
		w := &wire{Conn: nc, id: s.accepted.Add(1), s: s}
		s.mu.Lock()
		s.conns[w] = struct{}{}
		s.mu.Unlock()
		select {
		case <-s.done:
			// stop may have walked the connections before this one came.
			_ = w.Close()
			return
		default:
		}
		s.wg.Go(func() { ; s.serve(w) })
	}
}

// serve handles one connection to its end.
func (s *Server) serve(w *wire) {
	if b, ok := s.script.atWire(false, s.actsOnWire); ok {
		defer w.Close()
		s.signals.send(Effect{Time: s.cfg.Now(), Conn: w.id, Did: b.String()})
		s.actOnWire(w, b)
		return
	}
	if s.h2 != nil {
		s.h2.hand(w)
		return
	}
	defer w.Close()
	c := &conn{s: s, w: w, Conn: w}
	if s.tls != nil {
		c.Conn = tls.Server(w, s.tls)
	}
	c.serve()
}

// actsOnWire tells the behaviours that act before net/http or we read.
func (s *Server) actsOnWire(b Behaviour) bool {
	if s.h2 != nil && (b.Then == RefuseStream || b.Then == GoAway) {
		return true
	}
	return b.Read == ReadNothing
}

func (s *Server) actOnWire(w *wire, b Behaviour) {
	switch b.action() {
	case RefuseStream, GoAway:
		if err := refuse(w, s.tls, b.Then); err != nil {
			s.cfg.Logf("refuse stream: %v", err)
		}
	case Reset:
		w.reset()
	case Silent:
		<-s.done
	default:
		w.fin()
	}
}

// Close closes the connection and forgets it.
func (w *wire) Close() error {
	var err error
	w.once.Do(func() {
		err = w.Conn.Close()
		w.s.mu.Lock()
		delete(w.s.conns, w)
		w.s.mu.Unlock()
	})
	return err
}

// fin sends FIN and takes what the client still sends, until the client closes
// too. A plain close would answer unread bytes with a reset.
func (w *wire) fin() {
	if half, ok := w.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		// The linger guards against clients that never close, so it is the
		// real clock that counts and not the injected one.
		if w.SetReadDeadline(time.Now().Add(linger)) == nil {
			_, _ = io.Copy(io.Discard, w.Conn)
		}
	}
	_ = w.Close()
}

// reset closes with RST. A unix socket has no RST: there the client sees a
// reset if bytes were left unread, and an end of file otherwise.
func (w *wire) reset() {
	if tcp, ok := w.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = w.Close()
}

// isClosed tells a second close from a failure.
func isClosed(err error) bool { return errors.Is(err, os.ErrClosed) }
