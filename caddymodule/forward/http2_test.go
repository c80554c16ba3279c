// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"errors"
	"net/http"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// outcome2 is one row of the outcome table over HTTP/2. A script returns whether
// the connection goes on.
type outcome2 struct {
	row, name string
	script    func(*stream) bool
	empty     bool // the request has no body

	class  delivery.Class
	reason delivery.Reason
	status int
}

var outcomes2 = []outcome2{
	{row: "O1", name: "empty", class: delivery.Done, reason: delivery.ReasonDone, status: 200, script: func(s *stream) bool {
		s.head(status200, true)
		return true
	}},
	{row: "O1", name: "body", class: delivery.Done, reason: delivery.ReasonDone, status: 200, script: func(s *stream) bool {
		s.head(status200, false)
		s.data("ok", true)
		return true
	}},
	{row: "O3", name: "reset", class: delivery.Unknown, reason: delivery.ReasonTruncated, status: 200, script: func(s *stream) bool {
		s.head(status200, false)
		s.data("ok", false)
		s.resetStream(codeInternal)
		return true
	}},
	{row: "O3", name: "closed", class: delivery.Unknown, reason: delivery.ReasonTruncated, status: 200, script: func(s *stream) bool {
		s.head(status200, false)
		return false
	}},
	{row: "O5", name: "404", class: delivery.NotDoneFinal, reason: delivery.ReasonRefused, status: 404, script: func(s *stream) bool {
		s.head(status404, true)
		return true
	}},
	{row: "O9", name: "500", class: delivery.NotDoneRetry, reason: delivery.ReasonUpstreamFail, status: 500, script: func(s *stream) bool {
		s.head(status500, true)
		return true
	}},
	{row: "O18", name: "closed", class: delivery.Unknown, reason: delivery.ReasonNoAnswer, script: func(*stream) bool { return false }},
	{row: "O18", name: "internal-error", class: delivery.Unknown, reason: delivery.ReasonNoAnswer, script: resets(codeInternal)},
	{row: "O18", name: "protocol-error", class: delivery.Unknown, reason: delivery.ReasonNoAnswer, script: resets(codeProtocol)},
	{row: "O18", name: "protocol-error-empty", empty: true, class: delivery.Unknown, reason: delivery.ReasonNoAnswer, script: resets(codeProtocol)},
	{row: "O18", name: "cancel", class: delivery.Unknown, reason: delivery.ReasonNoAnswer, script: resets(codeCancel)},
	{row: "O18", name: "goaway-at-ours", class: delivery.Unknown, reason: delivery.ReasonNoAnswer, script: func(s *stream) bool {
		s.goAway(s.id, codeNo)
		return false
	}},
	{row: "O19", name: "silent", class: delivery.Unknown, reason: delivery.ReasonTimeout, script: func(s *stream) bool {
		s.app.deadline.pass()
		return true
	}},
	{row: "O23", name: "refused", class: delivery.NotDoneRetry, reason: delivery.ReasonNotDelivered, script: resets(codeRefused)},
	{row: "O23", name: "refused-empty", empty: true, class: delivery.NotDoneRetry, reason: delivery.ReasonNotDelivered, script: resets(codeRefused)},
	{row: "O23", name: "goaway-below", class: delivery.NotDoneRetry, reason: delivery.ReasonNotDelivered, script: func(s *stream) bool {
		s.goAway(s.id-1, codeNo)
		return true
	}},
	{row: "O23", name: "goaway-below-then-close", class: delivery.NotDoneRetry, reason: delivery.ReasonNotDelivered, script: func(s *stream) bool {
		s.goAway(s.id-1, codeNo)
		return false
	}},
	{row: "O23", name: "goaway-error-below", class: delivery.NotDoneRetry, reason: delivery.ReasonNotDelivered, script: func(s *stream) bool {
		s.goAway(s.id-1, codeInternal)
		return true
	}},
}

func resets(code byte) func(*stream) bool {
	return func(s *stream) bool {
		s.resetStream(code)
		return true
	}
}

