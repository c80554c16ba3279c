// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestReadReply(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       reply
		last       bool
		bad        bool
		left       string
	}{
		{"length", "HTTP/1.1 200 OK\r\nHookonce-Status: first\r\nContent-Length: 3\r\n\r\nabcNEXT", reply{200, "first"}, false, false, "NEXT"},
		{"case", "HTTP/1.1 200 OK\r\nhookonce-status:duplicate \r\ncontent-length:0\r\n\r\nNEXT", reply{200, "duplicate"}, false, false, "NEXT"},
		{"no body", "HTTP/1.1 401 \r\nHookonce-Status: refused; reason=x\r\n\r\nNEXT", reply{401, "refused; reason=x"}, false, false, "NEXT"},
		{"chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\nT: v\r\n\r\nNEXT", reply{200, ""}, false, false, "NEXT"},
		{"interim", "HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", reply{200, ""}, false, false, ""},
		{"close", "HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", reply{503, ""}, true, false, ""},
		{"cut status", "HTTP/1.1 20", reply{}, false, true, ""},
		{"cut head", "HTTP/1.1 200 OK\r\nConte", reply{}, false, true, ""},
		{"cut body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", reply{}, false, true, ""},
		{"cut chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab", reply{}, false, true, ""},
		{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", reply{}, false, true, ""},
		{"bad length", "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", reply{}, false, true, ""},
		{"bad header", "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", reply{}, false, true, ""},
		{"bad status", "HTTP/1.1 2x0 OK\r\n\r\n", reply{}, false, true, ""},
		{"negative status", "HTTP/1.1 -10 OK\r\n\r\n", reply{}, false, true, ""},
		{"other protocol", "SSH-2.0-OpenSSH_9\r\n", reply{}, false, true, ""},
		{"empty", "", reply{}, false, true, ""},
	} {
		r := bufio.NewReader(strings.NewReader(c.text))
		rep, last, err := readReply(r)
		if (err != nil) != c.bad {
			t.Errorf("%s: error %v", c.name, err)
		}
		if c.bad {
			continue
		}
		left, _ := io.ReadAll(r)
		if rep != c.want || last != c.last || string(left) != c.left {
			t.Errorf("%s: %+v, last %v, left %q", c.name, rep, last, left)
		}
	}
}

func FuzzReadReply(f *testing.F) {
	f.Add("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	f.Add("HTTP/1.1 103 x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
	f.Fuzz(func(t *testing.T, text string) {
		rep, _, err := readReply(bufio.NewReader(strings.NewReader(text)))
		if err == nil && (rep.status < 200 || rep.status > 999) {
			t.Errorf("%q is no final answer: %+v", text, rep)
		}
	})
}

// TestClientReconnects: an announced close is followed by a new connection,
// and so is a broken one.
func TestClientReconnects(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	answers := []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
		"HTTP/1.1 2",
		"HTTP/1.1 204 No Content\r\n\r\n",
	}
	go func() {
		for _, a := range answers {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_, _ = io.ReadFull(c, make([]byte, 4))
			_, _ = io.WriteString(c, a)
			c.Close()
		}
	}()
	c := &client{addr: ln.Addr().String(), deadline: time.Now().Add(20 * time.Second)}
	defer c.close()
	for i, want := range []int{200, 0, 204} {
		rep, err := c.do([]byte("ping"))
		if (err == nil) != (want != 0) || want != 0 && rep.status != want {
			t.Errorf("request %d: %+v, %v", i, rep, err)
		}
	}
}
