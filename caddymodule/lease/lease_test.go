// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package lease

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

// resource finds out about double opens and closes and about use after close.
type resource struct {
	place  *place
	closed atomic.Bool
}

// place is what can be open once, like a directory.
type place struct {
	open  atomic.Int32
	opens atomic.Int32
	fail  func() error // nil: opens do not fail
}

var (
	errDouble = errors.New("opened while it was open")
	errTwice  = errors.New("closed twice")
	errUse    = errors.New("used after close")
)

func (p *place) Open() (*resource, error) {
	if p.fail != nil {
		if err := p.fail(); err != nil {
			return nil, err
		}
	}
	if p.open.Add(1) != 1 {
		return nil, errDouble
	}
	p.opens.Add(1)
	return &resource{place: p}, nil
}

func (r *resource) Use() error {
	runtime.Gosched()
	if r.closed.Load() {
		return errUse
	}
	return nil
}

func (r *resource) Close() error {
	if r.closed.Swap(true) {
		return errTwice
	}
	r.place.open.Add(-1)
	return nil
}

func acquire(t testing.TB, r *Registry[*resource], key string, p *place) *Lease[*resource] {
	t.Helper()
	l, err := r.Acquire(context.Background(), key, p.Open, (*resource).Close)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t testing.TB, l *Lease[*resource]) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

func wantIdle(t testing.TB, r *Registry[*resource], p *place) {
	t.Helper()
	if n := p.open.Load(); n != 0 {
		t.Errorf("%d left open", n)
	}
	if len(r.slots) != 0 {
		t.Errorf("%d slots left", len(r.slots))
	}
}

func TestLastReleaseCloses(t *testing.T) {
	var r Registry[*resource]
	var p place
	a := acquire(t, &r, "k", &p)
	b := acquire(t, &r, "k", &p)
	if a.Value() != b.Value() || p.opens.Load() != 1 {
		t.Fatalf("opened %d times", p.opens.Load())
	}
	release(t, a)
	release(t, a)
	release(t, a)
	if err := b.Value().Use(); err != nil {
		t.Fatal(err)
	}
	c, err := b.Clone()
	if err != nil {
		t.Fatal(err)
	}
	release(t, b)
	if err := c.Value().Use(); err != nil {
		t.Fatal(err)
	}
	release(t, c)
	wantIdle(t, &r, &p)
	for _, l := range []*Lease[*resource]{a, b, c} {
		if _, err := l.Clone(); !errors.Is(err, ErrReleased) {
			t.Errorf("clone of a released lease: %v", err)
		}
	}
	release(t, acquire(t, &r, "k", &p))
	if p.opens.Load() != 2 {
		t.Errorf("opened %d times, want 2", p.opens.Load())
	}
	wantIdle(t, &r, &p)
}

func TestKeysAreIndependent(t *testing.T) {
	var r Registry[*resource]
	var p, q place
	a, b := acquire(t, &r, "a", &p), acquire(t, &r, "b", &q)
	if a.Value() == b.Value() {
		t.Error("two keys share a resource")
	}
	release(t, a)
	if err := b.Value().Use(); err != nil {
		t.Error(err)
	}
	release(t, b)
	wantIdle(t, &r, &p)
}

func TestFailedOpenIsNotRemembered(t *testing.T) {
	var r Registry[*resource]
	broken := errors.New("broken")
	p := place{fail: func() error { return broken }}
	if _, err := r.Acquire(context.Background(), "k", p.Open, (*resource).Close); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	wantIdle(t, &r, &p)
	p.fail = nil
	release(t, acquire(t, &r, "k", &p))
	wantIdle(t, &r, &p)
}

func TestPanickingOpenLeavesTheSlotUsable(t *testing.T) {
	var r Registry[*resource]
	p := place{fail: func() error { panic("boom") }}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = r.Acquire(context.Background(), "k", p.Open, (*resource).Close)
	}()
	p.fail = nil
	release(t, acquire(t, &r, "k", &p))
	wantIdle(t, &r, &p)
}

func TestCloseErrorIsReturned(t *testing.T) {
	var r Registry[int]
	bad := errors.New("bad close")
	l, err := r.Acquire(context.Background(), "k", func() (int, error) { return 7, nil }, func(int) error { return bad })
	if err != nil || l.Value() != 7 {
		t.Fatal(l, err)
	}
	if err := l.Release(); !errors.Is(err, bad) {
		t.Errorf("release: %v", err)
	}
	if err := l.Release(); err != nil {
		t.Errorf("second release: %v", err)
	}
}

