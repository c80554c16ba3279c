// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// faults makes chosen steps fail.
type faults struct {
	mu   sync.Mutex
	fail map[string]error
}

func (f *faults) set(step string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		f.fail = map[string]error{}
	}
	f.fail[step] = err
}

func (f *faults) point(step string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fail[step]
}

// TestFailedStepReachesTheWaiter fails each step once in turn. The caller hears of
// it, what was there before stays, and the next Put works.
func TestFailedStepReachesTheWaiter(t *testing.T) {
	const large = 100_000
	for _, c := range []struct {
		step string
		size int
	}{
		{"segment.write", 10},
		{"segment.sync", 10},
		{"file.write", large},
		{"file.sync", large},
		{"file.rename", large},
		{"dir.sync", large},
	} {
		t.Run(c.step, func(t *testing.T) {
			var f faults
			o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Key: testKey, Failpoint: f.point}
			s := openTest(t, o)
			put(t, s, testID(1), 1, testPayload(1, c.size))
			first := s.Stats()
			f.set(c.step, syscall.EIO)
			wantErr(t, s.Put(testID(1), 2, testPayload(2, c.size)).Wait(), syscall.EIO)
			wantErr(t, s.Put(testID(2), 1, testPayload(3, c.size)).Wait(), syscall.EIO)
			f.set(c.step, nil)
			wantGet(t, s, testID(1), testPayload(1, c.size))
			_, err := s.Get(testID(2))
			wantErr(t, err, ErrNotFound)
			if st := s.Stats(); st.Items != 1 || st.Bytes != first.Bytes || st.Files != first.Files {
				t.Errorf("stats after failures %+v, before %+v", st, first)
			}
			if tmp, _ := filepath.Glob(filepath.Join(o.Dir, "*"+singleExt+tempExt)); len(tmp) != 0 {
				t.Errorf("left behind: %v", tmp)
			}
			put(t, s, testID(3), 1, testPayload(4, c.size))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, o)
			wantGet(t, s, testID(3), testPayload(4, c.size))
		})
	}
}

// TestSegmentCannotBeMade fails the making of the first segment.
func TestSegmentCannotBeMade(t *testing.T) {
	for _, step := range []string{"segment.create", "file.rename", "dir.sync"} {
		var f faults
		f.set(step, syscall.EIO)
		dir := t.TempDir()
		s := openTest(t, Options{Dir: dir, SegmentSize: minSegmentSize, Sync: true, Failpoint: f.point})
		wantErr(t, s.Put(testID(1), 1, nil).Wait(), syscall.EIO)
		f.set(step, nil)
		put(t, s, testID(1), 1, nil)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*"+tempExt)); len(left) != 0 {
			t.Errorf("%s left %v", step, left)
		}
	}
}

// TestFailedFlushFailsTheGroupAndTheSegment holds one flush back until more Puts
// wait, and fails the flush that they share.
func TestFailedFlushFailsTheGroupAndTheSegment(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan error)
	var armed sync.Once
	syncs := 0 // touched by the committer alone
	o := Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Sync: true, Failpoint: func(step string) error {
		if step != "segment.sync" {
			return nil
		}
		if syncs++; syncs == 1 {
			armed.Do(func() { close(reached) })
			return <-goOn
		}
		if syncs == 2 {
			return syscall.EIO
		}
		return nil
	}}
	s := openTest(t, o)
	first := s.Put(testID(0), 1, []byte("first"))
	<-reached
	var group []*Ticket
	for i := 1; i <= 20; i++ {
		group = append(group, s.Put(testID(i), 1, []byte("lost")))
	}
	goOn <- nil
	if err := first.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, ticket := range group {
		wantErr(t, ticket.Wait(), syscall.EIO)
	}
	old := place(s, testID(0)).file
	put(t, s, testID(30), 1, []byte("after"))
	if now := place(s, testID(30)).file; now == old {
		t.Error("the segment whose flush failed took another entry")
	}
	if syncs != 3 {
		t.Errorf("%d flushes for 22 entries, want 3", syncs)
	}
	wantGet(t, s, testID(0), []byte("first"))
	s.Free(testID(0))
	s.sweep(time.Now())
	if _, err := os.Stat(old.path); !os.IsNotExist(err) {
		t.Errorf("the worn segment was kept for recycling: %v", err)
	}
}

