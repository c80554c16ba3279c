// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"hash"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// conn is an HTTP/1.1 connection.
type conn struct {
	net.Conn // TLS or w itself
	s        *Server
	w        *wire
	r        *bufio.Reader
}

// serve takes requests until one of them ends the connection.
func (c *conn) serve() {
	c.r = bufio.NewReader(c.Conn)
	for reused := false; ; reused = true {
		if reused {
			if !c.awaitNext() {
				return
			}
			if b, ok := c.s.script.atWire(true, c.s.actsOnWire); ok {
				c.s.signals.send(Effect{Time: c.s.cfg.Now(), Conn: c.w.id, Reused: true, Did: b.String()})
				c.s.actOnWire(c.w, b)
				return
			}
		}
		req, err := http.ReadRequest(c.r)
		if err != nil {
			if err != io.EOF {
				c.s.aborted.Add(1)
			}
			return
		}
		if !c.exchange(req, reused) {
			return
		}
	}
}

// awaitNext waits for the first byte of the next request.
func (c *conn) awaitNext() bool {
	if d := c.s.cfg.IdleTimeout; d > 0 {
		_ = c.SetReadDeadline(time.Now().Add(d))
	}
	if _, err := c.r.Peek(1); err != nil {
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			c.fin()
		}
		return false
	}
	_ = c.SetReadDeadline(time.Time{})
	return true
}

// exchange serves one request and tells whether the connection lives on.
func (c *conn) exchange(req *http.Request, reused bool) bool {
	b, settled, err := c.s.script.atHead(reused, req.RequestURI)
	if err != nil {
		return c.fail(req, err)
	}
	// A client that expects 100 only sends what the behaviour wants to read.
	if strings.EqualFold(req.Header.Get("Expect"), "100-continue") && (b.Read != ReadHead || b.Bytes > 0) {
		if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
			return false
		}
	}
	in, err := c.s.readBody(req.Body, b)
	if err != nil {
		c.s.aborted.Add(1)
		return false
	}
	if !settled {
		if asked, ok, err := c.s.script.atBody(in.bytes, in.digest()); err != nil {
			return c.fail(req, err)
		} else if ok {
			b = asked
		}
	}
	c.s.requests.Add(1)
	e := c.s.effect(req, in, b)
	e.Conn, e.Reused = c.w.id, reused
	run, err := c.s.begin(e, b)
	if err != nil {
		return false
	}
	if !run.pause(nil) {
		return false
	}
	how := c.act(req, b, in.complete)
	run.after()
	return c.end(how)
}

// fail answers a request whose own script makes no sense.
func (c *conn) fail(req *http.Request, err error) bool {
	c.s.cfg.Logf("%s: %v", req.RequestURI, err)
	return c.end(c.act(req, Behaviour{Status: http.StatusBadRequest, Body: err.Error() + "\n"}, false))
}

// fin ends the connection with FIN, after the close alert of TLS if any.
func (c *conn) fin() {
	if t, ok := c.Conn.(*tls.Conn); ok {
		_ = t.CloseWrite()
	}
	c.w.fin()
}

// input is what was read of a body.
type input struct {
	bytes    []byte // for scripts in the body and KeepBodies
	n        int64
	sum      hash.Hash
	complete bool
}

func (in *input) digest() string { return hex.EncodeToString(in.sum.Sum(nil)) }

// scriptLimit is the largest body that is looked into for a script.
const scriptLimit = 1 << 20

// readBody reads as much of a body as the behaviour wants. It fails if the
// client ends the body before that.
func (s *Server) readBody(body io.Reader, b Behaviour) (*input, error) {
	in := &input{sum: sha256.New()}
	var kept bytes.Buffer
	dst := io.MultiWriter(in.sum, &limited{w: &kept, left: scriptLimit})
	if s.cfg.KeepBodies {
		dst = io.MultiWriter(in.sum, &kept)
	}
	var err error
	if b.Read == ReadHead {
		in.n, err = io.CopyN(dst, body, b.Bytes)
		in.complete = body == http.NoBody
		if err == io.EOF {
			in.complete, err = true, nil
		}
	} else {
		in.n, err = io.Copy(dst, body)
		in.complete = err == nil
	}
	in.bytes = kept.Bytes()
	return in, err
}

// limited keeps the first bytes and drops the rest.
type limited struct {
	w    *bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	l.w.Write(p[:n])
	return len(p), nil
}

// effect describes the request for the ledger and for Arrived.
func (s *Server) effect(req *http.Request, in *input, b Behaviour) Effect {
	e := Effect{
		Time: s.cfg.Now(), Proto: req.Proto, Method: req.Method, Host: req.Host, Path: req.RequestURI,
		Headers: keyHeaders(req.Header), Header: req.Header,
		Bytes: in.n, SHA256: in.digest(), Complete: in.complete, Did: b.String(),
	}
	if s.cfg.KeepBodies {
		e.Body = in.bytes
	}
	return e
}
