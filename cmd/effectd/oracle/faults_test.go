// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// Expectations of what a client of net/http sees.
var (
	isEOF      = func(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
	isReset    = func(err error) bool { return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) }
	isAnyError = func(err error) bool { return err != nil }
	// A FIN that is there before the request has been written has a text of
	// its own in net/http, and no error value to compare with.
	isFIN = func(err error) bool {
		return isEOF(err) || err != nil && strings.Contains(err.Error(), "server closed idle connection")
	}
)

// faults is the table of behaviours that a client must see exactly.
var faults = []struct {
	name    string
	effects int
	status  int              // 0: no complete head
	err     func(error) bool // instead of a head
	bodyErr func(error) bool // after the head
}{
	{"ok", 1, 200, nil, nil},
	{"interim", 1, 200, nil, nil},
	{"http10", 1, 200, nil, nil},
	{"chunked", 1, 200, nil, nil},
	{"close-after", 1, 200, nil, nil},
	{"close-accept", 0, 0, isFIN, nil},
	{"reset-accept", 0, 0, isAnyError, nil},
	{"close", 1, 0, isEOF, nil},
	{"reset", 1, 0, isReset, nil},
	{"close-body", 0, 0, isEOF, nil},
	{"reset-body", 0, 0, isReset, nil},
	{"cut-status", 1, 0, isAnyError, nil},
	{"cut-head", 1, 0, isAnyError, nil},
	{"interim-close", 1, 0, isEOF, nil},
	{"cut-length", 1, 200, nil, isEOF},
	{"cut-chunked", 1, 200, nil, isEOF},
	{"cut-reset", 1, 200, nil, isReset},
	{"redirect", 0, 302, nil, nil},
	{"400", 0, 400, nil, nil},
	{"401", 0, 401, nil, nil},
	{"gone", 0, 410, nil, nil},
	{"busy", 0, 429, nil, nil},
	{"unavailable", 0, 503, nil, nil},
	{"500", 0, 500, nil, nil},
	{"done-500", 1, 500, nil, nil},
	{"502", 0, 502, nil, nil},
	{"504", 1, 504, nil, nil},
	{"524", 1, 524, nil, nil},
	{"204", 1, 204, nil, nil},
}

func TestFaults(t *testing.T) {
	for how, cfg := range map[string]Config{
		"tcp": {}, "tls": {TLS: TLSGood}, "unix": {Addr: unixPrefix + filepath.Join(t.TempDir(), "s")},
	} {
		for _, f := range faults {
			t.Run(how+"/"+f.name, func(t *testing.T) {
				r := newRig(t, cfg)
				r.Script(MustNamed(f.name))
				a := r.post(t.Context(), "/", strings.NewReader(strings.Repeat("x", 2048)))
				if how == "unix" && strings.Contains(f.name, "reset") {
					// A unix socket has no RST; see reset.
					f.err, f.bodyErr = orEOF(f.err), orEOF(f.bodyErr)
				}
				if f.err == nil && a.err != nil || f.err != nil && !f.err(a.err) || a.status != f.status {
					t.Errorf("got %d, %v", a.status, a.err)
				}
				if f.bodyErr == nil && a.bodyErr != nil || f.bodyErr != nil && !f.bodyErr(a.bodyErr) {
					t.Errorf("body ended with %v", a.bodyErr)
				}
				if got := r.effects(t, f.effects); f.effects == 1 && (got[0].Bytes != 2048 || !got[0].Complete) {
					t.Errorf("effect %+v", got[0])
				}
				r.arrival(t)
			})
		}
	}
}

func orEOF(is func(error) bool) func(error) bool {
	if is == nil {
		return nil
	}
	return func(err error) bool { return is(err) || isEOF(err) }
}

// TestEarlyAnswer answers while a body that no buffer takes is being sent.
func TestEarlyAnswer(t *testing.T) {
	r := newRig(t, Config{})
	a := r.post(t.Context(), "/do/early-413", bytes.NewReader(make([]byte, 8<<20)))
	if a.status != 413 || a.err != nil {
		t.Errorf("got %d, %v", a.status, a.err)
	}
	if e := r.arrival(t); e.Complete || e.Bytes != 0 {
		t.Errorf("read more than the head: %+v", e)
	}
	r.effects(t, 0)
}

