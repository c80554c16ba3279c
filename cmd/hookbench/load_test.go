// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// asUpstream makes the test binary behave as the upstream process.
const asUpstream = "HOOKONCE_TEST_AS_UPSTREAM"

func TestMain(m *testing.M) {
	if addr := os.Getenv(asUpstream); addr != "" {
		_, _ = io.WriteString(os.Stderr, runUpstream(addr).Error())
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// imitation answers as a sidecar does, from a map.
func imitation(secret string) http.Handler {
	var seen sync.Map
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-Hub-Signature-256") != "sha256="+sign(secret, string(body)) {
			w.Header().Set("Hookonce-Status", "refused")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		status := "first"
		if _, again := seen.LoadOrStore(r.Header.Get("X-GitHub-Delivery"), true); again {
			status = "duplicate"
		}
		w.Header().Set("Hookonce-Status", status)
	})
}

// rigged is a load against an imitation that ends it after some requests, so
// that the test does not depend on the speed of the machine.
func rigged(t *testing.T, secret string, requests int64) (load, context.Context) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	var served atomic.Int64
	app := imitation(secret)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		app.ServeHTTP(w, r)
		if served.Add(1) == requests {
			cancel()
		}
	}))
	t.Cleanup(srv.Close)
	return load{
		addr: srv.Listener.Addr().String(), conns: 4, window: time.Hour,
		scheme: schemes["github"], body: minBody, traffic: traffic{kind: "first", seq: new(atomic.Uint64)},
	}, ctx
}

func TestLoad(t *testing.T) {
	const primed, requests = 8, 100
	for _, c := range []struct {
		kind string
		rate float64
	}{{"first", 0}, {"first", 1e5}, {"duplicate", 0}, {"refused", 0}} {
		l, ctx := rigged(t, schemes["github"].secret, primed+requests)
		known, err := l.prime(primed)
		if err != nil || len(known) != primed {
			t.Fatalf("primed %v, %v", known, err)
		}
		l.traffic.kind, l.traffic.primed, l.rate = c.kind, known, c.rate
		r := l.run(ctx, func() {})
		// Requests under way at the end are answered too.
		if n := len(r.latencies); r.wrong > 0 || n < requests || n > requests+l.conns {
			t.Errorf("%s, rate %v: %d right, %d wrong (%s)", c.kind, c.rate, n, r.wrong, r.firstWrong)
		}
	}
}

// TestLoadCountsWrongAnswers: a refusal is wrong for a first delivery, and so
// is no answer at all.
func TestLoadCountsWrongAnswers(t *testing.T) {
	l, ctx := rigged(t, "another secret", 10)
	r := l.run(ctx, func() {})
	if len(r.latencies) != 0 || r.wrong < 10 || r.firstWrong != `status 401, Hookonce-Status "refused"` {
		t.Errorf("%+v", r)
	}
	if _, err := l.prime(1); err == nil {
		t.Error("primed with a refused delivery")
	}
	free, err := freeAddrs(1)
	if err != nil {
		t.Fatal(err)
	}
	l.addr = free[0]
	if _, err := l.prime(1); err == nil {
		t.Error("primed a closed port")
	}
}

// TestWindow: answers count inside the window alone, those of an open loop by
// their planned start, with their whole delay.
func TestWindow(t *testing.T) {
	zero := time.Unix(0, 0)
	at := func(s int) time.Time { return zero.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		rate       float64
		begin, end int
		counts     bool
	}{
		{0, 5, 9, false}, {0, 5, 11, true}, {0, 15, 20, true}, {0, 15, 21, false},
		{1, 9, 11, false}, {1, 11, 12, true}, {1, 19, 25, true}, {1, 21, 22, false},
	} {
		w := worker{load: load{rate: c.rate, traffic: traffic{kind: "plain"}}, from: at(10), until: at(20), out: &loadResult{}}
		w.note(at(c.begin), at(c.end), reply{status: 200}, nil)
		if got := len(w.out.latencies) == 1; got != c.counts || w.out.wrong > 0 {
			t.Errorf("%+v: counted %v", c, got)
		}
		if c.counts && w.out.latencies[0] != at(c.end).Sub(at(c.begin)) {
			t.Errorf("%+v: latency %v", c, w.out.latencies[0])
		}
	}
}

func TestProcess(t *testing.T) {
	addrs, err := freeAddrs(1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := startProcess("upstream", filepath.Join(t.TempDir(), "log"), []string{asUpstream + "=" + addrs[0]}, os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	if err := p.ready(t.Context(), addrs[0]); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post("http://"+addrs[0], "text/plain", strings.NewReader("x"))
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("upstream: %v, %v", resp, err)
	}
	resp.Body.Close()
	if _, err := p.cpu(); err != nil {
		t.Error(err)
	}
	if m, err := p.memory(); err != nil || m.Resident < m.Anonymous || m.Anonymous == 0 {
		t.Errorf("memory %+v, %v", m, err)
	}
	p.stop()
	if _, err := p.cpu(); err == nil {
		t.Error("cpu of an ended process")
	}
}

// TestProcessThatFails: the reason is in the error.
func TestProcessThatFails(t *testing.T) {
	p, err := startProcess("upstream", filepath.Join(t.TempDir(), "log"), []string{asUpstream + "=256.0.0.1:1"}, os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer p.stop()
	free, err := freeAddrs(1)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.ready(t.Context(), free[0]); err == nil || !strings.Contains(err.Error(), "256.0.0.1") {
		t.Errorf("got %v", err)
	}
	if _, err := startProcess("x", filepath.Join(t.TempDir(), "log"), nil, "/does/not/exist"); err == nil {
		t.Error("started nothing")
	}
}

func TestFlushTimes(t *testing.T) {
	dir := t.TempDir()
	times, err := flushTimes(dir, time.Millisecond)
	if err != nil || len(times) == 0 || times[0] <= 0 {
		t.Errorf("got %v, %v", times, err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left %v behind", left)
	}
	if _, err := flushTimes(filepath.Join(dir, "missing"), 0); err == nil {
		t.Error("flushed into a missing directory")
	}
}
