// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// TestLargeGroups has more in one group than a transaction takes.
func TestLargeGroups(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, func(o *Options) { o.memTable = 0 })
	s := b.open(t, 1)
	const n = 12
	fill(t, b, s, 1, 0, n)
	var wg sync.WaitGroup
	answer := func(i int) []byte { return bytes.Repeat([]byte{byte('a' + i)}, maxValue-i) }
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = s.PutAnswer(ctx, testKey(i), answer(i)) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if err := s.PutAnswer(ctx, testKey(1), make([]byte, maxValue+1)); err == nil {
		t.Fatal("kept an answer that is too large")
	}
	b.crash(t, s)
	s = b.open(t, 2)
	defer s.Close()
	for i := range n {
		if got, err := s.Answer(ctx, testKey(i)); err != nil || !bytes.Equal(got, answer(i)) {
			t.Errorf("answer %d: %d bytes, %v", i, len(got), err)
		}
	}
}

// TestOrder writes old and new values of one key around a failure of the disk: a
// late retry must not win.
func TestOrder(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1).(*Store)
	key := []byte{nsMeta, 'x'}
	read := func() uint64 {
		n, err := s.readNumber(key)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	number := func(n byte) []kv { return []kv{{key: key, val: []byte{n, 7: 0}}} }
	b.fail(t, s, errors.New("injected"))
	for n := range byte(5) {
		s.commit.send(&request{urgency: lazy, entries: number(n + 1)})
		if err := s.commit.write(&request{entries: number(100)}); err == nil {
			t.Fatal("written")
		}
	}
	b.fail(t, s, nil)
	if err := s.commit.write(&request{entries: number(9)}); err != nil {
		t.Fatal(err)
	}
	if got := read(); got != 9 {
		t.Fatalf("value %d, want 9", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = b.open(t, 2).(*Store)
	defer s.Close()
	if got := read(); got != 9 {
		t.Fatalf("value %d after a restart, want 9", got)
	}
}

// TestCloseWithFailingDisk says what was lost.
func TestCloseWithFailingDisk(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1)
	if _, err := s.Reserve(context.Background(), testArrival(b, 1, 1)); err != nil {
		t.Fatal(err)
	}
	b.fail(t, s, errors.New("injected"))
	if err := apply(t, s, b, 1, delivery.Done); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "injected") {
		t.Fatalf("close: %v", err)
	}
}

