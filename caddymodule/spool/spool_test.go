// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// testID makes an ID from a number.
func testID(n int) ID {
	var id ID
	binary.BigEndian.PutUint64(id[8:], uint64(n))
	return id
}

// testPayload makes n bytes that depend on the seed.
func testPayload(seed, n int) []byte {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], uint64(seed))
	b := make([]byte, n)
	_, _ = rand.NewChaCha8(key).Read(b)
	return b
}

// openTest opens a spool and closes it at the end of the test.
func openTest(t testing.TB, o Options) *Spool {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return s
}

func put(t testing.TB, s *Spool, id ID, epoch uint32, payload []byte) {
	t.Helper()
	if err := s.Put(id, epoch, payload).Wait(); err != nil {
		t.Fatalf("put: %v", err)
	}
}

// place tells where an entry is.
func place(s *Spool, id ID) ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.index[id]
}

func wantGet(t testing.TB, s *Spool, id ID, want []byte) {
	t.Helper()
	got, err := s.Get(id)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("get returned %d other bytes than the %d that were put", len(got), len(want))
	}
}

func wantErr(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
}

var testKey = bytes.Repeat([]byte{7}, keySize)

// variants runs a test with and without flushes and seals.
func variants(t *testing.T, test func(t *testing.T, o Options)) {
	for _, sync := range []bool{true, false} {
		for _, key := range [][]byte{nil, testKey} {
			t.Run(fmt.Sprintf("sync=%v,sealed=%v", sync, key != nil), func(t *testing.T) {
				test(t, Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: sync, Key: key})
			})
		}
	}
}

func TestPutGetFreeReopen(t *testing.T) {
	sizes := []int{0, 1, 31, 32, 33, 2048, InlineMax - sealOverhead, InlineMax - sealOverhead + 1, InlineMax, 300_000}
	variants(t, func(t *testing.T, o Options) {
		s := openTest(t, o)
		for i, n := range sizes {
			put(t, s, testID(i), uint32(i+1), testPayload(i, n))
		}
		for i, n := range sizes {
			wantGet(t, s, testID(i), testPayload(i, n))
		}
		st := s.Stats()
		if st.Items != len(sizes) || st.Files != 3 {
			t.Errorf("stats %+v, want %d items and 3 files", st, len(sizes))
		}
		if err := s.Settle(testID(5), 7, Mark{Class: 2, Status: 503, At: 99}); err != nil {
			t.Fatal(err)
		}
		if err := s.SettleAndFree(testID(9), 10, Mark{Class: 1, Status: 200, At: 98}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Get(testID(9)); !errors.Is(err, ErrNotFound) {
			t.Errorf("get after free: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}

		s = openTest(t, o)
		found := map[ID]Entry{}
		if err := s.Scan(func(e Entry) { found[e.ID] = e }); err != nil {
			t.Fatal(err)
		}
		for i, n := range sizes[:9] {
			e := found[testID(i)]
			if e.Epoch != uint32(i+1) || e.Size != n || e.Err != nil || e.At == 0 || e.Settled != (i == 5) {
				t.Errorf("entry %d of %d bytes: %+v", i, n, e)
			}
			wantGet(t, s, testID(i), testPayload(i, n))
		}
		if m := found[testID(5)].Mark; m != (Mark{Class: 2, Status: 503, Epoch: 7, At: 99}) {
			t.Errorf("mark %+v", m)
		}
		dropped := s.Retain(func(id ID) bool { return id == testID(5) })
		if dropped != 8 || s.Stats().Items != 1 {
			t.Errorf("%d dropped, %d left", dropped, s.Stats().Items)
		}
		if epoch, ok := s.Has(testID(5)); epoch != 6 || !ok {
			t.Errorf("has: %d %v", epoch, ok)
		}
	})
}

func TestReplace(t *testing.T) {
	variants(t, func(t *testing.T, o Options) {
		s := openTest(t, o)
		id := testID(1)
		for epoch, n := range []int{10, 100_000, 20, 100_001, 30} {
			put(t, s, id, uint32(epoch), testPayload(epoch, n))
			wantGet(t, s, id, testPayload(epoch, n))
			if st := s.Stats(); st.Items != 1 {
				t.Fatalf("%d items", st.Items)
			}
		}
		wantErr(t, s.Settle(id, 3, Mark{}), ErrNotFound)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, o)
		wantGet(t, s, id, testPayload(4, 30))
	})
}

func TestBounds(t *testing.T) {
	t.Run("items", func(t *testing.T) {
		s := openTest(t, Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, MaxItems: 10})
		for i := range 10 {
			if err := s.Room(1); (err != nil) != (i >= 9) {
				t.Errorf("room with %d of 10 items: %v", i, err)
			}
			put(t, s, testID(i), 1, nil)
		}
		wantErr(t, s.Put(testID(10), 1, nil).Wait(), ErrFull)
		s.Free(testID(0))
		put(t, s, testID(10), 1, nil)
	})
	t.Run("bytes", func(t *testing.T) {
		s := openTest(t, Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, MaxSize: 1 << 20})
		wantErr(t, s.Put(testID(0), 1, make([]byte, 1<<20)).Wait(), ErrFull)
		wantErr(t, s.Room(1<<20), ErrFull)
		put(t, s, testID(0), 1, make([]byte, 900<<10))
		if err := s.Room(10 << 10); err != nil {
			t.Errorf("room below 90 %%: %v", err)
		}
		wantErr(t, s.Room(60<<10), ErrFull)
		put(t, s, testID(1), 1, make([]byte, 60<<10))
		wantErr(t, s.Put(testID(2), 1, make([]byte, 80<<10)).Wait(), ErrFull)
	})
	t.Run("disk guard", func(t *testing.T) {
		low := errors.New("disk low")
		var now error
		s := openTest(t, Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, MinFree: func() error { return now }})
		now = low
		wantErr(t, s.Room(1), low)
		wantErr(t, s.Put(testID(1), 1, nil).Wait(), low)
		wantErr(t, s.Put(testID(1), 1, make([]byte, 100_000)).Wait(), low)
	})
}

