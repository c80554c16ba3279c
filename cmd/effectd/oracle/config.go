// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"errors"
	"fmt"
	"time"
)

// TLS says whether the server speaks TLS, and with which certificate.
type TLS string

const (
	TLSOff       TLS = ""           // plain text
	TLSGood      TLS = "good"       // self-signed for localhost, 127.0.0.1 and ::1; trust RootPEM
	TLSExpired   TLS = "expired"    // the same, expired a day ago
	TLSWrongName TLS = "wrong-name" // valid, but for wrong.invalid
)

// HTTP says which version of the protocol the server speaks.
type HTTP string

const (
	HTTP1 HTTP = ""  // HTTP/1.1 on raw connections, every behaviour
	HTTP2 HTTP = "2" // HTTP/2 only: ALPN h2 with TLS, prior knowledge without
)

// Config configures a server. The zero value listens on a free port of
// 127.0.0.1, keeps its ledger in memory and answers 200.
type Config struct {
	// Addr is host:port, or unix//path. Default "127.0.0.1:0".
	Addr string
	TLS  TLS
	HTTP HTTP

	// Ledger is the file of the ledger; it is continued if it exists. Empty
	// keeps the ledger in memory.
	Ledger string
	// NoSync leaves out the sync after each line, for runs that never kill
	// the machine. A killed process loses nothing by it.
	NoSync bool
	// KeepBodies keeps whole bodies in the effects of Arrived and, without a
	// ledger file, of Ledger.
	KeepBodies bool

	// Default is the behaviour for requests that no script speaks about.
	Default Behaviour
	// IdleTimeout closes connections that carry no request for so long, with
	// FIN, as app servers do. Zero keeps them open.
	IdleTimeout time.Duration

	// Die ends the process for the action Die. Nil stands for a process that
	// is in-process: it stops listening and drops every connection, after
	// which Died is closed.
	Die func()

	// Now and After are the clock. Default: time.Now and time.After.
	Now   func() time.Time
	After func(time.Duration) <-chan time.Time
	// Logf gets one line for each request the server itself could not serve:
	// a bad script in a path, a ledger that cannot be written.
	Logf func(format string, args ...any)
}

func (c *Config) fill() error {
	if err := c.Default.Validate(); err != nil {
		return fmt.Errorf("default behaviour: %w", err)
	}
	switch c.TLS {
	case TLSOff, TLSGood, TLSExpired, TLSWrongName:
	default:
		return fmt.Errorf("tls: unknown value %q", c.TLS)
	}
	if c.HTTP != HTTP1 && c.HTTP != HTTP2 {
		return fmt.Errorf("http: unknown version %q", c.HTTP)
	}
	if c.IdleTimeout < 0 {
		return errors.New("idle timeout must not be negative")
	}
	if c.Addr == "" {
		c.Addr = "127.0.0.1:0"
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.After == nil {
		c.After = time.After
	}
	if c.Logf == nil {
		c.Logf = func(string, ...any) {}
	}
	return nil
}
