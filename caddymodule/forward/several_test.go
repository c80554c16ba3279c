// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"errors"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// TestSeveral_L12 has a dead first address: the second one gets the same bytes.
func TestSeveral_L12(t *testing.T) {
	var gotHead, gotBody string
	second := startApp(t, "tcp", func(p *peer) {
		gotHead, gotBody = p.request()
		p.say(okEmpty)
	})
	f := newForwarder(t, Config{Addresses: []string{closedPort(t), second.address}})
	r := post(2048)
	got := f.Do(t.Context(), r)
	if got.Status != 200 || got.Err != nil || got.Address != second.address {
		t.Fatalf("status %d from %s, %v", got.Status, got.Address, got.Err)
	}
	if out := delivery.Classify(got.Evidence, delivery.Contract{}); out.Class != delivery.Done {
		t.Errorf("class %v, want done", out.Class)
	}
	if gotBody != string(r.Body) || !strings.HasPrefix(gotHead, "POST /hook HTTP/1.1\r\n") {
		t.Errorf("second address got %q and %d bytes", gotHead, len(gotBody))
	}
}

// TestSeveral_L13 has a first address that reads all and resets: nobody may
// send it again.
func TestSeveral_L13(t *testing.T) {
	first := startApp(t, "tcp", func(p *peer) {
		p.request()
		p.reset()
	})
	second := startApp(t, "tcp", answer(okEmpty))
	f := newForwarder(t, Config{Addresses: []string{first.address, second.address}})
	got := f.Do(t.Context(), post(2048))
	wantUnknown(t, got, delivery.ReasonNoAnswer)
	if n := second.accepted.Load(); n != 0 {
		t.Errorf("the second address got %d connections, want 0", n)
	}
}

// TestSeveral_refused keeps an answer that says no: it is the app's answer.
func TestSeveral_refused(t *testing.T) {
	first := startApp(t, "tcp", head(503, ""))
	second := startApp(t, "tcp", answer(okEmpty))
	f := newForwarder(t, Config{Addresses: []string{first.address, second.address}})
	if got := f.Do(t.Context(), post(1)); got.Status != 503 {
		t.Errorf("status %d, want 503", got.Status)
	}
	if n := second.accepted.Load(); n != 0 {
		t.Errorf("the second address got %d connections, want 0", n)
	}
}

// TestSeveral_none names every address that failed.
func TestSeveral_none(t *testing.T) {
	a, b := closedPort(t), "unix/"+t.TempDir()+"/none"
	got := newForwarder(t, Config{Addresses: []string{a, b}}).Do(t.Context(), post(1))
	wantUnsent(t, got)
	if text := got.Err.Error(); !strings.Contains(text, a) || !strings.Contains(text, b) {
		t.Errorf("error %q: want both addresses named", text)
	}
	if got.Address != b {
		t.Errorf("address %q, want the last one", got.Address)
	}
	if errors.Is(got.Err, ErrShutdown) {
		t.Error("this is no shutdown")
	}
}
