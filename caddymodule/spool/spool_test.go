// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
)

// testID makes an ID from a number.
func testID(n int) ID {
	var id ID
	copy(id[:], fmt.Sprintf("%016d", n))
	return id
}

// testPayload makes n bytes that depend on the seed.
func testPayload(seed, n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
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