// TestResetInBody breaks an 8 MB body after 512 bytes.
func TestResetInBody(t *testing.T) {
	r := newRig(t, Config{})
	wrote := make(chan error, 1)
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		WroteRequest: func(i httptrace.WroteRequestInfo) { wrote <- i.Err },
	})
	a := r.post(ctx, "/do/reset-body", bytes.NewReader(make([]byte, 8<<20)))
	if a.err == nil { // which one depends on whether the write or the read sees it first
		t.Errorf("got %d", a.status)
	}
	if err := <-wrote; err == nil {
		t.Error("the whole body was written")
	}
	if e := r.arrival(t); e.Bytes != 512 || e.Complete {
		t.Errorf("arrival %+v", e)
	}
}

// TestSilence: both kinds of silence end with the patience of the client.
func TestSilence(t *testing.T) {
	for name, effects := range map[string]int{"silent": 1, "never-read": 0} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{})
			r.Script(MustNamed(name))
			ctx, cancel := context.WithCancel(t.Context())
			answers := make(chan answer)
			go func() { answers <- r.post(ctx, "/", strings.NewReader("x")) }()
			r.arrival(t)
			select {
			case a := <-answers:
				t.Fatalf("ended by itself: %+v", a)
			default:
			}
			cancel()
			if a := <-answers; !errors.Is(a.err, context.Canceled) {
				t.Errorf("got %+v", a)
			}
			r.effects(t, effects)
		})
	}
}

// TestReused breaks a connection only once it is reused.
func TestReused(t *testing.T) {
	for _, f := range []struct {
		name    string
		effects int
		err     func(error) bool
	}{
		{"close-reused", 1, isFIN},
		{"reset-reused", 1, isReset},
		{"done-reused", 2, isEOF},
	} {
		t.Run(f.name, func(t *testing.T) {
			r := newRig(t, Config{})
			r.Script(MustNamed(f.name))
			if a := r.post(t.Context(), "/", strings.NewReader("x")); a.status != 200 {
				t.Fatalf("first request: %+v", a)
			}
			a := r.post(t.Context(), "/", strings.NewReader("x"))
			if !f.err(a.err) {
				t.Errorf("second request: %+v", a)
			}
			r.effects(t, f.effects)
			if s := r.Stats(); s.Connections != 1 || s.ScriptLeft != 0 {
				t.Errorf("stats %+v", s)
			}
		})
	}
}

// TestResend shows the trap that forwarders must avoid: with Idempotency-Key
// and a rewindable body net/http sends a POST again by itself.
func TestResend(t *testing.T) {
	for _, f := range []struct {
		name    string
		header  bool
		rewind  bool
		effects int
	}{
		{"plain", false, true, 2},
		{"key without GetBody", true, false, 2},
		{"key and GetBody", true, true, 3},
	} {
		t.Run(f.name, func(t *testing.T) {
			r := newRig(t, Config{})
			r.Script(MustNamed("done-reused"))
			r.post(t.Context(), "/", strings.NewReader("x"))
			req, err := http.NewRequest(http.MethodPost, r.URL(), strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			if f.header {
				req.Header.Set("Idempotency-Key", "k")
			}
			if !f.rewind {
				req.GetBody = nil
			}
			resp, err := r.client.Do(req)
			if (err == nil) != (f.effects == 3) {
				t.Errorf("error %v", err)
			}
			if err == nil {
				resp.Body.Close()
			}
			r.effects(t, f.effects)
		})
	}
}

func TestUpgrade(t *testing.T) {
	r := newRig(t, Config{})
	req, err := http.NewRequest(http.MethodPost, r.URL()+"/do/upgrade", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 101 || resp.Header.Get("Upgrade") != "effectd" {
		t.Errorf("got %d %v", resp.StatusCode, resp.Header)
	}
	r.effects(t, 1)
}

func TestInterimIsSeen(t *testing.T) {
	r := newRig(t, Config{})
	var seen atomic.Int64
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
		Got1xxResponse: func(code int, _ textproto.MIMEHeader) error { seen.Store(int64(code)); return nil },
	})
	if a := r.post(ctx, "/do/interim", strings.NewReader("x")); a.status != 200 || seen.Load() != 103 {
		t.Errorf("got %d after interim %d", a.status, seen.Load())
	}
}