func TestBreakDown(t *testing.T) {
	b := newBench(t, nil)
	s := b.open(t, 1).(*Store)
	fill(t, b, s, 1, 0, 3)
	broken := errors.New("input/output error")
	s.breakDown(broken)
	s.breakDown(errors.New("another one"))
	if _, _, err := s.Peek(context.Background(), testArrival(b, 1, 1)); !errors.Is(err, broken) {
		t.Fatalf("peek: %v", err)
	}
	if !errors.Is(s.Ready(), broken) {
		t.Fatalf("ready: %v", s.Ready())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	next := b.open(t, 2)
	defer next.Close()
	if _, err := next.Get(context.Background(), testKey(1)); err != nil {
		t.Fatal(err)
	}
}

func TestSlots(t *testing.T) {
	id := func(n byte) delivery.ID { return delivery.ID{n} }
	var s slots
	take := func(ids ...delivery.ID) (*request, *kv) {
		r := &request{claims: ids}
		slot, e := s.claim([]*request{r, {}})
		s.taken(slot, []*request{r, {}})
		return r, e
	}
	if r, e := take(); e != nil || r.slot != 0 {
		t.Fatalf("a slot for nothing: %d, %v", r.slot, e)
	}
	first, e := take(id(1), id(2))
	if first.slot != 1 || len(e.val) != 32 || slotNumber(e.key) != 0 {
		t.Fatalf("first slot: %d, %v", first.slot, e)
	}
	if second, _ := take(id(3)); second.slot != 2 {
		t.Fatalf("second slot: %d", second.slot)
	}
	s.left(1)
	if third, _ := take(id(4)); third.slot != 3 {
		t.Fatalf("took a slot that is in use: %d", third.slot)
	}
	s.left(1)
	if again, _ := take(id(5)); again.slot != 1 {
		t.Fatalf("did not use a free slot again: %d", again.slot)
	}
	if _, e := s.claim([]*request{{claims: []delivery.ID{id(6)}}}); slotNumber(e.key) != 3 {
		t.Fatalf("slot %d", slotNumber(e.key))
	}
	if _, e := s.claim([]*request{{claims: []delivery.ID{id(6)}}}); slotNumber(e.key) != 3 {
		t.Fatalf("a claim that failed took a slot: %d", slotNumber(e.key))
	}
}

// TestPeekDoesNotTrustWhatIsNotSynced looks at a delivery that was taken in and
// is visible in Badger, while its commit has not returned yet: answering "we have
// it" would be a lie if the power failed now.
func TestPeekDoesNotTrustWhatIsNotSynced(t *testing.T) {
	ctx := context.Background()
	reached, proceed := make(chan bool), make(chan error)
	var armed atomic.Bool
	b := newBench(t, func(o *Options) {
		o.Failpoint = func(point string) error {
			if point == PointAfterCommit && armed.CompareAndSwap(true, false) {
				reached <- true
				return <-proceed
			}
			return nil
		}
	})
	s := b.open(t, 1).(*Store)
	a := testArrival(b, 1, 1)
	a.Policy.Accept = true
	for _, outcome := range []error{errors.New("injected"), nil} {
		if err := s.commit.write(&request{entries: []kv{s.clockEntry()}}); err != nil { // and what waits before it
			t.Fatal(err)
		}
		armed.Store(true)
		done := make(chan error, 1)
		go func() {
			_, err := s.Reserve(ctx, a)
			done <- err
		}()
		<-reached
		v, err := s.read(testKey(1))
		if err != nil || v.kind != kindRecord {
			t.Fatalf("the record is not visible: %+v, %v", v, err)
		}
		if v, ok, err := s.Peek(ctx, a); ok || err != nil {
			t.Fatalf("peek: %s, %v, %v", v.Kind, ok, err)
		}
		proceed <- outcome
		if err := <-done; !errors.Is(err, outcome) {
			t.Fatalf("reserve: %v", err)
		}
		if _, ok, err := s.Peek(ctx, a); ok != (outcome == nil) || err != nil {
			t.Fatalf("peek after %v: %v, %v", outcome, ok, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestSlotsOfTheLastRun are dropped when nothing they name is running.
func TestSlotsOfTheLastRun(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, nil)
	s := b.open(t, 1)
	for i := range 40 {
		if _, err := s.Reserve(ctx, testArrival(b, 1, i)); err != nil {
			t.Fatal(err)
		}
	}
	b.crash(t, s)
	s = b.open(t, 2)
	if got, err := s.Recover(ctx, b.clock.Milli()); err != nil || len(got) != 40 {
		t.Fatalf("recovered %d, %v", len(got), err)
	}
	b.crash(t, s)
	s = b.open(t, 3)
	if _, err := s.Reserve(ctx, testArrival(b, 3, 99)); err != nil {
		t.Fatal(err)
	}
	left := 0
	err := s.(*Store).walk(ctx, []byte{nsSlot}, []byte{nsSlot}, func(_, _ []byte) (bool, error) {
		left++
		return true, nil
	})
	if err != nil || left != 1 {
		t.Fatalf("%d slots are left, %v", left, err)
	}
	b.crash(t, s)
	s = b.open(t, 4)
	defer s.Close()
	if got, err := s.Recover(ctx, b.clock.Milli()); err != nil || len(got) != 1 || got[0].ID != testKey(99) {
		t.Fatalf("recovered %v, %v", got, err)
	}
}

// TestManyDuplicates are answered however many there are; counting has a bound.
func TestManyDuplicates(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, nil)
	s := b.open(t, 1).(*Store)
	defer s.Close()
	fill(t, b, s, 1, 0, 200)
	s.counts.total.Store(maxCounts - 100)
	for i := range 200 {
		if v, ok, err := s.Peek(ctx, testArrival(b, 1, i)); !ok || err != nil || v.Kind != delivery.Duplicate {
			t.Fatalf("duplicate %d: %s, %v, %v", i, v.Kind, ok, err)
		}
	}
	if n := len(s.counts.ids()); n != 100 {
		t.Fatalf("%d are counted", n)
	}
	s.counts.total.Store(100)
	s.flushCounts()
	counted := 0
	for i := range 200 {
		r, err := s.Get(ctx, testKey(i))
		if err != nil {
			t.Fatal(err)
		}
		counted += int(r.Seen) - 1
	}
	if n := s.counts.total.Load(); counted != 100 || n != 0 {
		t.Fatalf("%d were written, %d are left", counted, n)
	}
}

// TestFailedReservationIsForgotten fails a commit that was written in part, and
// looks at what a killed process would leave then.
func TestFailedReservationIsForgotten(t *testing.T) {
	ctx := context.Background()
	b := newBench(t, nil)
	b.point = PointAfterCommit
	s := b.open(t, 1)
	b.fail(t, s, fmt.Errorf("injected"))
	if _, err := s.Reserve(ctx, testArrival(b, 1, 1)); err == nil {
		t.Fatal("reserved")
	}
	if _, err := s.Get(ctx, testKey(1)); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("get: %v", err)
	}
	b.crash(t, s)
	s = b.open(t, 2)
	defer s.Close()
	// Nobody knows that it was never sent, so a person decides.
	got, err := s.Recover(ctx, b.clock.Milli())
	if err != nil || len(got) > 1 {
		t.Fatalf("recovered %v, %v", got, err)
	}
	if v, err := s.Reserve(ctx, testArrival(b, 2, 1)); err != nil || v.Kind != delivery.Parked && v.Kind != delivery.First {
		t.Fatalf("%s, %v", v.Kind, err)
	}
}