func TestOutcome2(t *testing.T) {
	for i := range outcomes2 {
		o := &outcomes2[i]
		for _, kind := range []string{"h2c", "unix+h2c", "h2"} {
			for _, use := range []string{"fresh", "reused"} {
				t.Run(o.row+"/"+o.name+"/"+kind+"/"+use, func(t *testing.T) {
					t.Parallel()
					o.run(t, kind, use == "reused")
				})
			}
		}
	}
}

func (o *outcome2) run(t *testing.T, kind string, reused bool) {
	a := startApp2(t, kind, func(s *stream) bool {
		if reused && s.id == 1 {
			s.head(status200, true)
			return true
		}
		return o.script(s)
	})
	f := newForwarder(t, a.conf)
	effects := int32(1)
	if reused {
		effects++
		if w := f.Do(t.Context(), post(10)); w.Status != 200 || w.Proto != "HTTP/2.0" {
			t.Fatalf("warm-up: status %d, %s, %v", w.Status, w.Proto, w.Err)
		}
	}
	r := post(100)
	if o.empty {
		r.Body = nil
	}
	r.Header = http.Header{"Idempotency-Key": {"a"}}
	got := f.Do(a.deadline, r)
	out := delivery.Classify(got.Evidence, delivery.Contract{})
	if out.Class != o.class || out.Reason != o.reason || got.Status != o.status {
		t.Errorf("class %v (%s), status %d, want %v (%s), %d; evidence %+v, error %v",
			out.Class, out.Reason, got.Status, o.class, o.reason, o.status, got.Evidence, got.Err)
	}
	if n := a.effects.Load(); n != effects || a.accepted.Load() != 1 {
		t.Errorf("%d effects on %d connections, want %d on 1: nothing is sent twice", n, a.accepted.Load(), effects)
	}
	if got.Evidence.CountsBytes {
		t.Error("bytes of a shared connection say nothing about one request")
	}
}

// TestUnprocessed shows that only the transport's own words count, and that an
// app cannot put them into its mouth.
func TestUnprocessed(t *testing.T) {
	for text, want := range map[string]bool{
		"stream error: stream ID 3; REFUSED_STREAM; received from peer":                             true,
		wrappedBegin + "stream error: stream ID 3; REFUSED_STREAM; received from peer" + wrappedEnd: true,
		wrappedBegin + goAwayGraceful + wrappedEnd:                                                  true,
		goAwayFirst + "INTERNAL_ERROR":                                                              true,
		wrappedBegin + "stream error: stream ID 3; PROTOCOL_ERROR; received from peer" + wrappedEnd: false,
		wrappedBegin + goAwayGraceful:                                                               false,
		"stream error: stream ID 3; REFUSED_STREAM":                                                 false,
		`http2: server sent GOAWAY and closed the connection; LastStreamID=1, ErrCode=NO_ERROR, debug="; REFUSED_STREAM; received from peer"`: false,
		"EOF": false,
	} {
		if got := Unprocessed(errors.New(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	if Unprocessed(nil) {
		t.Error("no error proves nothing")
	}
}

// TestHTTP2WhereOffered picks the version that the app offers.
func TestHTTP2WhereOffered(t *testing.T) {
	one := startApp(t, "tls", answer(okEmpty))
	two := startApp2(t, "h2", func(s *stream) bool {
		s.head(status200, true)
		return true
	})
	for address, proto := range map[string]string{one.address: "HTTP/1.1", two.address: "HTTP/2.0"} {
		got := newForwarder(t, Config{Addresses: []string{address}, TLS: trusting()}).Do(t.Context(), post(1))
		if got.Status != 200 || got.Proto != proto {
			t.Errorf("status %d, %s, %v; want 200, %s", got.Status, got.Proto, got.Err, proto)
		}
		if counted := proto == "HTTP/1.1"; got.Evidence.CountsBytes != counted {
			t.Errorf("%s: counts bytes %v, want %v", proto, got.Evidence.CountsBytes, counted)
		}
	}
}
