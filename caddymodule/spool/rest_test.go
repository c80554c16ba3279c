// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// A store may write an outcome a moment after its entry was freed. A process that
// is killed in that moment finds the mark at its next start, of a large entry no
// less than of a small one.
func TestMarkOutlivesFree(t *testing.T) {
	for name, size := range map[string]int{"segment": 100, "file": 2 * InlineMax} {
		t.Run(name, func(t *testing.T) {
			clock := newTestClock()
			var held atomic.Bool // asked by the housekeeper too
			o := Options{Dir: t.TempDir(), Now: clock.Now, Hold: held.Load}
			s := openTest(t, o)
			put(t, s, testID(1), 1, testPayload(1, size))
			if err := s.SettleAndFree(testID(1), 1, Mark{Class: 2}); err != nil {
				t.Fatal(err)
			}
			s.tidy()
			killed := openTest(t, Options{Dir: copyOfDir(t, o.Dir)})
			found := 0
			if err := killed.Scan(func(e Entry) {
				if e.ID == testID(1) && e.Mark.Class == 2 {
					found++
				}
			}); err != nil {
				t.Fatal(err)
			}
			if found != 1 {
				t.Errorf("%d marks after the kill, want 1", found)
			}
			clock.advance(2 * reuseAfter)
			held.Store(true)
			s.tidy()
			if left, _ := filepath.Glob(filepath.Join(o.Dir, "*"+singleExt)); size > InlineMax && len(left) != 1 {
				t.Errorf("removed although the outcome is not written: %v", left)
			}
			if s.takeSpare(clock.Now()) != nil {
				t.Error("written over although the outcome is not written")
			}
			held.Store(false)
			s.tidy()
			if left, _ := filepath.Glob(filepath.Join(o.Dir, "*"+singleExt)); len(left) != 0 {
				t.Errorf("not removed in the end: %v", left)
			}
		})
	}
}

// copyOfDir is what a killed process leaves to the next one.
func copyOfDir(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}
