// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// inDir is the Caddyfile of a sidecar with its store in another directory.
func (s *Sidecar) inDir(sites, dir string) string {
	return strings.ReplaceAll(s.Caddyfile(sites), s.Dir+"/store", dir)
}

// refuses starts a process that must end by itself, with an error that has these
// words.
func (s *Sidecar) refuses(t *testing.T, words ...string) {
	t.Helper()
	mark := s.Logs.Len()
	s.launch(t)
	s.await(t)
	text := strings.Join(s.Logs.lines[mark:], "\n") // the process has ended
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("the error does not say %q", word)
		}
	}
	if code := s.cmd.ProcessState.ExitCode(); code <= 0 || code == 2 || strings.Contains(text, "goroutine ") || t.Failed() {
		t.Errorf("it ended with %d:\n%s", code, text)
	}
}

// A request in flight survives that its store goes away by a reload and comes
// back by the next one: its attempt is known all the time.
func TestStoreAwayAndBack(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	sites := Site(Route("/github", "github", "inflight_wait 50ms", "upstream "+app.Addr()))
	s := Start(t, sites, Options{})
	there, elsewhere := s.Caddyfile(sites), s.inDir(sites, s.Dir+"/elsewhere")
	app.Script(oracle.Behaviour{Hold: true, Status: 201, Body: "late"})
	d := Delivery{Provider: "github", Body: `{"held":"here"}`}
	first := s.Go(t, d)
	app.Wait(t, d.Body, 1)
	for range 3 {
		if err := s.Load(t, elsewhere); err != nil {
			t.Fatal(err)
		}
		if err := s.Load(t, there); err != nil {
			t.Fatal(err)
		}
		s.insist(t, d).Is(t, "a repeat during the attempt", 503, "in-progress")
	}
	if err := s.Reload(t, strings.ReplaceAll(sites, "50ms", "10s")); err != nil {
		t.Fatal(err)
	}
	joined := s.Go(t, d)
	app.Release()
	first.Answer(t).Is(t, "the first", 201, "first")
	if a := joined.Answer(t); !(a.Status == 201 && a.Word == "in-progress" && a.Body == "late") && !(a.Status == 200 && a.Word == "duplicate") {
		t.Errorf("a repeat that waited: %v", a)
	}
	s.insist(t, d).Is(t, "afterwards", 200, "duplicate")
	if n := len(app.Arrivals(d.Body)); n != 1 {
		t.Errorf("%d requests at the app, want 1", n)
	}
}

// A directory belongs to one process. It is free again when a reload has left it
// and nothing runs in it any more.
func TestSecondProcess(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	sites := Site(Route("/github", "github", "upstream "+app.Addr()))
	s := Start(t, sites, Options{})
	d := Delivery{Provider: "github", Body: `{"one":"process"}`}
	s.insist(t, d).Is(t, "first", 200, "first")

	other := Prepare(t, sites, Options{})
	other.writeWhole(t, other.inDir(sites, s.Dir+"/store"))
	other.refuses(t, "in use by another process", s.Dir+"/store")
	s.insist(t, d).Is(t, "beside it", 200, "duplicate")

	held := Delivery{Provider: "github", Body: `{"held":"during the move"}`}
	pending := running(t, s, app, held)
	if err := s.Load(t, s.inDir(sites, s.Dir+"/elsewhere")); err != nil {
		t.Fatal(err)
	}
	other.refuses(t, "in use by another process")
	app.Release()
	pending.Answer(t).Is(t, "held", 200, "first")
	other.Restart(t)
	other.Deliver(t, d).Is(t, "in the other process", 200, "duplicate")
	other.Deliver(t, held).Is(t, "in the other process", 200, "duplicate")
	s.insist(t, d).Is(t, "in the new directory", 200, "first")
}

// Validation works beside a running server, and makes nothing.
func TestValidateBesideServer(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	sites := Site(Route("/github", "github", "upstream "+app.Addr()))
	s := Start(t, sites, Options{})
	d := Delivery{Provider: "github", Body: `{"valid":"yes"}`}
	s.Deliver(t, d).Is(t, "first", 200, "first")
	before := tree(t, s.Dir+"/store")
	for range 3 {
		if r := Run(t, nil, "validate", "--adapter", "caddyfile", "--config", s.file()); r.Code != 0 {
			t.Fatalf("validate ended with %d:\n%s", r.Code, r.Output)
		}
		s.Deliver(t, d).Is(t, "beside it", 200, "duplicate")
	}
	if after := tree(t, s.Dir+"/store"); !slices.Equal(before, after) {
		t.Errorf("validate changed the store:\n%v\n%v", before, after)
	}
	s.writeWhole(t, s.inDir(sites, s.Dir+"/never"))
	if r := Run(t, nil, "validate", "--adapter", "caddyfile", "--config", s.file()); r.Code != 0 {
		t.Errorf("validate ended with %d:\n%s", r.Code, r.Output)
	}
	if _, err := os.Stat(s.Dir + "/never"); !os.IsNotExist(err) {
		t.Errorf("validate made the directory of the store: %v", err)
	}
}

// tree names all files of a directory.
func tree(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		// The running server itself makes and drops spare segments when it likes.
		if entry == nil || filepath.Base(filepath.Dir(path)) != "kept" {
			names = append(names, path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// Two sites share the store of a process and keep their deliveries apart by the
// names of their routes; of one name they are one route.
func TestTwoSites(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	one, two := freeAddr(t), freeAddr(t)
	site := func(addr, path string, lines ...string) string {
		return "http://" + addr + " {\n" + Route(path, "github", append(lines, "upstream "+app.Addr())...) + "\n}\n"
	}
	at := func(addr, path string) Delivery {
		return Delivery{Provider: "github", Path: path, Body: `{"two":"sites"}`, Change: func(r *http.Request) { r.URL.Host, r.Host = addr, addr }}
	}
	s := Start(t, site(one, "/github", "name shop")+site(two, "/github", "name crm"), Options{})
	for _, word := range []string{"first", "duplicate"} {
		s.insist(t, at(one, "/github")).Is(t, "shop", 200, word)
		s.insist(t, at(two, "/github")).Is(t, "crm", 200, word)
	}
	if n := len(app.Arrivals(`{"two":"sites"}`)); n != 2 {
		t.Errorf("%d requests at the app, want 2", n)
	}
	if err := s.Reload(t, site(one, "/github", "name shop", "duplicate 299")+site(two, "/github", "name shop")); err == nil ||
		!strings.Contains(err.Error(), `have the name \"shop\"`) {
		t.Errorf("two different routes of one name: %v", err)
	}
	if err := s.Reload(t, site(one, "/github", "name shop")+site(two, "/github", "name shop")); err != nil {
		t.Fatal(err)
	}
	s.insist(t, at(two, "/github")).Is(t, "one route in two sites", 200, "duplicate")
}

// insist delivers until there is an answer, on a connection of its own each time:
// a server that ends resets connections that it had not taken yet.
func (s *Sidecar) insist(t *testing.T, d Delivery) Answer {
	t.Helper()
	change := d.Change
	d.Change = func(r *http.Request) {
		r.Close = true
		if change != nil {
			change(r)
		}
	}
	var failed error
	for range 5 {
		a, err := s.Send(d.Request(t, "http://"+s.Site))
		if err == nil {
			return a
		}
		failed = err
	}
	t.Fatalf("no answer in five tries: %v", failed)
	return Answer{}
}
