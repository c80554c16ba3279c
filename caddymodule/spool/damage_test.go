// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// writeThree makes a spool of three small entries and returns the path of its
// segment and the offset of the last entry.
func writeThree(t *testing.T, o Options) (path string, last int64) {
	t.Helper()
	s := openTest(t, o)
	for i := range 3 {
		put(t, s, testID(i), 1, testPayload(i, 150))
	}
	r := place(s, testID(2))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return r.file.path, int64(r.off)
}

// checkThree opens the spool and reports, for each entry, whether it was read.
// Other bytes than those that were put fail the test.
func checkThree(t *testing.T, o Options, what string) (read [3]bool) {
	t.Helper()
	s, err := Open(o)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	defer s.Close()
	reported := map[ID]error{}
	if err := s.Scan(func(e Entry) { reported[e.ID] = e.Err }); err != nil {
		t.Fatalf("%s: scan: %v", what, err)
	}
	for i := range read {
		got, err := s.Get(testID(i))
		switch {
		case err == nil && bytes.Equal(got, testPayload(i, 150)):
			read[i] = true
		case err == nil:
			t.Fatalf("%s: entry %d has other bytes", what, i)
		case errors.Is(err, ErrNotFound):
		case !errors.Is(err, reported[testID(i)]):
			t.Fatalf("%s: entry %d: get says %v, scan said %v", what, i, err, reported[testID(i)])
		}
	}
	return read
}

// TestTornTail cuts, and blanks, a segment at every byte of its last entry.
func TestTornTail(t *testing.T) {
	for _, key := range [][]byte{nil, testKey} {
		o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Key: key}
		path, last := writeThree(t, o)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		stored := 150
		if key != nil {
			stored += sealOverhead
		}
		for cut := last; cut < last+footprint(stored); cut++ {
			blank := bytes.Clone(whole)
			clear(blank[cut:])
			for kind, b := range map[string][]byte{"cut": whole[:cut], "blank": blank} {
				if err := os.WriteFile(path, b, 0o600); err != nil {
					t.Fatal(err)
				}
				what := fmt.Sprintf("%s at %d", kind, cut-last)
				read := checkThree(t, o, what)
				if !read[0] || !read[1] || read[2] != (cut >= last+int64(payloadOff+stored)) && read[2] {
					t.Fatalf("%s: read %v", what, read)
				}
			}
		}
	}
}

// TestBitFlips flips every byte of the used part of a segment and of the copy of
// its header. At most the entry that was hit may be lost.
func TestBitFlips(t *testing.T) {
	for _, key := range [][]byte{nil, testKey} {
		o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Key: key}
		path, last := writeThree(t, o)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		size := (last - headerSize) / 2
		end := last + size
		for at := range whole {
			if int64(at) >= end && at < len(whole)-headerSize {
				continue
			}
			b := bytes.Clone(whole)
			b[at] ^= 1 << (at % 8)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			read := checkThree(t, o, fmt.Sprintf("flip at %d", at))
			for i := range read {
				hit := int64(at) >= headerSize && (int64(at)-headerSize)/size == int64(i)
				if !read[i] && !hit {
					t.Fatalf("flip at %d lost entry %d of %d bytes", at, i, size)
				}
			}
		}
	}
}

// TestBothHeadersLost leaves a segment alone that nobody can read any more.
func TestBothHeadersLost(t *testing.T) {
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true}
	path, _ := writeThree(t, o)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[20] ^= 1
	b[len(b)-44] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	s := openTest(t, o)
	for i := range 10 {
		put(t, s, testID(i), 2, make([]byte, InlineMax-sealOverhead))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b) {
		t.Errorf("the damaged segment was changed or removed: %v", err)
	}
}

// TestDamagedLargeFile reports damage under the ID that the name tells.
func TestDamagedLargeFile(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"empty":           func([]byte) []byte { return nil },
		"short":           func(b []byte) []byte { return b[:len(b)/2] },
		"file header":     func(b []byte) []byte { b[20] ^= 1; return b },
		"entry header":    func(b []byte) []byte { b[headerSize+20] ^= 1; return b },
		"payload":         func(b []byte) []byte { b[5000] ^= 1; return b },
		"last byte of it": func(b []byte) []byte { b[headerSize+payloadOff+99_999] ^= 1; return b },
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true}
			s := openTest(t, o)
			put(t, s, testID(1), 1, testPayload(1, 100_000))
			path := place(s, testID(1)).file.path
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, o)
			_, err = s.Get(testID(1))
			wantErr(t, err, ErrCorrupt)
			var entries []Entry
			if err := s.Scan(func(e Entry) { entries = append(entries, e) }); err != nil {
				t.Fatal(err)
			}
			if len(entries) != 1 || entries[0].Err != ErrCorrupt || entries[0].ID != testID(1) {
				t.Errorf("scan: %+v", entries)
			}
			put(t, s, testID(1), 2, []byte("new"))
			wantGet(t, s, testID(1), []byte("new"))
		})
	}
}

