// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"
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
	clock := newTestClock()
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Now: clock.Now}
	s := openTest(t, o)
	put(t, s, testID(0), 1, nil)
	if err := s.SettleAndFree(testID(0), 1, Mark{Class: 3, At: 7}); err != nil {
		t.Fatal(err)
	}
	for i := range 15 { // 60 kB each, four in a segment
		put(t, s, testID(1+i), 1, make([]byte, 60_000))
		s.Free(testID(1 + i))
	}
	clock.advance(reuseAfter - 1)
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

// TestLaterPutWinsWhateverIsFasterOnDisk holds back a large first Put until the
// small second one is durable.
func TestLaterPutWinsWhateverIsFasterOnDisk(t *testing.T) {
	goOn := make(chan error)
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Failpoint: func(step string) error {
		if step == "file.sync" {
			return <-goOn
		}
		return nil
	}}
	s := openTest(t, o)
	slow := s.Put(testID(1), 1, make([]byte, 100_000))
	put(t, s, testID(1), 2, []byte("later"))
	goOn <- nil
	if err := slow.Wait(); err != nil {
		t.Fatal(err)
	}
	wantGet(t, s, testID(1), []byte("later"))
	if st := s.Stats(); st.Items != 1 || st.Files != 0 || st.Bytes != footprint(5) {
		t.Errorf("%+v", st)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantGet(t, openTest(t, o), testID(1), []byte("later"))
}

// TestFreeWhileMoving frees an entry after it was copied and before the copy
// counts. It must not come back.
func TestFreeWhileMoving(t *testing.T) {
	hold, goOn := make(chan struct{}, 1), make(chan error)
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Failpoint: func(step string) error {
		if step == "segment.sync" {
			select {
			case <-hold:
				return <-goOn
			default:
			}
		}
		return nil
	}}
	s := openTest(t, o)
	put(t, s, testID(1), 1, []byte("moving"))
	r := place(s, testID(1))
	ticket := s.copyOf(r, entryHeader{id: testID(1), n: r.n, epoch: 1})
	hold <- struct{}{}
	s.start(ticket)
	s.Free(testID(1))
	goOn <- nil
	if err := ticket.Wait(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Get(testID(1))
	wantErr(t, err, ErrNotFound)
	if st := s.Stats(); st.Items != 0 || st.Bytes != 0 {
		t.Errorf("%+v", st)
	}
}

// TestMarkAfterMoving marks an entry again that was moved with a mark. The older
// copy is still on the disk and must not win at the next start.
func TestMarkAfterMoving(t *testing.T) {
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize}
	s := openTest(t, o)
	put(t, s, testID(1), 1, []byte("moving"))
	for at := range int64(4) {
		if err := s.Settle(testID(1), 1, Mark{At: at}); err != nil {
			t.Fatal(err)
		}
		r := place(s, testID(1))
		ticket := s.copyOf(r, entryHeader{id: testID(1), n: r.n, epoch: 1, moves: r.moves})
		s.start(ticket)
		if err := ticket.Wait(); err != nil {
			t.Fatal(err)
		}
	}
	last := Mark{Class: 5, Epoch: 2, At: 9}
	if err := s.Settle(testID(1), 2, last); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, o)
	if err := s.Scan(func(e Entry) {
		if e.Mark != last {
			t.Errorf("mark %+v, want %+v", e.Mark, last)
		}
	}); err != nil {
		t.Fatal(err)
	}
}
