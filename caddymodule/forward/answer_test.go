// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// sink takes what is not kept, and may fail like a provider that hung up.
type sink struct {
	bytes.Buffer
	first *Attempt
	kept  int // bytes in hand when it was asked
	asked int
	fail  error
}

func (s *sink) overflow(a *Attempt) io.Writer {
	s.asked++
	s.first, s.kept = a, len(a.Body)
	return s
}

func (s *sink) Write(p []byte) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	return s.Buffer.Write(p)
}

// pattern is n bytes that show when a piece is missing or out of place.
func pattern(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('a' + i%23)
	}
	return string(b)
}

func TestAnswer_sizes(t *testing.T) {
	const keep = 1000
	for _, framing := range []string{"length", "chunked", "close"} {
		for _, n := range []int{0, 1, 510, 511, 512, 999, 1000, 1001, 2000, 100_000} {
			t.Run(fmt.Sprint(framing, "/", n), func(t *testing.T) {
				want := pattern(n)
				a := startApp(t, "tcp", answer(framed(framing, want)))
				a.conf.KeepBody = keep
				var s sink
				r := post(1)
				r.Overflow = s.overflow
				got := newForwarder(t, a.conf).Do(t.Context(), r)
				if got.Status != 200 || !got.Evidence.Complete || got.Size != int64(n) {
					t.Fatalf("status %d, complete %v, %d bytes, %v", got.Status, got.Evidence.Complete, got.Size, got.Err)
				}
				if got.Overflowed != (n > keep) || len(got.Body) != min(n, keep) {
					t.Errorf("overflowed %v with %d bytes kept", got.Overflowed, len(got.Body))
				}
				if string(got.Body)+s.String() != want {
					t.Error("the kept and the passed bytes are not the answer")
				}
				if got.Overflowed && (s.asked != 1 || s.first != got || s.kept != keep) {
					t.Errorf("sink asked %d times with %d bytes", s.asked, s.kept)
				}
			})
		}
	}
}

func framed(framing, body string) string {
	switch framing {
	case "length":
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	case "chunked":
		var b strings.Builder
		b.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for len(body) > 0 {
			n := min(len(body), 700)
			fmt.Fprintf(&b, "%x\r\n%s\r\n", n, body[:n])
			body = body[n:]
		}
		return b.String() + "0\r\n\r\n"
	default:
		return "HTTP/1.0 200 OK\r\n\r\n" + body
	}
}

// TestAnswer_sinkFails: a provider that hangs up does not end the attempt.
func TestAnswer_sinkFails(t *testing.T) {
	a := startApp(t, "tcp", answer(framed("length", pattern(100_000))))
	a.conf.KeepBody = 10
	s := sink{fail: errors.New("gone")}
	r := post(1)
	r.Overflow = s.overflow
	got := newForwarder(t, a.conf).Do(t.Context(), r)
	if !got.Evidence.Complete || got.Size != 100_000 {
		t.Errorf("complete %v after %d bytes, %v", got.Evidence.Complete, got.Size, got.Err)
	}
}

// TestAnswer_endless ends an answer that never does. A success that was not
// read to its end is no success.
func TestAnswer_endless(t *testing.T) {
	for _, status := range []string{"200 OK", "500 Error"} {
		a := startApp(t, "tcp", func(p *peer) {
			p.request()
			p.say("HTTP/1.1 " + status + "\r\nTransfer-Encoding: chunked\r\n\r\n")
			for {
				if _, err := fmt.Fprintf(p, "%x\r\n%s\r\n", 4096, pattern(4096)); err != nil {
					return
				}
			}
		})
		a.conf.KeepBody, a.conf.MaxAnswer = 1<<10, 1<<20
		got := newForwarder(t, a.conf).Do(t.Context(), post(1))
		if !errors.Is(got.Err, ErrAnswerTooLarge) || got.Evidence.Complete || len(got.Body) != 1<<10 {
			t.Errorf("%s: complete %v, %d bytes kept, %v", status, got.Evidence.Complete, len(got.Body), got.Err)
		}
		want := map[string]delivery.Class{"200 OK": delivery.Unknown, "500 Error": delivery.NotDoneRetry}[status]
		if out := delivery.Classify(got.Evidence, delivery.Contract{}); out.Class != want {
			t.Errorf("%s: class %v, want %v", status, out.Class, want)
		}
	}
}

// TestAnswer_claimedLength sets nothing aside for a length that is only claimed.
func TestAnswer_claimedLength(t *testing.T) {
	a := startApp(t, "tcp", answer("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nok"))
	got := newForwarder(t, a.conf).Do(t.Context(), post(1))
	if got.Status != 200 || got.Evidence.Complete || string(got.Body) != "ok" || cap(got.Body) > firstRead+1 {
		t.Errorf("status %d, complete %v, body %q of %d", got.Status, got.Evidence.Complete, got.Body, cap(got.Body))
	}
}

func TestAnswer_header(t *testing.T) {
	for _, c := range []struct {
		name   string
		lines  int
		status int
	}{{"many", 500, 200}, {"too-many", 50_000, 0}} {
		t.Run(c.name, func(t *testing.T) {
			extra := strings.Repeat("X-Filler: 0123456789012345678901234567890\r\n", c.lines)
			a := startApp(t, "tcp", head(200, extra))
			got := newForwarder(t, a.conf).Do(t.Context(), post(1))
			if got.Status != c.status || len(got.Header["X-Filler"]) != c.lines && c.status != 0 {
				t.Errorf("status %d with %d lines, %v", got.Status, len(got.Header["X-Filler"]), got.Err)
			}
			if c.status == 0 {
				wantUnknown(t, got, delivery.ReasonNoAnswer)
			}
		})
	}
}

// TestAnswer_relayed keeps what belongs to the answer, drops what belongs to
// the connection, and decodes nothing.
func TestAnswer_relayed(t *testing.T) {
	a := startApp(t, "tcp", answer("HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Private\r\nX-Private: 1\r\nKeep-Alive: timeout=5\r\n"+
		"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Encoding: gzip\r\nServer: app\r\nTrailer: X-Sum\r\n"+
		"Transfer-Encoding: chunked\r\n\r\n4\r\n\x1f\x8b\x08\x00\r\n0\r\nX-Sum: 42\r\n\r\n"))
	got := newForwarder(t, a.conf).Do(t.Context(), post(1))
	if string(got.Body) != "\x1f\x8b\x08\x00" || got.Trailer.Get("X-Sum") != "42" || got.Proto != "HTTP/1.1" {
		t.Errorf("body %q, trailer %v, %s, %v", got.Body, got.Trailer, got.Proto, got.Err)
	}
	for name, n := range map[string]int{"Connection": 0, "X-Private": 0, "Keep-Alive": 0, "Trailer": 0, "Set-Cookie": 2, "Content-Encoding": 1, "Server": 1} {
		if len(got.Header[name]) != n {
			t.Errorf("%s: %q, want %d values", name, got.Header[name], n)
		}
	}
}
