// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// client is a keep-alive connection that understands as much of HTTP/1.1 as
// Caddy's answers need, at a fraction of the cost of net/http.
type client struct {
	addr     string
	deadline time.Time // of the whole run
	conn     net.Conn
	r        *bufio.Reader
}

// reply is what the benchmark checks of an answer.
type reply struct {
	status int
	// hookonce is the Hookonce-Status header.
	hookonce string
}

// do sends a prepared request in one write and reads the answer. After an
// error the next call connects anew.
func (c *client) do(request []byte) (reply, error) {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.addr, 5*time.Second)
		if err != nil {
			return reply{}, err
		}
		_ = conn.SetDeadline(c.deadline)
		c.conn, c.r = conn, bufio.NewReader(conn)
	}
	_, err := c.conn.Write(request)
	var rep reply
	var last bool
	if err == nil {
		rep, last, err = readReply(c.r)
	}
	if err != nil || last {
		c.close()
	}
	return rep, err
}

func (c *client) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// readReply reads one answer to its end. last tells that the server closes the
// connection after it.
func readReply(r *bufio.Reader) (rep reply, last bool, err error) {
	for rep.status < 200 { // interim answers come before the real one
		line, err := readLine(r)
		if err != nil {
			return rep, false, err
		}
		if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
			return rep, false, fmt.Errorf("bad status line %q", line)
		}
		if rep.status, err = strconv.Atoi(string(line[9:12])); err != nil || rep.status < 100 {
			return rep, false, fmt.Errorf("bad status line %q", line)
		}
		length := int64(0)
		if length, last, err = readHead(r, &rep); err != nil {
			return rep, false, err
		}
		if err := skipBody(r, length); err != nil {
			return rep, false, err
		}
	}
	return rep, last, nil
}

const chunked = -1

// readHead reads the header block and returns the length of the body, or
// chunked.
func readHead(r *bufio.Reader, rep *reply) (length int64, last bool, err error) {
	for {
		line, err := readLine(r)
		if err != nil {
			return 0, false, err
		}
		if len(line) == 0 {
			return length, last, nil
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		value = bytes.TrimSpace(value)
		switch {
		case !ok:
			return 0, false, fmt.Errorf("bad header line %q", line)
		case is(name, "Content-Length"):
			n, err := strconv.ParseUint(string(value), 10, 32)
			if err != nil {
				return 0, false, fmt.Errorf("bad length %q", value)
			}
			length = int64(n)
		case is(name, "Transfer-Encoding"):
			length = chunked
		case is(name, "Connection"):
			last = is(value, "close")
		case is(name, "Hookonce-Status"):
			rep.hookonce = string(value)
		}
	}
}

// is compares without regard to case, and without an allocation.
func is(b []byte, name string) bool { return len(b) == len(name) && strings.EqualFold(string(b), name) }

// skipBody takes a body off the connection.
func skipBody(r *bufio.Reader, length int64) error {
	if length != chunked {
		_, err := r.Discard(int(length))
		return err
	}
	for {
		line, err := readLine(r)
		if err != nil {
			return err
		}
		size, _, _ := strings.Cut(string(line), ";")
		n, err := strconv.ParseUint(strings.TrimSpace(size), 16, 31)
		if err != nil {
			return fmt.Errorf("bad chunk %q", line)
		}
		if n == 0 {
			break
		}
		if _, err := r.Discard(int(n) + 2); err != nil {
			return err
		}
	}
	for { // trailers
		if line, err := readLine(r); err != nil || len(line) == 0 {
			return err
		}
	}
}

// readLine returns a line without its end; it is valid until the next read.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	return bytes.TrimRight(line, "\r\n"), nil
}
