// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
	"github.com/hookonce/hookonce/caddymodule/store/storetest"
)

// bench is one store of the suite: a directory, and the wires into it.
type bench struct {
	base    string // all directories of this store, one for each crash
	dir     string
	crashes int
	failure atomic.Pointer[error]
	point   string // where the failure happens
	opts    func(*Options)
	clock   *storetest.Clock
}

func (b *bench) open(t *testing.T, boot uint64) store.Store {
	t.Helper()
	s, err := Open(context.Background(), b.options(boot))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func (b *bench) options(boot uint64) Options {
	o := NewOptions(b.dir)
	o.Boot, o.Now = boot, b.clock.Now
	o.Ballast, o.MinFree, o.HardFloor, o.LockWait = -1, 1, 1, 0
	o.memTable = 1 << 20
	o.Failpoint = func(point string) error {
		if err := b.failure.Load(); err != nil && point == b.point {
			return *err
		}
		return nil
	}
	if b.opts != nil {
		b.opts(&o)
	}
	return o
}

// crash leaves the files as a killed process would: as they are at this moment.
func (b *bench) crash(t *testing.T, s store.Store) {
	t.Helper()
	b.crashes++
	next := filepath.Join(b.base, strconv.Itoa(b.crashes))
	if err := os.Mkdir(next, 0o700); err != nil {
		t.Fatal(err)
	}
	copyDir(t, b.dir, next)
	b.failure.Store(nil)
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	b.dir = next
}

func (b *bench) fail(_ *testing.T, _ store.Store, err error) {
	if err == nil {
		b.failure.Store(nil)
		return
	}
	b.failure.Store(&err)
}

func damageRecord(t *testing.T, s store.Store, id delivery.ID) {
	t.Helper()
	bs := s.(*Store)
	v, err := bs.read(id)
	if err != nil {
		t.Fatal(err)
	}
	raw := encodeRecord(&v.rec, v.evidence)
	raw[len(raw)/2] ^= 0x10
	if err := bs.commit.write(&request{entries: []kv{{key: dbKey(nsKey, id), val: raw}}}); err != nil {
		t.Fatal(err)
	}
	if err := bs.commit.write(&request{entries: []kv{bs.clockEntry()}}); err != nil {
		t.Fatal(err)
	}
}

// copyDir copies a directory that is in use. Badger may be writing or deleting
// tables meanwhile, so it copies until nothing has changed under its hands.
func copyDir(t *testing.T, from, to string) {
	t.Helper()
	for {
		before := listing(t, from)
		var err error
		for _, name := range before {
			name, _, _ = strings.Cut(name, " ")
			if name != "LOCK" && err == nil {
				err = copyFile(filepath.Join(from, name), filepath.Join(to, name))
			}
		}
		if err == nil && slices.Equal(before, listing(t, from)) {
			return
		}
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(to, 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// listing names the files with their sizes and times.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		if info, err := f.Info(); err == nil {
			out = append(out, fmt.Sprintf("%s %d %d", f.Name(), info.Size(), info.ModTime().UnixNano()))
		}
	}
	return out
}

// copyFile leaves holes where the file has nothing but zeros.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	buf, zero, at := make([]byte, 64<<10), make([]byte, 64<<10), int64(0)
	for {
		n, err := io.ReadFull(in, buf)
		if n > 0 && !bytes.Equal(buf[:n], zero[:n]) {
			if _, err := out.WriteAt(buf[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
		if err != nil {
			break
		}
	}
	if err := out.Truncate(at); err != nil {
		return err
	}
	return out.Close()
}

// fastDir is a directory in memory if there is room, as the suite opens stores
// by the thousand; else one on disk.
func fastDir(t testing.TB) string {
	t.Helper()
	const shm = "/dev/shm"
	if free, _, err := statFree(shm); err != nil || free < 1<<30 {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(shm, "hookonce-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func newBench(t *testing.T, opts func(*Options)) *bench {
	base := fastDir(t)
	return &bench{base: base, dir: filepath.Join(base, "0"), point: PointBeforeCommit, opts: opts, clock: storetest.NewClock()}
}

func (b *bench) harness() storetest.Harness {
	return storetest.Harness{Open: b.open, Crash: b.crash, Fail: b.fail, Damage: damageRecord, Clock: b.clock}
}

func TestSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness { return newBench(t, nil).harness() })
}

func TestSuiteUnsynced(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		return newBench(t, func(o *Options) { o.Sync = false }).harness()
	})
}

// TestSuiteUnsure fails writes after they were made: what was written in part has
// to be taken back.
func TestSuiteUnsure(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		b := newBench(t, nil)
		b.point = PointAfterCommit
		h := b.harness()
		h.Unsure = true
		return h
	})
}
