// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// BenchmarkPut2KiB measures put, wait and free of 2 KiB at several concurrencies.
func BenchmarkPut2KiB(b *testing.B) {
	for _, sync := range []bool{true, false} {
		for _, key := range [][]byte{nil, testKey} {
			for _, workers := range []int{1, 8, 64} {
				b.Run(fmt.Sprintf("sync=%v,sealed=%v,workers=%d", sync, key != nil, workers), func(b *testing.B) {
					s := openTest(b, Options{Dir: b.TempDir(), Sync: sync, Key: key})
					benchPut(b, s, workers)
				})
			}
		}
	}
}

func benchPut(b *testing.B, s *Spool, workers int) {
	payload := testPayload(1, 2048)
	b.SetBytes(int64(len(payload)))
	b.ReportAllocs()
	var next atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range workers {
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				id := testID(int(n))
				if err := s.Put(id, 1, payload).Wait(); err != nil {
					b.Error(err)
				}
				if err := s.SettleAndFree(id, 1, Mark{Class: 1, Status: 200, At: n}); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
}
