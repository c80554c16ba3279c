// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// damage is something that a disk, or a person, does to a store.
type damage struct {
	name string
	file string // a pattern in the directory of the store
	do   func(path string) error
	says string // instead of the command that repairs it
}

func flipBytes(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	end := len(bytes.TrimRight(data, "\x00"))
	for i := end / 3; i < min(end/3+8, end); i++ {
		data[i] ^= 0x5a
	}
	return os.WriteFile(path, data, 0o600)
}

func halve(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return os.Truncate(path, info.Size()/2)
}

func garble(path string) error { return os.WriteFile(path, []byte("not what you look for"), 0o600) }

// damages to a store that was closed well.
var damages = []damage{
	{"table flipped", "*.sst", flipBytes, ""},
	{"table cut", "*.sst", halve, ""},
	{"table gone", "*.sst", os.Remove, ""},
	{"table garbled", "*.sst", garble, ""},
	{"manifest flipped", "MANIFEST", flipBytes, ""},
	{"manifest cut", "MANIFEST", halve, ""},
	{"manifest gone", "MANIFEST", os.Remove, ""},
	{"manifest garbled", "MANIFEST", garble, ""},
	{"key registry garbled", "KEYREGISTRY", garble, "encryption key"},
	{"pepper cut", "pepper", halve, ""},
	{"pepper flipped", "pepper", flipBytes, ""},
	{"pepper gone", "pepper", os.Remove, ""},
}

// damagesAfterKill are to a store whose newest records are in a log.
var damagesAfterKill = []damage{
	{"log flipped", "*.mem", flipBytes, ""},
	{"log cut", "*.mem", func(path string) error { return os.Truncate(path, 100) }, ""},
	{"log gone", "*.mem", os.Remove, ""},
	{"log garbled", "*.mem", garble, ""},
}

// A damaged store is never served as if it were empty: the start is refused, with
// the command that repairs it. After that command it starts.
func TestDamage(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	for n := range 30 {
		d := Delivery{Provider: "github", Body: fmt.Sprintf(`{"n":%d}`, n)}
		s.Deliver(t, d).Is(t, "first", 200, "first")
	}
	s.Stop(t)
	t.Run("closed", func(t *testing.T) { s.damaged(t, damages) })
	s.Restart(t)
	for n := range 40 {
		d := Delivery{Provider: "github", Body: fmt.Sprintf(`{"n":%d}`, n)}
		if a := s.Deliver(t, d); a.Word != "duplicate" && n < 30 {
			t.Fatalf("delivery %d: %v", n, a)
		}
	}
	s.Kill(t)
	t.Run("killed", func(t *testing.T) { s.damaged(t, damagesAfterKill) })
}

// damaged does each damage to the store of a process that has ended, and leaves
// the store as it was.
func (s *Sidecar) damaged(t *testing.T, list []damage) {
	dir, whole := s.Dir+"/store", t.TempDir()
	if err := os.CopyFS(whole, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	restore := func(t *testing.T) {
		t.Helper()
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range list {
		t.Run(d.name, func(t *testing.T) {
			restore(t)
			files, err := filepath.Glob(filepath.Join(dir, d.file))
			if err != nil || len(files) == 0 {
				t.Fatalf("no file is %s: %v", d.file, err)
			}
			for _, path := range files {
				if err := d.do(path); err != nil {
					t.Fatal(err)
				}
			}
			s.refuses(t, dir, cmp.Or(d.says, "webhook store reset --dir "+dir))
			s.refuses(t, dir) // and it does not wear off
			r := Run(t, nil, "webhook", "store", "reset", "--dir", dir, "--reason", "the disk died", "--actor", "e2e")
			if r.Code != 0 {
				t.Fatalf("reset ended with %d:\n%s", r.Code, r.Output)
			}
			s.Restart(t)
			s.Deliver(t, Delivery{Provider: "github", Body: `{"n":0}`}).Is(t, "to the new store", 200, "first")
			s.Stop(t)
			if aside, err := filepath.Glob(dir + ".aside-*"); err != nil || len(aside) != 1 {
				t.Errorf("set aside: %v, %v", aside, err)
			} else if err := os.RemoveAll(aside[0]); err != nil {
				t.Error(err)
			}
		})
	}
	restore(t)
}

// The bytes of a parked delivery that were lost with their file are kept again
// when the provider delivers it once more, before it is answered.
func TestKeptBytesLost(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	d := Delivery{Provider: "github", Body: `{"parked":"` + strings.Repeat("x", 100) + `"}`}
	app.Script(named("close"))
	s.Deliver(t, d).Is(t, "first", 200, "held")
	s.Kill(t)
	files, err := filepath.Glob(s.Dir + "/store/kept/*.seg")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kept request: %v", err)
	}
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	s.Restart(t)
	if i := s.ItemOf(t, d.Body); i.Request != nil || i.RequestProblem != "missing" {
		t.Errorf("the request should be missing: %+v", i)
	}
	s.Deliver(t, d).Is(t, "repeat", 200, "held")
	s.Kill(t)
	s.Restart(t)
	i := s.ItemOf(t, d.Body)
	if i.Request == nil || i.Request.BodySHA256 != digest(d.Body) {
		t.Errorf("the request should be kept: %+v", i)
	}
	s.Act(t, i.ID, "retry")
	s.Deliver(t, d).Is(t, "after the retry", 200, "duplicate")
	if n := app.Effects(t, d.Body); n != 2 { // the operator's decision
		t.Errorf("%d effects, want 2", n)
	}
}
