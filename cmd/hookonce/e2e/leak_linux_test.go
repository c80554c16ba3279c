// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// Fifty reloads leave no goroutine and no descriptor behind, whatever way to the
// app a route has, and whether the store stays or moves.
func TestReloadLeaksNothing(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	var routes []string
	for _, w := range ways {
		// The reverse_proxy of an old configuration keeps its idle connections for
		// two minutes, with or without us.
		to := app.Addr()
		if w.name != "upstream" {
			to += " {\n\ttransport http {\n\t\tkeepalive off\n\t}\n}"
		}
		routes = append(routes, w.route("/"+w.name, "github", to))
	}
	a, b := Site(routes...), Site(append(routes, "respond /other other")...)
	s := Start(t, a, Options{Level: "INFO"})
	n := 0
	deliver := func() {
		t.Helper()
		n++
		for _, w := range ways {
			d := Delivery{Provider: "github", Path: "/" + w.name, Body: fmt.Sprintf(`{"n":%d}`, n)}
			s.insist(t, d).Is(t, "first", 200, "first")
		}
	}
	reload := func(times int) {
		t.Helper()
		for i := range times {
			deliver()
			caddyfile := s.Caddyfile([]string{a, b}[i%2])
			if i%5 == 1 {
				caddyfile = s.inDir(a, s.Dir+"/elsewhere")
			}
			if err := s.Load(t, caddyfile); err != nil {
				t.Fatal(err)
			}
			deliver()
		}
	}
	reload(6)
	before := s.usage(t, usage{})
	reload(50)
	// A few that come and go: idle connections, timers of the runtime.
	after := s.usage(t, usage{before.goroutines + 6, before.files + 6})
	t.Logf("before %+v, after 50 reloads %+v", before, after)
	if after.goroutines > before.goroutines+6 || after.files > before.files+6 {
		_, dump := s.Call(t, http.MethodGet, "/debug/pprof/goroutine?debug=1", "")
		t.Errorf("50 reloads left something behind:\n%s", dump)
	}
}

// usage is what a process holds.
type usage struct{ goroutines, files int }

// usage counts until the figures are at most as wanted, or for some seconds:
// what the configuration before has held ends a little later. Without a wish it
// returns the least that it saw.
func (s *Sidecar) usage(t *testing.T, want usage) usage {
	t.Helper()
	late := time.After(6 * time.Second)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	least := usage{1 << 30, 1 << 30}
	for {
		s.client.CloseIdleConnections()
		_, dump := s.Call(t, http.MethodGet, "/debug/pprof/goroutine?debug=1", "")
		var now usage
		if _, err := fmt.Sscanf(string(dump), "goroutine profile: total %d", &now.goroutines); err != nil {
			t.Fatalf("%v: %.200s", err, dump)
		}
		files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		now.files = len(files)
		least = usage{min(least.goroutines, now.goroutines), min(least.files, now.files)}
		if least.goroutines <= want.goroutines && least.files <= want.files {
			return least
		}
		select {
		case <-late:
			return least
		case <-tick.C:
		}
	}
}