// TestDamagedReplacement falls back to the entry before: it cannot be told from
// a replacement that a crash cut off before anybody was told.
func TestDamagedReplacement(t *testing.T) {
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true}
	s := openTest(t, o)
	put(t, s, testID(1), 1, []byte("first"))
	put(t, s, testID(1), 2, []byte("second"))
	r := place(s, testID(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(r.file.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0}, int64(r.off)+payloadOff); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, o)
	wantGet(t, s, testID(1), []byte("first"))
	if epoch, _ := s.Has(testID(1)); epoch != 1 {
		t.Errorf("epoch %d, want 1", epoch)
	}
}

// TestKeyChange never takes a missing key for missing entries.
func TestKeyChange(t *testing.T) {
	other := bytes.Repeat([]byte{8}, keySize)
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Key: testKey}
	s := openTest(t, o)
	put(t, s, testID(1), 1, []byte("small"))
	put(t, s, testID(2), 1, make([]byte, 100_000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for i, key := range [][]byte{nil, other} {
		name := fmt.Sprint("key ", i)
		o.Key = key
		s := openTest(t, o)
		for i := 1; i <= 2; i++ {
			_, err := s.Get(testID(i))
			wantErr(t, err, ErrKey)
		}
		said := map[ID]error{}
		if err := s.Scan(func(e Entry) { said[e.ID] = e.Err }); err != nil {
			t.Fatal(err)
		}
		if said[testID(1)] != ErrKey || said[testID(2)] != ErrKey || said[testID(3)] != nil {
			t.Errorf("%s: scan says %v", name, said)
		}
		put(t, s, testID(3), 1, []byte("under "+name))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	o.Key = testKey
	s = openTest(t, o)
	wantGet(t, s, testID(1), []byte("small"))
	wantGet(t, s, testID(2), make([]byte, 100_000))
}

// TestSealedBytesAreNotInTheFiles looks for the payload on disk.
func TestSealedBytesAreNotInTheFiles(t *testing.T) {
	for _, key := range [][]byte{nil, testKey} {
		o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Key: key}
		s := openTest(t, o)
		secret := []byte("a text that nobody else should read")
		put(t, s, testID(1), 1, secret)
		put(t, s, testID(2), 1, bytes.Repeat(secret, 3000))
		names, err := filepath.Glob(filepath.Join(o.Dir, "*.*"))
		if err != nil || len(names) < 2 {
			t.Fatal(names, err)
		}
		seen := false
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			seen = seen || bytes.Contains(b, secret)
		}
		if seen != (key == nil) {
			t.Errorf("key %v: text found in the files: %v", key != nil, seen)
		}
	}
}

// TestRecycledSegmentHasNoStaleEntries writes little over much.
func TestRecycledSegmentHasNoStaleEntries(t *testing.T) {
	clock := newTestClock()
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Now: clock.Now}
	s := openTest(t, o)
	paths := map[string]int{}
	for life := range 5 {
		for i := range 60 {
			id := testID(life*100 + i)
			put(t, s, id, 1, testPayload(i, 10_000))
			paths[place(s, id).file.path]++
			s.Free(id)
		}
		clock.advance(2 * reuseAfter)
	}
	// Five lives of 600 kB took three segments each; without recycling 13.
	if len(paths) > 5 {
		t.Errorf("%d segments were used", len(paths))
	}
	keep := testID(999)
	put(t, s, keep, 1, []byte("last"))
	path := place(s, keep).file.path
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, o)
	wantGet(t, s, keep, []byte("last"))
	last := place(s, keep).n
	for _, id := range s.ids() {
		if r := place(s, id); r.file.path == path && r.n > last {
			t.Errorf("stale entry %d is back in a recycled segment", idNumber(id))
		}
	}
}

// TestPayloadCannotPretendToBeAnEntry damages the header in front of a payload
// that is itself a well-formed segment with entries.
func TestPayloadCannotPretendToBeAnEntry(t *testing.T) {
	forged, _ := writeThree(t, Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true})
	image, err := os.ReadFile(forged)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true}
	s := openTest(t, o)
	put(t, s, testID(50), 1, append(make([]byte, 32), image[:4096]...)) // entries at multiples of 64
	put(t, s, testID(51), 1, []byte("behind"))
	r := place(s, testID(50))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(r.file.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{0}, int64(r.off)); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, o)
	wantGet(t, s, testID(51), []byte("behind"))
	if st := s.Stats(); st.Items != 1 {
		t.Errorf("%d entries, want the one behind the damage", st.Items)
	}
}
