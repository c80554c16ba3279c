// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// TestSeveral_L12 has a dead first address: the second one gets the same bytes.
func TestSeveral_L12(t *testing.T) {
	second := startApp(t, "tcp", answer(okEmpty))
	f := newForwarder(t, Config{Addresses: []string{closedPort(t), second.address}})
	r := post(2048)
	got := f.Do(t.Context(), r)
	if got.Status != 200 || got.Err != nil || got.Address != second.address {
		t.Fatalf("status %d from %s, %v", got.Status, got.Address, got.Err)
	}
	if out := delivery.Classify(got.Evidence, delivery.Contract{}); out.Class != delivery.Done {
		t.Errorf("class %v, want done", out.Class)
	}
	seen := <-second.requests
	if seen[1] != string(r.Body) || !strings.HasPrefix(seen[0], "POST /hook HTTP/1.1\r\n") {
		t.Errorf("second address got %q and %d bytes", seen[0], len(seen[1]))
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

// TestSeveral_down tries an address that could not be reached last for a
// while, and then first again.
func TestSeveral_down(t *testing.T) {
	now := time.Date(2026, 8, 22, 10, 0, 0, 0, time.UTC)
	first, second := closedPort(t), startApp(t, "tcp", func(p *peer) {
		for {
			if head, _ := p.request(); head == "" {
				return
			}
			p.say(okEmpty)
		}
	})
	f := newForwarder(t, Config{Addresses: []string{first, second.address}, Now: func() time.Time { return now }})
	dials := 0
	f.targets[0].dialer.Control = func(string, string, syscall.RawConn) error {
		dials++
		return nil
	}
	for i, c := range []struct {
		later time.Duration
		want  int
	}{{0, 1}, {0, 1}, {downFor - 1, 1}, {1, 2}, {0, 2}} {
		now = now.Add(c.later)
		if got := f.Do(t.Context(), post(1)); got.Status != 200 || got.Address != second.address {
			t.Fatal(got.Err)
		}
		if dials != c.want {
			t.Errorf("call %d: the dead address was dialled %d times, want %d", i, dials, c.want)
		}
	}
}

// TestSeveral_allDown still tries all of them.
func TestSeveral_allDown(t *testing.T) {
	f := newForwarder(t, Config{Addresses: []string{closedPort(t), closedPort(t)}})
	for range 2 {
		got := f.Do(t.Context(), post(1))
		wantUnsent(t, got)
		if n := strings.Count(got.Err.Error(), "connection refused"); n != 2 {
			t.Errorf("%d addresses tried, want 2: %v", n, got.Err)
		}
	}
}
