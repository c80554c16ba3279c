// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// fakeDisk is a file system whose free space the test sets.
type fakeDisk struct{ free atomic.Int64 }

func (d *fakeDisk) wire(o *Options) {
	o.MinFree, o.HardFloor, o.Ballast = 1000, 100, -1
	o.free = func(string) (int64, int64, error) { return d.free.Load(), 1 << 40, nil }
}

func newFakeDisk(free int64) *fakeDisk {
	d := new(fakeDisk)
	d.free.Store(free)
	return d
}

func apply(t *testing.T, s store.Store, b *bench, n int, kind delivery.EventKind) error {
	t.Helper()
	_, _, err := s.Apply(context.Background(), testKey(n), delivery.Event{
		Kind: kind, At: b.clock.Milli(), Epoch: 1, Reason: delivery.ReasonTimeout, Actor: "ann", Why: "test",
	})
	return err
}

func TestDiskLevels(t *testing.T) {
	ctx := context.Background()
	disk := newFakeDisk(1 << 30)
	b := newBench(t, disk.wire)
	s := b.open(t, 1)
	defer func() { _ = s.Close() }()
	for n := range 6 {
		if _, err := s.Reserve(ctx, testArrival(b, 1, n)); err != nil {
			t.Fatal(err)
		}
	}

	disk.free.Store(500) // no new work, outcomes go on
	if _, err := s.Reserve(ctx, testArrival(b, 1, 10)); !errors.Is(err, store.ErrFull) {
		t.Fatalf("new work: %v", err)
	}
	if !errors.Is(s.Ready(), store.ErrFull) || !s.Stats().Full {
		t.Fatalf("ready: %v", s.Ready())
	}
	if err := apply(t, s, b, 0, delivery.Unknown); err != nil {
		t.Fatalf("outcome: %v", err)
	}
	if v, err := s.Reserve(ctx, testArrival(b, 1, 0)); err != nil || v.Kind != delivery.Parked {
		t.Fatalf("known delivery: %s, %v", v.Kind, err)
	}

	disk.free.Store(50) // nothing is written
	if err := apply(t, s, b, 1, delivery.Unknown); !errors.Is(err, store.ErrFull) {
		t.Fatalf("outcome: %v", err)
	}
	if err := apply(t, s, b, 2, delivery.Done); err != nil {
		t.Fatalf("outcome that may wait: %v", err)
	}
	if err := apply(t, s, b, 0, delivery.OperatorConfirm); !errors.Is(err, store.ErrFull) {
		t.Fatalf("a person's action: %v", err)
	}
	for n, want := range []delivery.State{delivery.Uncertain, delivery.Uncertain, delivery.Confirmed, delivery.Running} {
		if r, err := s.Get(ctx, testKey(n)); err != nil || r.State != want {
			t.Fatalf("record %d: %s, %v, want %s", n, r.State, err, want)
		}
	}

	disk.free.Store(1 << 30)
	if v, err := s.Reserve(ctx, testArrival(b, 1, 10)); err != nil || v.Kind != delivery.First {
		t.Fatalf("with room again: %s, %v", v.Kind, err)
	}
	b.crash(t, s) // everything that waited went before it
	s = b.open(t, 2)
	for n, want := range []delivery.State{delivery.Uncertain, delivery.Uncertain, delivery.Confirmed, delivery.Running} {
		if r, err := s.Get(ctx, testKey(n)); err != nil || r.State != want {
			t.Fatalf("record %d after a crash: %s, %v, want %s", n, r.State, err, want)
		}
	}
}

func TestUnmeasurableDisk(t *testing.T) {
	var broken atomic.Bool
	b := newBench(t, func(o *Options) {
		o.free = func(string) (int64, int64, error) {
			if broken.Load() {
				return 0, 0, os.ErrPermission
			}
			return 1 << 40, 1 << 41, nil
		}
	})
	s := b.open(t, 1)
	defer s.Close()
	broken.Store(true)
	if _, err := s.Reserve(context.Background(), testArrival(b, 1, 1)); !errors.Is(err, os.ErrPermission) {
		t.Fatalf("error %v", err)
	}
	broken.Store(false)
}

func TestLimits(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, func(o *Options) { o.MaxOpen = 3 })
	s := b.open(t, 1).(*Store)
	defer s.Close()
	for n := range 3 {
		if _, err := s.Reserve(ctx, testArrival(b, 1, n)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Reserve(ctx, testArrival(b, 1, 3)); !errors.Is(err, store.ErrFull) {
		t.Fatalf("one open record too many: %v", err)
	}
	if v, err := s.Reserve(ctx, testArrival(b, 1, 2)); err != nil || v.Kind != delivery.Join {
		t.Fatalf("known one: %s, %v", v.Kind, err)
	}
	if err := apply(t, s, b, 0, delivery.Done); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Reserve(ctx, testArrival(b, 1, 3)); err != nil {
		t.Fatalf("after one was settled: %v", err)
	}
	if err := apply(t, s, b, 1, delivery.Done); err != nil {
		t.Fatal(err)
	}
	s.guard.maxSize = 1
	s.guard.size.Store(2)
	if _, err := s.Reserve(ctx, testArrival(b, 1, 5)); !errors.Is(err, store.ErrFull) {
		t.Fatalf("store too large: %v", err)
	}
}

func TestBallast(t *testing.T) {
	disk := newFakeDisk(1 << 30)
	b := newBench(t, func(o *Options) {
		disk.wire(o)
		o.Ballast = 4096
	})
	s := b.open(t, 1).(*Store)
	defer s.Close()
	path := filepath.Join(b.dir, ballastName)
	if err := s.guard.keepBallast(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != 4096 || info.Mode().Perm() != 0o600 {
		t.Fatalf("ballast: %v, %v", info, err)
	}
	disk.free.Store(99)
	if _, mayAny := s.guard.check(); !errors.Is(mayAny, store.ErrFull) {
		t.Fatalf("check: %v", mayAny)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("ballast in an emergency: %v", err)
	}
	disk.free.Store(1001) // too little to take it back
	if err := s.guard.keepBallast(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("ballast too early: %v", err)
	}
	disk.free.Store(1 << 30)
	if err := s.guard.keepBallast(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("ballast after the emergency: %v", err)
	}
}

func TestModes(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1)
	fill(t, b, s, 1, 0, 10)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(b.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("directory: %v, %v", info.Mode(), err)
	}
	// What Badger creates itself is readable by all, so the directory must not be.
	for _, name := range []string{markName, lockName} {
		if info, err := os.Stat(filepath.Join(b.dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