func TestClosedAndLocked(t *testing.T) {
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true}
	s := openTest(t, o)
	put(t, s, testID(1), 1, nil)
	_, err := Open(o)
	wantErr(t, err, ErrLocked)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	_, err = s.Get(testID(1))
	wantErr(t, err, ErrClosed)
	wantErr(t, s.Put(testID(1), 1, nil).Wait(), ErrClosed)
	wantErr(t, s.Settle(testID(1), 1, Mark{}), ErrClosed)
	wantErr(t, s.Scan(func(Entry) {}), ErrClosed)
	wantErr(t, s.Room(0), ErrClosed)
	wantGet(t, openTest(t, o), testID(1), nil)
}

func TestOptionsAreChecked(t *testing.T) {
	for name, o := range map[string]Options{
		"no directory":    {},
		"short key":       {Dir: t.TempDir(), Key: make([]byte, 16)},
		"not a directory": {Dir: "/dev/null/spool"},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := Open(o); err == nil {
				t.Error("opened", s.Close())
			}
		})
	}
}

// TestFilesArePrivateAndOrphansRemoved covers modes and what a crash leaves.
func TestFilesArePrivateAndOrphansRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "spool")
	o := Options{Dir: dir, SegmentSize: minSegmentSize, Sync: true}
	s := openTest(t, o)
	put(t, s, testID(1), 1, nil)
	put(t, s, testID(2), 1, make([]byte, 100_000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	orphan := filepath.Join(dir, singleName(testID(3), 9)+tempExt)
	foreign := filepath.Join(dir, "notes.txt")
	for _, p := range []string{orphan, foreign} {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = openTest(t, o)
	if _, err := os.Stat(orphan); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("orphan: %v", err)
	}
	if _, err := os.Stat(foreign); err != nil {
		t.Errorf("a file that is not ours: %v", err)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != map[bool]fs.FileMode{true: 0o700, false: 0o600}[d.IsDir()] {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Free(testID(2))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*"+singleExt)); len(left) != 0 {
		t.Errorf("left after free: %v", left)
	}
}
