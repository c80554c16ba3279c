// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"
)

// TestConcurrentUse has several goroutines put, read, settle and free a few IDs
// in segments that change all the time. Whatever is read is a payload of its ID,
// of no earlier epoch than one that was durable before the read.
func TestConcurrentUse(t *testing.T) {
	variants(t, func(t *testing.T, o Options) {
		s := openTest(t, o)
		var writers, readers sync.WaitGroup
		done := make(chan struct{})
		const ids, rounds = 8, 64
		for n := range ids {
			writers.Go(func() {
				for epoch := uint32(1); epoch <= rounds; epoch++ {
					if err := concurrentRound(s, n, epoch); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		readers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				n := i % ids
				got, err := s.Get(testID(n))
				if err == nil {
					err = concurrentCheck(n, got, 0)
				}
				if err != nil && !errors.Is(err, ErrNotFound) {
					t.Error(err)
					return
				}
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					s.tidy()
				}
			}
		})
		writers.Wait()
		close(done)
		readers.Wait()
		if st := s.Stats(); st.Items != ids {
			t.Errorf("%+v, want %d items", st, ids)
		}
	})
}

// concurrentRound is one life of an ID: every other one is freed at its end, and
// the last one stays.
func concurrentRound(s *Spool, n int, epoch uint32) error {
	id := testID(n)
	size := 500 + int(epoch)*977%60_000
	if epoch%16 == 0 {
		size += InlineMax
	}
	payload := bytes.Repeat([]byte{byte(n), byte(epoch)}, size/2)
	if err := s.Put(id, epoch, payload).Wait(); err != nil {
		return err
	}
	got, err := s.Get(id)
	if err != nil {
		return err
	}
	if err := concurrentCheck(n, got, epoch); err != nil {
		return err
	}
	if epoch%2 == 0 {
		return s.Settle(id, epoch, Mark{At: 1})
	}
	return s.SettleAndFree(id, epoch, Mark{At: 2})
}

func concurrentCheck(n int, got []byte, epoch uint32) error {
	if len(got) < 2 || got[0] != byte(n) || epoch != 0 && got[1] != byte(epoch) {
		return fmt.Errorf("id %d, epoch %d: read %d bytes of another entry", n, epoch, len(got))
	}
	if !bytes.Equal(got, bytes.Repeat(got[:2], len(got)/2)) {
		return fmt.Errorf("id %d: read a mixture", n)
	}
	return nil
}

// TestMarksOfFreedEntriesStayAWhile: a store may write late that an attempt has
// ended, so a start right after a crash still wants the mark.
func TestMarksOfFreedEntriesStayAWhile(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Now: func() time.Time { return now }}
	s := openTest(t, o)
	put(t, s, testID(0), 1, nil)
	if err := s.SettleAndFree(testID(0), 1, Mark{Class: 3, At: 7}); err != nil {
		t.Fatal(err)
	}
	for i := range 15 { // 60 kB each, four in a segment
		put(t, s, testID(1+i), 1, make([]byte, 60_000))
		s.Free(testID(1 + i))
	}
	now = now.Add(reuseAfter - 1)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, o)
	var found Entry
	if err := s.Scan(func(e Entry) {
		if e.ID == testID(0) {
			found = e
		}
	}); err != nil {
		t.Fatal(err)
	}
	if found.Mark != (Mark{Class: 3, Epoch: 1, At: 7}) {
		t.Errorf("found %+v", found)
	}
}

// TestRetainSparesWhatWasPutSince keeps entries that the store's list is too old for.
func TestRetainSparesWhatWasPutSince(t *testing.T) {
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize}
	s := openTest(t, o)
	put(t, s, testID(1), 1, nil)
	put(t, s, testID(2), 1, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, o)
	put(t, s, testID(2), 2, []byte("again"))
	put(t, s, testID(3), 1, nil)
	if n := s.Retain(func(ID) bool { return false }); n != 1 {
		t.Errorf("%d dropped, want 1", n)
	}
	wantGet(t, s, testID(2), []byte("again"))
	wantGet(t, s, testID(3), nil)
}
