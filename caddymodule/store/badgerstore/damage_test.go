// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

func testKey(n int) delivery.ID {
	return delivery.ID{byte(n * 37), byte(n >> 8), byte(n), 7, 15: byte(n)}
}

func testArrival(b *bench, boot uint64, n int) *delivery.Arrival {
	return &delivery.Arrival{
		At: b.clock.Milli(), Boot: boot, Source: "shop", DeliveryID: fmt.Sprint("d", n),
		Strength: delivery.StrengthStrong, Kept: true, Policy: delivery.Policy{Window: 7 * day, BodyWindow: 90 * day},
		Identity: []delivery.Key{{ID: testKey(n), Kind: 'd', Signed: true}},
	}
}

// fill reserves and confirms n deliveries.
func fill(t *testing.T, b *bench, s store.Store, boot uint64, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		v, err := s.Reserve(context.Background(), testArrival(b, boot, i))
		if err != nil || v.Kind != delivery.First {
			t.Fatalf("reserve %d: %s, %v", i, v.Kind, err)
		}
		ev := delivery.Event{Kind: delivery.Done, At: b.clock.Milli(), Epoch: 1}
		if _, _, err := s.Apply(context.Background(), v.Record.ID, ev); err != nil {
			t.Fatal(err)
		}
	}
}

// onlyFile returns the largest file with that ending.
func largest(t *testing.T, dir, ending string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+ending))
	if err != nil || len(names) == 0 {
		t.Fatalf("no *%s: %v", ending, err)
	}
	best, size := "", int64(-1)
	for _, n := range names {
		if info, err := os.Stat(n); err == nil && info.Size() > size {
			best, size = n, info.Size()
		}
	}
	return best
}

func flip(t *testing.T, path string, at func(size int64) int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	off := at(info.Size())
	if _, err := f.ReadAt(b[:], off); err != nil {
		t.Fatal(err)
	}
	b[0] ^= 0x5a
	if _, err := f.WriteAt(b[:], off); err != nil {
		t.Fatal(err)
	}
}

func half(size int64) int64 { return size / 2 }

