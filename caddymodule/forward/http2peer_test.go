// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"strings"
	"testing"
)

// The frames of HTTP/2 (RFC 9113, section 6) that the scripts need.
const (
	frameData, frameHeaders, frameReset = 0x0, 0x1, 0x3
	frameSettings, framePing            = 0x4, 0x6
	frameGoAway                         = 0x7

	flagEnd, flagAck, flagEndHeaders = 0x1, 0x1, 0x4

	codeNo, codeProtocol, codeInternal = 0x0, 0x1, 0x2
	codeRefused, codeCancel            = 0x7, 0x8

	// Indexed fields of the static table of HPACK.
	status200, status404, status500 = 0x88, 0x8d, 0x8e
)

// stream is one request on an HTTP/2 connection, as the app sees it.
type stream struct {
	*peer
	id uint32
}

// startApp2 serves HTTP/2 by hand: script is called for every request that has
// arrived whole. A script that returns false hangs up.
func startApp2(t testing.TB, kind string, script func(*stream) bool) *app {
	t.Helper()
	base := map[string]string{"h2c": "tcp", "unix+h2c": "unix", "h2": "tcp"}[kind]
	a := startApp(t, base, func(p *peer) {
		if kind == "h2" {
			conn := tls.Server(p.raw, &tls.Config{Certificates: certificates(), NextProtos: []string{"h2"}})
			p.Conn = conn
			p.r.Reset(conn)
		}
		p.serve2(script)
	})
	switch kind {
	case "h2":
		a.address = "https://" + a.address
	case "h2c":
		a.address = "h2c://" + a.address
	default:
		a.address = "unix+h2c" + strings.TrimPrefix(a.address, "unix")
	}
	a.conf = Config{Addresses: []string{a.address}, TLS: trusting()}
	return a
}

func (p *peer) serve2(script func(*stream) bool) {
	if _, err := p.r.Discard(len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")); err != nil {
		return
	}
	p.frame(frameSettings, 0, 0)
	for {
		kind, flags, id, payload, err := p.readFrame()
		if err != nil {
			return
		}
		switch {
		case kind == frameSettings && flags&flagAck == 0:
			p.frame(frameSettings, flagAck, 0)
		case kind == framePing && flags&flagAck == 0:
			p.frame(framePing, flagAck, 0, payload...)
		case (kind == frameData || kind == frameHeaders) && flags&flagEnd != 0:
			p.app.effects.Add(1)
			if !script(&stream{peer: p, id: id}) {
				return
			}
		}
	}
}

func (p *peer) readFrame() (kind, flags byte, id uint32, payload []byte, err error) {
	var head [9]byte
	if _, err = io.ReadFull(p.r, head[:]); err != nil {
		return
	}
	payload = make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
	_, err = io.ReadFull(p.r, payload)
	return head[3], head[4], binary.BigEndian.Uint32(head[5:]), payload, err
}

func (p *peer) frame(kind, flags byte, id uint32, payload ...byte) {
	n := len(payload)
	b := []byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}
	b = binary.BigEndian.AppendUint32(b, id)
	_, _ = p.Write(append(b, payload...))
}

func (s *stream) head(status byte, end bool) {
	flags := byte(flagEndHeaders)
	if end {
		flags |= flagEnd
	}
	s.frame(frameHeaders, flags, s.id, status)
}

func (s *stream) data(text string, end bool) {
	var flags byte
	if end {
		flags = flagEnd
	}
	s.frame(frameData, flags, s.id, []byte(text)...)
}

func (s *stream) resetStream(code byte) { s.frame(frameReset, 0, s.id, 0, 0, 0, code) }

// goAway announces the end; streams above last were not looked at.
func (s *stream) goAway(last uint32, code byte) {
	payload := binary.BigEndian.AppendUint32(nil, last)
	s.frame(frameGoAway, 0, 0, append(payload, 0, 0, 0, code)...)
}
