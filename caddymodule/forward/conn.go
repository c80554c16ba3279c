// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// countConn counts the bytes that a connection took for sending. It is the
// outermost layer of an HTTP/1.1 connection, above TLS, so that neither a
// handshake nor a closing alert is taken for a part of a request.
//
// The count of a write that has begun includes all of its bytes, so zero means
// that nothing left and nothing is about to.
type countConn struct {
	net.Conn
	written atomic.Int64
}

// Write counts before it writes and takes back what was not accepted.
func (c *countConn) Write(p []byte) (int, error) {
	c.written.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	if n < len(p) {
		c.written.Add(int64(n - len(p)))
	}
	return n, err
}

// dialer opens connections to one address, whatever net/http asks for.
type dialer struct {
	net.Dialer
	addr    address
	tls     *tls.Config   // nil for plain addresses
	timeout time.Duration // for the TLS handshake
}

// plain opens a connection without TLS. HTTP/2 shares a connection between
// requests, where a count of bytes says nothing about one of them.
func (d *dialer) plain(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, err := d.DialContext(ctx, d.addr.network, d.addr.dial)
	if err != nil || d.addr.h2c {
		return conn, err
	}
	return &countConn{Conn: conn}, nil
}

// secure opens a connection with TLS. A connection that speaks HTTP/2 is
// returned bare, because net/http recognises it by its type.
func (d *dialer) secure(ctx context.Context, _, _ string) (net.Conn, error) {
	raw, err := d.DialContext(ctx, d.addr.network, d.addr.dial)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	conn := tls.Client(raw, d.tls)
	if err := conn.HandshakeContext(ctx); err != nil {
		_ = raw.Close()
		return nil, fmt.Errorf("tls handshake with %s: %w", d.addr.text, err)
	}
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		return conn, nil
	}
	return &countConn{Conn: conn}, nil
}
