// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// HOOKONCE_BENCH_DIR puts the stores of the benchmarks on another disk,
// HOOKONCE_BENCH_KEYS is the largest store that look-ups are measured in.

func benchDir(b *testing.B) string {
	b.Helper()
	dir, err := os.MkdirTemp(os.Getenv("HOOKONCE_BENCH_DIR"), "hookonce-bench-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func benchOpen(b *testing.B, dir string, sync bool) *Store {
	b.Helper()
	o := NewOptions(dir)
	o.Sync, o.Boot, o.Ballast = sync, 1, -1
	s, err := Open(context.Background(), o)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func benchArrival(n uint64) *delivery.Arrival {
	var id delivery.ID
	binary.BigEndian.PutUint64(id[:], n*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(id[8:], n*0xd6e8feb86659fd93)
	return &delivery.Arrival{
		At: time.Now().UnixMilli(), Boot: 1, Source: "shop", Provider: "acme", Sender: "s1",
		DeliveryID: "evt_" + strconv.FormatUint(n, 36), SecretID: "k1", Strength: delivery.StrengthStrong,
		Body: delivery.Digest(id), Kept: true, Spool: id,
		Policy:   delivery.Policy{Window: 7 * day, BodyWindow: 90 * day},
		Identity: []delivery.Key{{ID: id, Kind: 'd', Signed: true}},
	}
}

// flow reserves and confirms, as a first delivery does.
func flow(s *Store, n uint64) error {
	a := benchArrival(n)
	if _, ok, err := s.Peek(context.Background(), a); ok || err != nil {
		return err
	}
	v, err := s.Reserve(context.Background(), a)
	if err != nil {
		return err
	}
	_, _, err = s.Apply(context.Background(), v.Record.ID, delivery.Event{
		Kind: delivery.Done, At: a.At, Epoch: v.Record.Epoch, Status: 200,
	})
	return err
}

func benchFlow(b *testing.B, workers int, sync bool) {
	s := benchOpen(b, benchDir(b), sync)
	var n atomic.Uint64
	b.ReportAllocs()
	b.ResetTimer()
	inParallel(workers, func() {
		for {
			i := n.Add(1)
			if i > uint64(b.N) {
				return
			}
			if err := flow(s, i); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
	st := s.Stats()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
	b.ReportMetric(float64(b.N)/float64(st.Commits), "events/group")
	b.ReportMetric(privateMB(), "private-MB")
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}

func inParallel(workers int, f func()) {
	var wg sync.WaitGroup
	for range workers {
		wg.Go(f)
	}
	wg.Wait()
}

func BenchmarkReserveDone1(b *testing.B)          { benchFlow(b, 1, true) }
func BenchmarkReserveDone8(b *testing.B)          { benchFlow(b, 8, true) }
func BenchmarkReserveDone64(b *testing.B)         { benchFlow(b, 64, true) }
func BenchmarkReserveDone1Unsynced(b *testing.B)  { benchFlow(b, 1, false) }
func BenchmarkReserveDone64Unsynced(b *testing.B) { benchFlow(b, 64, false) }

// BenchmarkRawSync is what the disk can do: one small append and one sync.
func BenchmarkRawSync(b *testing.B) {
	f, err := os.Create(filepath.Join(benchDir(b), "file"))
	if err != nil {
		b.Fatal(err)
	}
	entry := make([]byte, 150)
	for b.Loop() {
		if _, err := f.Write(entry); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "syncs/s")
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkPeek is a duplicate, by the size of the store.
func BenchmarkPeek(b *testing.B) {
	largest := uint64(100_000)
	if n, err := strconv.ParseUint(os.Getenv("HOOKONCE_BENCH_KEYS"), 10, 64); err == nil {
		largest = n
	}
	for keys := uint64(10_000); keys <= largest; keys *= 10 {
		dir := benchDir(b)
		loadElsewhere(b, dir, keys)
		start := time.Now()
		s := benchOpen(b, dir, true)
		opened := time.Since(start)
		// Once more with all tables read, so that nothing runs beside the look-ups.
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		o := NewOptions(dir)
		o.Boot, o.Ballast, o.verifyAll = 1, -1, true
		start = time.Now()
		s, err := Open(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		verified := time.Since(start)
		for _, c := range []struct {
			name string
			from uint64
		}{{"hit", 1}, {"miss", keys + 1}} {
			b.Run(strconv.FormatUint(keys, 10)+"/"+c.name, func(b *testing.B) {
				b.ReportAllocs()
				random := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					_, known, err := s.Peek(context.Background(), benchArrival(c.from+random.Uint64N(keys)))
					if err != nil || known != (c.from == 1) {
						b.Fatal(known, err)
					}
				}
				b.ReportMetric(float64(opened.Microseconds())/1000, "open-ms")
				b.ReportMetric(float64(verified.Microseconds())/1000, "open-and-verify-ms")
				b.ReportMetric(privateMB(), "private-MB")
			})
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// load fills a store with settled records, merges its tables and closes it.
func load(dir string, keys uint64) error {
	o := NewOptions(dir)
	o.Sync, o.Boot, o.Ballast = false, 1, -1
	s, err := Open(context.Background(), o)
	if err != nil {
		return err
	}
	var n atomic.Uint64
	failed := make(chan error, 256)
	inParallel(cap(failed), func() {
		for i := n.Add(1); i <= keys; i = n.Add(1) {
			if err := flow(s, i); err != nil {
				failed <- err
				return
			}
		}
	})
	close(failed)
	return errors.Join(<-failed, s.db.Flatten(2), s.Close())
}

// loadElsewhere loads in a process of its own, so that the memory that is
// measured is not that of loading.
func loadElsewhere(b *testing.B, dir string, keys uint64) {
	b.Helper()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childDir+"="+dir, childLoad+"="+strconv.FormatUint(keys, 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
}

// BenchmarkRecover starts after a kill with open attempts among settled records.
func BenchmarkRecover(b *testing.B) {
	const settled, attempts = 100_000, 10_000
	for b.Loop() {
		b.StopTimer()
		dir := benchDir(b)
		loadElsewhere(b, dir, settled)
		s := benchOpen(b, dir, false)
		var n atomic.Uint64
		inParallel(64, func() {
			for i := n.Add(1); i <= attempts; i = n.Add(1) {
				if _, err := s.Reserve(context.Background(), benchArrival(settled+i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		o := NewOptions(dir)
		o.Boot, o.Ballast = 2, -1
		next, err := Open(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		got, err := next.Recover(context.Background(), time.Now().UnixMilli())
		if err != nil || len(got) != attempts {
			b.Fatalf("recovered %d, %v", len(got), err)
		}
		b.StopTimer()
		if err := next.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// privateMB is the memory of this process that is not mapped files.
func privateMB() float64 {
	debug.FreeOSMemory()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "RssAnon:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1024
		}
	}
	return 0
}
