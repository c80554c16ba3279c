// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// mountDisk mounts a small file system in memory; that needs root. A full one is
// as deadly for Badger as a full disk.
func mountDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+",mode=0700"); err != nil {
		t.Fatalf("mounting a small file system (root is needed): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func diskOptions(dir string, boot uint64) Options {
	o := NewOptions(filepath.Join(dir, "store"))
	o.Boot, o.memTable, o.LockWait = boot, 1<<20, 0
	o.MinFree, o.HardFloor, o.Ballast = 24*mib, 16*mib, 20*mib
	return o
}

// fillDisk writes a file until no byte is left, or until free is left.
func fillDisk(t *testing.T, dir string, leave int64) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "filler-"+fmt.Sprint(leave))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for chunk := make([]byte, 64<<10); ; {
		left, _, err := statFree(dir)
		if err != nil {
			t.Fatal(err)
		}
		if left <= leave {
			break
		}
		if _, err := f.Write(chunk[:min(left-leave, int64(len(chunk)))]); errors.Is(err, unix.ENOSPC) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return func() { remove(t, path) }
}

// until waits for something that goroutines of Badger do.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick, late := time.NewTicker(2*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("%s: not within a minute", what)
		}
	}
}

// quiet waits until Badger writes no tables, which a full disk would not let it.
func quiet(t *testing.T, s *Store) {
	t.Helper()
	last, same := "", 0
	until(t, "compactions", func() bool {
		now := strings.Join(listing(t, s.opts.Dir), "\n")
		if now != last {
			last, same = now, 0
		}
		same++
		return same > 100
	})
}

// TestFullDisk lets another file take the disk while the store is in use, and
// takes it away again.
func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	dir := mountDisk(t, "96m")
	s, err := Open(ctx, diskOptions(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	var acknowledged sync.Map
	var n atomic.Uint64
	one := func() error {
		i := n.Add(1)
		err := flow(s, i)
		if err == nil {
			acknowledged.Store(i, true)
		}
		return err
	}
	for round := range 3 {
		full := make(chan error, 8)
		for range cap(full) {
			go func() {
				for {
					if err := one(); err != nil {
						full <- err
						return
					}
				}
			}()
		}
		enough := n.Load() + 5000
		until(t, "writes", func() bool { return n.Load() > enough })
		freeMost := fillDisk(t, dir, 8*mib)
		for range cap(full) {
			if err := <-full; !errors.Is(err, store.ErrFull) {
				t.Fatalf("round %d: %v", round, err)
			}
		}
		quiet(t, s)
		freeRest := fillDisk(t, dir, 0)
		if err := one(); !errors.Is(err, store.ErrFull) {
			t.Fatalf("round %d, nothing left: %v", round, err)
		}
		if _, ok, err := s.Peek(ctx, benchArrival(1)); !ok || err != nil {
			t.Fatalf("round %d, duplicate on a full disk: %v, %v", round, ok, err)
		}
		freeMost()
		freeRest()
		until(t, "recovery", func() bool { return one() == nil })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(ctx, diskOptions(dir, 2)); err != nil {
		t.Fatal(err)
	}
	acknowledged.Range(func(i, _ any) bool {
		v, ok, err := s.Peek(ctx, benchArrival(i.(uint64)))
		if err != nil || !ok || v.Kind != delivery.Duplicate {
			t.Errorf("delivery %d: %s, %v, %v", i, v.Kind, ok, err)
		}
		return !t.Failed()
	})
}

// TestOpenOnFullDisk starts where no byte is left: the ballast makes the room to
// open; without it the start is refused, and nothing is lost.
func TestOpenOnFullDisk(t *testing.T) {
	ctx := context.Background()
	dir := mountDisk(t, "96m")
	s, err := Open(ctx, diskOptions(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(2000) {
		if err := flow(s, i+1); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "ballast", func() bool {
		_, err := os.Stat(s.guard.ballastPath())
		return err == nil
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	free := fillDisk(t, dir, 0)
	if s, err = Open(ctx, diskOptions(dir, 2)); err != nil {
		t.Fatalf("open with ballast: %v", err)
	}
	if _, ok, err := s.Peek(ctx, benchArrival(7)); !ok || err != nil {
		t.Fatalf("duplicate: %v, %v", ok, err)
	}
	if _, err := s.Reserve(ctx, benchArrival(9999)); !errors.Is(err, store.ErrFull) {
		t.Fatalf("new work: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	freeRest := fillDisk(t, dir, 1)
	if _, err = Open(ctx, diskOptions(dir, 3)); !errors.Is(err, store.ErrFull) {
		t.Fatalf("open without ballast: %v", err)
	}
	free()
	freeRest()
	if s, err = Open(ctx, diskOptions(dir, 4)); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range uint64(2000) {
		if _, ok, err := s.Peek(ctx, benchArrival(i+1)); !ok || err != nil {
			t.Fatalf("delivery %d: %v, %v", i+1, ok, err)
		}
	}
}

// TestCloseOnFullDisk ends a process in order while no byte is left.
func TestCloseOnFullDisk(t *testing.T) {
	dir := mountDisk(t, "64m")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=TestChildClosesOnFullDisk")
	cmd.Env = append(os.Environ(), childFull+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	remove(t, filepath.Join(dir, "filler-0"))
	s, err := Open(context.Background(), diskOptions(dir, 2))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range uint64(500) {
		if _, ok, err := s.Peek(context.Background(), benchArrival(i+1)); !ok || err != nil {
			t.Fatalf("delivery %d: %v, %v", i+1, ok, err)
		}
	}
}

const childFull = "HOOKONCE_TEST_CHILD_FULL"

// TestChildClosesOnFullDisk is the process of TestCloseOnFullDisk; by itself it
// has a disk of its own.
func TestChildClosesOnFullDisk(t *testing.T) {
	dir := os.Getenv(childFull)
	if dir == "" {
		dir = mountDisk(t, "64m")
	}
	o := diskOptions(dir, 1)
	o.Ballast = -1
	s, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(500) {
		if err := flow(s, i+1); err != nil {
			t.Fatal(err)
		}
	}
	quiet(t, s)
	fillDisk(t, dir, 0)
	if err := s.Close(); !errors.Is(err, store.ErrFull) {
		t.Fatalf("close: %v", err)
	}
}
