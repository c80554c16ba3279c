// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// App is a scripted app behind the sidecar.
type App struct {
	*oracle.Server

	mu       sync.Mutex
	arrivals map[string][]oracle.Effect // by digest of the body
	read     int64                      // arrivals of which something was read
	grown    chan struct{}              // closed and replaced with each arrival
}

// NewApp starts an app that is closed when the test ends. Its ledger is in
// memory unless cfg names a file.
func NewApp(t testing.TB, cfg oracle.Config) *App {
	t.Helper()
	cfg.KeepBodies, cfg.NoSync = true, true
	server, err := oracle.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a := &App{Server: server, arrivals: make(map[string][]oracle.Effect), grown: make(chan struct{})}
	done := make(chan struct{})
	go a.collect(done)
	t.Cleanup(func() {
		close(done)
		if err := server.Close(); err != nil {
			t.Errorf("closing the app: %v", err)
		}
	})
	return a
}

func (a *App) collect(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		case e := <-a.Server.Arrived():
			a.mu.Lock()
			a.arrivals[e.SHA256] = append(a.arrivals[e.SHA256], e)
			if e.Method != "" {
				a.read++
			}
			close(a.grown)
			a.grown = make(chan struct{})
			a.mu.Unlock()
		}
	}
}

func digest(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// Arrivals returns the requests with this body that the app has read so far.
func (a *App) Arrivals(body string) []oracle.Effect {
	late := time.NewTimer(patience)
	defer late.Stop()
	for asked := a.Stats().Requests; ; {
		a.mu.Lock()
		got, read, grown := a.arrivals[digest(body)], a.read, a.grown
		a.mu.Unlock()
		if read >= asked {
			return append([]oracle.Effect(nil), got...)
		}
		select { // the news of a request come a moment after it
		case <-grown:
		case <-late.C:
			panic("the app does not tell of a request that it has read")
		}
	}
}

// Wait waits until n requests with this body have arrived, and returns the last.
// What arrived with a broken or unread body counts under the body that was read.
func (a *App) Wait(t testing.TB, body string, n int) oracle.Effect {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	key := digest(body)
	for {
		a.mu.Lock()
		got, grown := a.arrivals[key], a.grown
		a.mu.Unlock()
		if len(got) >= n {
			return got[n-1]
		}
		select {
		case <-grown:
		case <-late.C:
			t.Fatalf("%d of %d requests arrived at the app", len(got), n)
		}
	}
}

// Effects counts the effects of this body in the ledger.
func (a *App) Effects(t testing.TB, body string) int {
	t.Helper()
	ledger, err := a.Ledger()
	if err != nil {
		t.Fatal(err)
	}
	n, key := 0, digest(body)
	for _, e := range ledger {
		if e.SHA256 == key && e.Complete {
			n++
		}
	}
	return n
}
