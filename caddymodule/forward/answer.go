// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"fmt"
	"io"
	"net/http"
	"slices"
)

const (
	firstRead = 64 << 10 // most that is set aside for an announced length
	chunk     = 32 << 10 // how much of a long answer is read at a time
)

// readAnswer takes over an answer whose head is complete. It reads to the end,
// since only the end shows that the answer is whole, and keeps the beginning.
func (f *Forwarder) readAnswer(a *Attempt, resp *http.Response, overflow func(*Attempt) io.Writer) {
	defer func() { _ = resp.Body.Close() }()
	a.Status, a.Proto, a.Header = resp.StatusCode, resp.Proto, resp.Header
	removeHopByHop(a.Header)
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return // the connection ends here; there is nothing to read
	}
	buf, err := f.readKept(resp)
	a.Body, a.Size = buf, int64(len(buf))
	if keep := f.conf.KeepBody; len(buf) > keep {
		a.Body, a.Overflowed = buf[:keep:keep], true
		var w io.Writer
		if overflow != nil {
			w = overflow(a)
		}
		err = f.stream(a, resp.Body, w, buf[keep:], err)
	}
	a.Trailer = resp.Trailer
	if err != io.EOF {
		a.Err = fmt.Errorf("upstream %s: answer cut after %d bytes: %w", a.Address, a.Size, err)
	}
}

// readKept reads until the end or until there is more than is to be kept. The
// error is io.EOF for a body that ended as its framing says.
func (f *Forwarder) readKept(resp *http.Response) ([]byte, error) {
	if resp.Body == http.NoBody {
		return nil, io.EOF
	}
	first := min(resp.ContentLength, int64(f.conf.KeepBody), firstRead)
	if first < 0 {
		first = 511
	}
	buf := make([]byte, 0, first+1) // the one shows the end, or an overflow
	for len(buf) <= f.conf.KeepBody {
		if len(buf) == cap(buf) {
			buf = slices.Grow(buf, len(buf))
		}
		n, err := resp.Body.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err != nil {
			return buf, err
		}
	}
	return buf, nil
}

// stream passes on what is not kept. rest is what was read of it already, and
// err how that read ended.
func (f *Forwarder) stream(a *Attempt, body io.Reader, w io.Writer, rest []byte, err error) error {
	buf := make([]byte, chunk)
	for {
		if w != nil && len(rest) > 0 {
			if _, werr := w.Write(rest); werr != nil {
				w = nil // the provider is gone; the attempt is not
			}
		}
		if err != nil {
			return err
		}
		if a.Size > f.conf.MaxAnswer {
			return ErrAnswerTooLarge
		}
		var n int
		n, err = body.Read(buf)
		rest = buf[:n]
		a.Size += int64(n)
	}
}