func cut(t *testing.T, path string, to func(size int64) int64) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, to(info.Size())); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// TestDamage damages the files of a store. Whatever is done to them, the store
// is either refused with the cure in the message, or has everything.
func TestDamage(t *testing.T) {
	const settled, logged = 3000, 500
	in := func(dir, name string) string { return filepath.Join(dir, name) }
	zero := func(int64) int64 { return 0 }
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		refuse bool
	}{
		{"nothing", func(*testing.T, string) {}, false},
		{"log: byte flipped early", func(t *testing.T, dir string) { flip(t, largest(t, dir, ".mem"), func(int64) int64 { return 400 }) }, true},
		{"log: byte flipped late", func(t *testing.T, dir string) {
			flip(t, largest(t, dir, ".mem"), func(int64) int64 { return logEnd(t, largest(t, dir, ".mem")) - 60 })
		}, true},
		{"log: cut", func(t *testing.T, dir string) { cut(t, largest(t, dir, ".mem"), func(int64) int64 { return 5000 }) }, true},
		{"log: empty", func(t *testing.T, dir string) { cut(t, largest(t, dir, ".mem"), zero) }, true},
		{"log: missing", func(t *testing.T, dir string) { remove(t, largest(t, dir, ".mem")) }, true},
		{"table: byte flipped", func(t *testing.T, dir string) { flip(t, largest(t, dir, ".sst"), half) }, true},
		{"table: byte of the index flipped", func(t *testing.T, dir string) {
			flip(t, largest(t, dir, ".sst"), func(n int64) int64 { return n - 200 })
		}, true},
		{"table: cut in half", func(t *testing.T, dir string) { cut(t, largest(t, dir, ".sst"), half) }, true},
		{"table: cut by a byte", func(t *testing.T, dir string) {
			cut(t, largest(t, dir, ".sst"), func(n int64) int64 { return n - 1 })
		}, true},
		{"table: empty", func(t *testing.T, dir string) { cut(t, largest(t, dir, ".sst"), zero) }, true},
		{"table: missing", func(t *testing.T, dir string) { remove(t, largest(t, dir, ".sst")) }, true},
		{"manifest: byte flipped", func(t *testing.T, dir string) { flip(t, in(dir, "MANIFEST"), half) }, true},
		{"manifest: cut", func(t *testing.T, dir string) { cut(t, in(dir, "MANIFEST"), func(int64) int64 { return 12 }) }, true},
		{"manifest: empty", func(t *testing.T, dir string) { cut(t, in(dir, "MANIFEST"), zero) }, true},
		{"manifest: missing", func(t *testing.T, dir string) { remove(t, in(dir, "MANIFEST")) }, true},
		{"everything of Badger missing", func(t *testing.T, dir string) {
			for _, pattern := range []string{"*.mem", "*.sst", "*.vlog", "MANIFEST", "KEYREGISTRY", "DISCARD"} {
				names, _ := filepath.Glob(filepath.Join(dir, pattern))
				for _, n := range names {
					remove(t, n)
				}
			}
		}, true},
		{"key registry: cut", func(t *testing.T, dir string) { cut(t, in(dir, "KEYREGISTRY"), func(int64) int64 { return 5 }) }, true},
		{"value log: missing", func(t *testing.T, dir string) { remove(t, largest(t, dir, ".vlog")) }, false},
		{"mark: missing", func(t *testing.T, dir string) { remove(t, in(dir, markName)) }, false},
		{"mark: torn", func(t *testing.T, dir string) { cut(t, in(dir, markName), func(int64) int64 { return 9 }) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nil)
			s := b.open(t, 1)
			fill(t, b, s, 1, 0, settled)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = b.open(t, 2)
			fill(t, b, s, 2, settled, logged)
			b.crash(t, s)
			c.damage(t, b.dir)
			got, err := Open(context.Background(), b.options(3))
			if c.refuse {
				if err == nil {
					_ = got.Close()
					t.Fatal("opened")
				}
				if !errors.Is(err, store.ErrCorrupt) || !strings.Contains(err.Error(), "webhook store reset --dir "+b.dir) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer got.Close()
			for i := range settled + logged {
				if _, err := got.Get(context.Background(), testKey(i)); err != nil {
					t.Fatalf("record %d: %v", i, err)
				}
			}
		})
	}
}

// logEnd is where the zeros of a log begin.
func logEnd(t *testing.T, path string) int64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return int64(len(b))
}

// TestAcceptLoss opens what is left of a store on request.
func TestAcceptLoss(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1)
	fill(t, b, s, 1, 0, 200)
	b.crash(t, s)
	flip(t, largest(t, b.dir, ".mem"), func(int64) int64 { return 20_000 })
	if _, err := Check(context.Background(), b.options(2)); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("check: %v", err)
	}
	if err := AcceptLoss(context.Background(), b.dir); err != nil {
		t.Fatal(err)
	}
	s = b.open(t, 2)
	defer s.Close()
	if _, err := s.Get(context.Background(), testKey(0)); err != nil {
		t.Fatalf("the oldest record is gone: %v", err)
	}
	if _, err := s.Get(context.Background(), testKey(199)); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("the newest record: %v", err)
	}
}

func TestSetAside(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1)
	fill(t, b, s, 1, 0, 10)
	if _, err := SetAside(context.Background(), b.dir, b.clock.Now()); !errors.Is(err, store.ErrLocked) {
		t.Fatalf("set aside while it is open: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Check(context.Background(), b.options(2))
	if err != nil || r.Tables == 0 {
		t.Fatalf("check: %+v, %v", r, err)
	}
	to, err := SetAside(context.Background(), b.dir, b.clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	s = b.open(t, 2)
	if _, err := s.Get(context.Background(), testKey(1)); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("new store: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b.dir = to
	s = b.open(t, 3)
	defer s.Close()
	if _, err := s.Get(context.Background(), testKey(1)); err != nil {
		t.Fatalf("old store: %v", err)
	}
}
