// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
	"github.com/hookonce/hookonce/caddymodule/store/storetest"
)

func TestLocked(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1)
	if _, err := Open(context.Background(), b.options(2)); !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), b.dir) {
		t.Fatalf("second one: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := b.options(2)
	o.LockWait = time.Hour
	if _, err := Open(ctx, o); !errors.Is(err, store.ErrLocked) || !errors.Is(err, context.Canceled) {
		t.Fatalf("given up: %v", err)
	}
	// Whoever waits gets it when the other one leaves.
	opened := make(chan error, 1)
	go func() {
		next, err := Open(context.Background(), o)
		if err == nil {
			err = next.Close()
		}
		opened <- err
	}()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-opened; err != nil {
		t.Fatalf("after the first one left: %v", err)
	}
}

func TestNewerFormat(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1).(*Store)
	err := s.commit.write(&request{entries: []kv{{
		key: keyFormat, val: binary.LittleEndian.AppendUint64(nil, formatVersion+1),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), b.options(2)); !errors.Is(err, store.ErrFormat) {
		t.Fatalf("error %v", err)
	}
}

func TestForeignDatabase(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1).(*Store)
	if err := s.commit.write(&request{entries: []kv{{key: keyFormat, remove: true}}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), b.options(2)); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("error %v", err)
	}
}

// TestEmptyLog has a log of length zero, as some kills leave it; Badger's first
// open fails on it.
func TestEmptyLog(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1)
	fill(t, b, s, 1, 0, 50)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "00099.mem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s = b.open(t, 2)
	defer s.Close()
	if _, err := s.Get(context.Background(), testKey(7)); err != nil {
		t.Fatal(err)
	}
}

func TestOptions(t *testing.T) {
	if _, err := Open(context.Background(), Options{}); err == nil {
		t.Error("opened no directory")
	}
	o := NewOptions(t.TempDir())
	o.EncryptionKey = []byte("short")
	if _, err := Open(context.Background(), o); err == nil {
		t.Error("opened with a short key")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(context.Background(), NewOptions(file)); err == nil {
		t.Error("opened a file")
	}
}

func TestSuiteEncrypted(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	storetest.Run(t, func(t *testing.T) storetest.Harness {
		return newBench(t, func(o *Options) { o.EncryptionKey, o.Sync = key, false }).harness()
	})
}

func TestEncryption(t *testing.T) {
	key := bytes.Repeat([]byte{7}, 32)
	b := newBench(t, func(o *Options) { o.EncryptionKey = key })
	s := b.open(t, 1)
	fill(t, b, s, 1, 0, 2000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = b.open(t, 2)
	fill(t, b, s, 2, 2000, 300)
	b.crash(t, s)
	files, err := os.ReadDir(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(b.dir, f.Name()))
		if err != nil || bytes.Contains(raw, []byte("shop")) {
			t.Errorf("%s shows what it should hide, %v", f.Name(), err)
		}
	}
	for _, wrong := range [][]byte{nil, bytes.Repeat([]byte{8}, 32)} {
		o := b.options(3)
		o.EncryptionKey = wrong
		if _, err := Open(context.Background(), o); err == nil || !strings.Contains(err.Error(), "encryption key") {
			t.Errorf("wrong key: %v", err)
		}
	}
	s = b.open(t, 3)
	for i := range 2300 {
		if _, err := s.Get(context.Background(), testKey(i)); err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	flip(t, largest(t, b.dir, ".sst"), half)
	if _, err := Open(context.Background(), b.options(4)); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("damaged: %v", err)
	}
}

// TestVerifyLater finds damage behind the start and refuses everything then.
func TestVerifyLater(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1).(*Store)
	fill(t, b, s, 1, 0, 2000)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := surveyFiles(b.dir, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	s = b.open(t, 2).(*Store)
	defer s.Close()
	// Two that Badger has merged: one is deleted, one is cut to be deleted.
	if err := os.WriteFile(filepath.Join(b.dir, "999998.sst"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	found.tables = append(found.tables, tableFile{name: "999998.sst"}, tableFile{name: "999999.sst"})
	k := newKeeper(s, found)
	k.verify()
	if err := s.Ready(); err != nil {
		t.Fatalf("sound tables: %v", err)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.Mkdir(bad, 0o700); err != nil {
		t.Fatal(err)
	}
	copyDir(t, b.dir, bad)
	flip(t, largest(t, bad, ".sst"), half)
	k.unverified = &survey{dir: bad, tables: found.tables}
	k.verify()
	if _, err := s.Reserve(context.Background(), testArrival(b, 2, 1)); !errors.Is(err, store.ErrCorrupt) {
		t.Fatalf("damaged table: %v", err)
	}
}

// TestPointersOfLongOpenRecords are written anew before Badger drops them.
func TestPointersOfLongOpenRecords(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, nil)
	s := b.open(t, 1).(*Store)
	defer s.Close()
	a := testArrival(b, 1, 1)
	a.Identity = append(a.Identity, delivery.Key{ID: testKey(2), Kind: 'e', Signed: true})
	a.Policy.Accept = true
	if _, err := s.Reserve(ctx, a); err != nil {
		t.Fatal(err)
	}
	expiry := func() int64 {
		v, err := s.read(testKey(2))
		if err != nil {
			t.Fatal(err)
		}
		return v.expires
	}
	before := expiry()
	s.prolongPointers()
	if err := s.commit.write(&request{entries: []kv{s.clockEntry()}}); err != nil {
		t.Fatal(err)
	}
	if got := expiry(); got != before {
		t.Fatalf("prolonged too early: %d, %d", got, before)
	}
	b.clock.Advance(21 * 24 * time.Hour)
	s.prolongPointers()
	if err := s.commit.write(&request{entries: []kv{s.clockEntry()}}); err != nil {
		t.Fatal(err)
	}
	open := expiry()
	if open != before+21*day {
		t.Fatalf("not prolonged: %d, %d", open, before)
	}
	if err := apply(t, s, b, 1, delivery.OperatorDrop); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Get(ctx, testKey(1)); err != nil || expiry() != r.ExpiresAt+3*r.Window {
		t.Fatalf("settled: %d, %+v, %v", expiry(), r, err)
	}
}