// TestMarkFailureStillFrees keeps a full disk from filling the spool for ever.
func TestMarkFailureStillFrees(t *testing.T) {
	var f faults
	s := openTest(t, Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Failpoint: f.point})
	put(t, s, testID(1), 1, nil)
	f.set("mark.write", syscall.EIO)
	wantErr(t, s.SettleAndFree(testID(1), 1, Mark{}), syscall.EIO)
	_, err := s.Get(testID(1))
	wantErr(t, err, ErrNotFound)
}

// TestRandomSourceFails refuses to seal without randomness.
func TestRandomSourceFails(t *testing.T) {
	s := openTest(t, Options{Dir: t.TempDir(), SegmentSize: minSegmentSize, Key: testKey, Rand: emptyReader{}})
	wantErr(t, s.Put(testID(1), 1, nil).Wait(), errEmpty)
	wantErr(t, s.Put(testID(1), 1, make([]byte, 100_000)).Wait(), errEmpty)
	if st := s.Stats(); st.Items != 0 || st.Bytes != 0 {
		t.Errorf("%+v", st)
	}
}

type emptyReader struct{}

var errEmpty = fmt.Errorf("no randomness")

func (emptyReader) Read([]byte) (int, error) { return 0, errEmpty }

// TestOldEntriesDoNotPinSegments keeps one entry in a hundred for ever.
func TestOldEntriesDoNotPinSegments(t *testing.T) {
	variants(t, func(t *testing.T, o Options) {
		clock := newTestClock()
		o.Now = clock.Now
		s := openTest(t, o)
		var kept []int
		for i := range 2000 {
			put(t, s, testID(i), 1, testPayload(i, 4000))
			if i%100 != 0 {
				s.Free(testID(i))
				continue
			}
			kept = append(kept, i)
			if err := s.Settle(testID(i), 3, Mark{Class: 9, At: int64(i)}); err != nil {
				t.Fatal(err)
			}
			clock.advance(reuseAfter)
		}
		s.tidy()
		// 2000 entries took 32 segments; 20 that live fit into one.
		s.mu.Lock()
		holding := len(s.segments) - len(s.spares)
		s.mu.Unlock()
		if holding > minSegments+2 {
			t.Errorf("%d segments hold %d bytes", holding, s.Stats().Bytes)
		}
		check := func() {
			t.Helper()
			marks := map[ID]Mark{}
			if err := s.Scan(func(e Entry) { marks[e.ID] = e.Mark }); err != nil {
				t.Fatal(err)
			}
			for _, i := range kept {
				wantGet(t, s, testID(i), testPayload(i, 4000))
				if m := marks[testID(i)]; m != (Mark{Class: 9, Epoch: 3, At: int64(i)}) {
					t.Errorf("mark of %d after moving: %+v", i, m)
				}
			}
		}
		check()
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, o)
		check()
	})
}

// TestSparseSegmentsGiveTheirSpaceBack fills the spool, frees three of four
// entries in each segment, and asks for the room that this makes.
func TestSparseSegmentsGiveTheirSpaceBack(t *testing.T) {
	variants(t, func(t *testing.T, o Options) {
		o.MaxSize = 8 * minSegmentSize
		s := openTest(t, o)
		n := 0
		var err error
		for ; err == nil; n++ {
			err = s.Put(testID(n), 1, testPayload(n, 60_000)).Wait()
		}
		wantErr(t, err, ErrFull)
		if n < 30 {
			t.Fatalf("full after %d entries", n)
		}
		for round := range 5 {
			first := 1000 * round
			for i := range 34 {
				if i%4 != 0 || round > 0 {
					s.Free(testID(first + i))
				}
			}
			first += 1000
			for i := range 18 {
				err := s.Put(testID(first+i), 1, testPayload(i, 60_000)).Wait()
				// The housekeeper tidies up at the same time, so one round of ours may
				// find nothing left to move while its moves are still on their way.
				for try := 0; errors.Is(err, ErrFull) && try < 1000; try++ {
					s.tidy()
					err = s.Put(testID(first+i), 1, testPayload(i, 60_000)).Wait()
				}
				if err != nil {
					t.Fatalf("round %d, entry %d: %v; %+v", round, i, err, s.Stats())
				}
			}
			if st := s.Stats(); st.Disk > o.MaxSize+3*minSegmentSize {
				t.Errorf("%d bytes on disk", st.Disk)
			}
		}
		for i := 0; i < n-1; i += 4 {
			wantGet(t, s, testID(i), testPayload(i, 60_000))
		}
	})
}
