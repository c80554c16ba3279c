// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// What net/http cannot be told to do in HTTP/2 is small enough to be done by
// hand: no header block has to be decoded to refuse a stream.

const (
	clientPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

	frameHeaders   = 1
	frameRSTStream = 3
	frameSettings  = 4
	frameGoAway    = 7
	flagAck        = 1

	errNone          = 0
	errRefusedStream = 7
)

// frame builds an HTTP/2 frame (RFC 9113, section 4.1).
func frame(kind, flags byte, stream uint32, payload ...uint32) []byte {
	f := make([]byte, 9, 9+4*len(payload))
	f[2] = byte(4 * len(payload))
	f[3], f[4] = kind, flags
	binary.BigEndian.PutUint32(f[5:], stream)
	for _, v := range payload {
		f = binary.BigEndian.AppendUint32(f, v)
	}
	return f
}

// refuse speaks HTTP/2 until the first stream is opened and refuses it, either
// by resetting it (RefuseStream) or by going away without it (GoAway). Both
// promise that the request has not been processed. A GOAWAY ends the
// connection in both cases, so that a repeat comes on a new one.
func refuse(w *wire, cfg *tls.Config, how Action) error {
	var c net.Conn = w
	if cfg != nil {
		c = tls.Server(w, cfg)
	}
	r := bufio.NewReader(c)
	preface := make([]byte, len(clientPreface))
	if _, err := io.ReadFull(r, preface); err != nil || string(preface) != clientPreface {
		return fmt.Errorf("no HTTP/2 preface: %w", err)
	}
	if _, err := c.Write(frame(frameSettings, 0, 0)); err != nil {
		return err
	}
	stream, err := firstStream(r, c)
	if err != nil {
		return err
	}
	var out []byte
	processed := uint32(0)
	if how == RefuseStream {
		out = frame(frameRSTStream, 0, stream, errRefusedStream)
		processed = stream
	}
	if _, err := c.Write(append(out, frame(frameGoAway, 0, 0, processed, errNone)...)); err != nil {
		return err
	}
	w.fin()
	return nil
}

// firstStream acknowledges settings until a HEADERS frame opens a stream.
func firstStream(r *bufio.Reader, c net.Conn) (uint32, error) {
	for {
		var head [9]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return 0, err
		}
		length := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		if _, err := r.Discard(length); err != nil {
			return 0, err
		}
		switch {
		case head[3] == frameHeaders:
			return binary.BigEndian.Uint32(head[5:]) &^ (1 << 31), nil
		case head[3] == frameSettings && head[4]&flagAck == 0:
			if _, err := c.Write(frame(frameSettings, flagAck, 0)); err != nil {
				return 0, err
			}
		}
	}
}