// TestWaiterDuringOpen: who comes while the resource is opened shares it, and who
// gives up leaves no trace.
func TestWaiterDuringOpen(t *testing.T) {
	var r Registry[*resource]
	opening, goOn := make(chan struct{}), make(chan struct{})
	p := place{fail: func() error { close(opening); <-goOn; return nil }}
	first := make(chan *Lease[*resource])
	go func() { first <- acquire(t, &r, "k", &p) }()
	<-opening

	ctx, cancel := context.WithCancelCause(context.Background())
	impatient := errors.New("impatient")
	cancel(impatient)
	if _, err := r.Acquire(ctx, "k", p.Open, (*resource).Close); !errors.Is(err, impatient) {
		t.Errorf("waiter that gives up: %v", err)
	}
	second := make(chan *Lease[*resource])
	go func() { second <- acquire(t, &r, "k", &p) }()
	waitUsers(&r, "k", 2)
	close(goOn)
	a, b := <-first, <-second
	if a.Value() != b.Value() || p.opens.Load() != 1 {
		t.Errorf("opened %d times", p.opens.Load())
	}
	release(t, a)
	release(t, b)
	wantIdle(t, &r, &p)
}

// waitUsers yields until the slot has n users.
func waitUsers[T any](r *Registry[T], key string, n int) {
	for {
		r.mu.Lock()
		s := r.slots[key]
		ready := s != nil && s.users == n
		r.mu.Unlock()
		if ready {
			return
		}
		runtime.Gosched()
	}
}

// TestWaiterDuringClose: who comes while the resource is closed waits for it and
// opens again.
func TestWaiterDuringClose(t *testing.T) {
	var r Registry[*resource]
	var p place
	closing, goOn := make(chan struct{}), make(chan struct{})
	l, err := r.Acquire(context.Background(), "k", p.Open, func(v *resource) error {
		close(closing)
		<-goOn
		return v.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
	released := make(chan error)
	go func() { released <- l.Release() }()
	<-closing
	if _, err := l.Clone(); !errors.Is(err, ErrReleased) {
		t.Errorf("clone while closing: %v", err)
	}
	next := make(chan *Lease[*resource])
	go func() { next <- acquire(t, &r, "k", &p) }()
	waitUsers(&r, "k", 2)
	close(goOn)
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	release(t, <-next)
	if p.opens.Load() != 2 {
		t.Errorf("opened %d times, want 2", p.opens.Load())
	}
	wantIdle(t, &r, &p)
}

// TestOverlappingLeases runs twelve goroutines with eighty leases each, with
// clones that outlive them, failing opens and waiters that give up.
func TestOverlappingLeases(t *testing.T) {
	var r Registry[*resource]
	flaky := errors.New("flaky")
	var tries atomic.Int32
	p := place{fail: func() error {
		if tries.Add(1)%5 == 0 {
			return flaky
		}
		return nil
	}}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	var all, clones sync.WaitGroup
	for w := range 12 {
		all.Go(func() {
			for i := range 80 {
				ctx := context.Background()
				if (w+i)%7 == 0 {
					ctx = gone
				}
				l, err := r.Acquire(ctx, "k", p.Open, (*resource).Close)
				if err != nil {
					if !errors.Is(err, flaky) && !errors.Is(err, context.Canceled) {
						t.Error(err)
					}
					continue
				}
				clones.Go(func() { useClone(t, l) })
				if err := errors.Join(l.Value().Use(), l.Release(), l.Release()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	clones.Wait()
	wantIdle(t, &r, &p)
	if p.opens.Load() == 0 {
		t.Error("never opened")
	}
}

// useClone clones a lease that may be released at the same moment.
func useClone(t *testing.T, l *Lease[*resource]) {
	c, err := l.Clone()
	if errors.Is(err, ErrReleased) {
		return
	}
	if err := errors.Join(err, c.Value().Use(), c.Release(), c.Release()); err != nil {
		t.Error(err)
	}
}

func TestDirKey(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	real := filepath.Join(root, "real")
	link := filepath.Join(root, "link")
	if err := errors.Join(os.Mkdir(real, 0o700), os.Symlink(real, link)); err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	for given, want := range map[string]string{
		real:                           real,
		link:                           real,
		link + "/":                     real,
		root + "/./x/../real":          real,
		"link":                         real,
		"link/not/there":               real + "/not/there",
		filepath.Join(root, "nothing"): root + "/nothing",
		"/":                            "/",
	} {
		got, err := DirKey(given)
		if err != nil || got != want {
			t.Errorf("key of %s is %s (%v), want %s", given, got, err, want)
		}
	}
	loop := filepath.Join(root, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	if got, err := DirKey(loop); err == nil {
		t.Errorf("key of a link to itself: %s", got)
	}
}

func BenchmarkClone(b *testing.B) {
	var r Registry[*resource]
	var p place
	l := acquire(b, &r, "k", &p)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c, err := l.Clone()
			if err != nil {
				b.Error(err)
				return
			}
			if err := c.Release(); err != nil {
				b.Error(err)
			}
		}
	})
	release(b, l)
}
