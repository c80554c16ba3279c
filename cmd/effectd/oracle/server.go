// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
)

// unixPrefix marks addresses of unix sockets, as in a Caddyfile.
const unixPrefix = "unix/"

// Server is a running upstream.
type Server struct {
	cfg      Config
	listener net.Listener
	cert     *certificate // nil without TLS
	tls      *tls.Config
	h2       *http2Server // nil for HTTP/1.1

	script  *script
	ledger  *ledger
	signals *signals

	done chan struct{} // closed by stop
	died chan struct{} // closed when a behaviour ended the server
	once sync.Once
	wg   sync.WaitGroup

	mu    sync.Mutex
	conns map[*wire]struct{}
	freed chan struct{} // closed and replaced by Release

	accepted, requests, aborted, holding atomic.Int64
}

// Start opens the ledger and the listener and serves until Close. The caller
// must Close the server.
func Start(cfg Config) (*Server, error) {
	if err := cfg.fill(); err != nil {
		return nil, err
	}
	s := &Server{
		cfg:     cfg,
		script:  newScript(cfg.Default),
		signals: newSignals(),
		done:    make(chan struct{}),
		died:    make(chan struct{}),
		conns:   make(map[*wire]struct{}),
		freed:   make(chan struct{}),
	}
	if err := s.setupTLS(); err != nil {
		return nil, err
	}
	ledger, err := openLedger(cfg.Ledger, !cfg.NoSync)
	if err != nil {
		return nil, err
	}
	s.ledger = ledger
	network, addr := "tcp", cfg.Addr
	if path, ok := strings.CutPrefix(addr, unixPrefix); ok {
		network, addr = "unix", path
	}
	if s.listener, err = net.Listen(network, addr); err != nil {
		return nil, errors.Join(fmt.Errorf("listen: %w", err), ledger.close())
	}
	if cfg.HTTP == HTTP2 {
		s.h2 = newHTTP2Server(s)
	}
	s.wg.Add(2)
	go func() { defer s.wg.Done(); s.signals.run(s.done) }()
	go func() { defer s.wg.Done(); s.accept() }()
	return s, nil
}

// Addr is where the server listens: host:port, or unix//path.
func (s *Server) Addr() string {
	if s.listener.Addr().Network() == "unix" {
		return unixPrefix + s.listener.Addr().String()
	}
	return s.listener.Addr().String()
}

// URL is the base of request URLs, without a slash at its end. With a unix
// socket the host is a placeholder and the client has to dial by itself.
func (s *Server) URL() string {
	scheme, host := "http://", s.Addr()
	if s.cfg.TLS != TLSOff {
		scheme = "https://"
	}
	if strings.HasPrefix(host, unixPrefix) {
		host = "localhost"
	}
	return scheme + host
}

// RootPEM is the certificate that clients have to trust, nil without TLS.
func (s *Server) RootPEM() []byte {
	if s.cert == nil {
		return nil
	}
	return s.cert.pem
}

// Script appends behaviours; each is used by the next request that fits it.
// Those that read nothing act on the next connection instead, as soon as it is
// accepted. Panics if one is invalid.
func (s *Server) Script(list ...Behaviour) {
	for _, b := range list {
		if err := b.Validate(); err != nil {
			panic(err)
		}
	}
	s.script.push(list)
}

// Default sets the behaviour for requests that no script speaks about. Panics
// if it is invalid.
func (s *Server) Default(b Behaviour) {
	if err := b.Validate(); err != nil {
		panic(err)
	}
	s.script.setDefault(b)
}

// ResetScript drops what is left of the script and restores the default the
// server was started with.
func (s *Server) ResetScript() { s.script.reset() }

// Ledger returns the effects recorded so far, oldest first. With a ledger file
// that includes those of earlier runs.
func (s *Server) Ledger() ([]Effect, error) { return s.ledger.all() }

// Arrived tells of every request, and of every connection that met a behaviour
// without being read, once its early effect (if any) is durable and before
// anything is answered. Seq is 0 where no effect has been recorded. Arrivals
// wait until they are received; the oldest of more than 65,536 are dropped.
func (s *Server) Arrived() <-chan Effect { return s.signals.out }

// Await receives n arrivals.
func (s *Server) Await(ctx context.Context, n int) ([]Effect, error) {
	var got []Effect
	for len(got) < n {
		select {
		case e := <-s.signals.out:
			got = append(got, e)
		case <-ctx.Done():
			return got, fmt.Errorf("%d of %d requests arrived: %w", len(got), n, ctx.Err())
		}
	}
	return got, nil
}

// Release lets every request go that is held now. Whoever was told by Arrived
// that a request is there can rely on its being released.
func (s *Server) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.freed)
	s.freed = make(chan struct{})
}

func (s *Server) held() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.freed
}

// Died is closed once a behaviour has ended the server.
func (s *Server) Died() <-chan struct{} { return s.died }

// Stats are counts since the start.
type Stats struct {
	Open        int   `json:"open"`        // connections open now
	Connections int64 `json:"connections"` // accepted
	Requests    int64 `json:"requests"`    // read as far as their behaviour says
	Aborted     int64 `json:"aborted"`     // given up by the client before that
	Holding     int64 `json:"holding"`     // held now
	Effects     int64 `json:"effects"`     // in the ledger, with earlier runs
	ScriptLeft  int   `json:"script_left"` // uses of script entries to come
}

// Stats returns the counts of now.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	open := len(s.conns)
	s.mu.Unlock()
	return Stats{
		Open: open, Connections: s.accepted.Load(), Requests: s.requests.Load(),
		Aborted: s.aborted.Load(), Holding: s.holding.Load(),
		Effects: s.ledger.count(), ScriptLeft: s.script.left(),
	}
}

// Close stops listening, drops every connection, waits until nothing runs any
// more and closes the ledger. It may be called again.
func (s *Server) Close() error {
	s.stop()
	s.wg.Wait()
	if err := s.ledger.close(); err != nil && !errors.Is(err, net.ErrClosed) && !isClosed(err) {
		return fmt.Errorf("close ledger: %w", err)
	}
	return nil
}

// stop ends everything without waiting, so that a connection may call it.
func (s *Server) stop() {
	s.once.Do(func() {
		close(s.done)
		_ = s.listener.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		for c := range s.conns {
			_ = c.Conn.Close()
		}
	})
}

// die ends the server as the action Die says.
func (s *Server) die() {
	if s.cfg.Die != nil {
		s.cfg.Die()
		return
	}
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.died:
	default:
		close(s.died)
	}
}
