// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// mountSmall mounts a file system of the given size in KiB. It needs root.
func mountSmall(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size+"k"); err != nil {
		t.Fatalf("mounting a small file system (this test needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Errorf("unmounting: %v", err)
		}
	})
	return dir
}

// TestFullDisk fills a file system, loses nothing, and goes on when there is room.
func TestFullDisk(t *testing.T) {
	variants(t, func(t *testing.T, o Options) {
		root := mountSmall(t, "2048")
		ballast := filepath.Join(root, "ballast")
		if err := os.WriteFile(ballast, make([]byte, 512<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		o.Dir = filepath.Join(root, "spool")
		s := openTest(t, o)
		n := 0
		var err error
		for ; err == nil; n++ {
			err = s.Put(testID(n), 1, testPayload(n, 20_000)).Wait()
		}
		n--
		if !errors.Is(err, unix.ENOSPC) || n < 30 {
			t.Fatalf("after %d entries: %v", n, err)
		}
		wantErr(t, s.Put(testID(5000), 1, make([]byte, 600<<10)).Wait(), unix.ENOSPC)
		if left, _ := filepath.Glob(filepath.Join(o.Dir, "*"+singleExt+tempExt)); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		for i := range n {
			wantGet(t, s, testID(i), testPayload(i, 20_000))
		}

		for i := range 13 { // the first segment, at least
			s.Free(testID(i))
		}
		// The housekeeper may be about to give a freed segment back to the disk; what
		// matters is that room comes back without anybody's help.
		for try := 0; ; try++ {
			err = s.Put(testID(n), 1, testPayload(n, 20_000)).Wait()
			if err == nil {
				break
			}
			if !errors.Is(err, unix.ENOSPC) || try > 10_000 {
				t.Fatalf("after freeing a segment: %v", err)
			}
		}

		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
		put(t, s, testID(5001), 1, testPayload(7, 150<<10))
		for i := 1; i <= 12; i++ {
			put(t, s, testID(n+i), 1, testPayload(n+i, 20_000))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = openTest(t, o)
		for i := 13; i <= n+12; i++ {
			wantGet(t, s, testID(i), testPayload(i, 20_000))
		}
		wantGet(t, s, testID(5001), testPayload(7, 150<<10))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(o.Dir, "*"+tempExt)); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	})
}

// unflushed returns the number of pages of a file that are not on the disk yet.
// Linux tells since 6.5.
func unflushed(t *testing.T, path string) uint64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	var stat unix.Cachestat_t
	whole := unix.CachestatRange{Len: uint64(info.Size())}
	if err := unix.Cachestat(uint(f.Fd()), &whole, &stat, 0); err != nil {
		t.Fatalf("asking the kernel for dirty pages: %v", err)
	}
	return stat.Dirty + stat.Writeback
}

// TestWaitMeansFlushed asks the kernel whether acknowledged bytes are on the disk,
// which no kill of a process could show. The temporary directory has to be on one.
func TestWaitMeansFlushed(t *testing.T) {
	variants(t, func(t *testing.T, o Options) {
		s := openTest(t, o)
		for i, size := range []int{10, 3000, 100_000, InlineMax - sealOverhead, 20} {
			put(t, s, testID(i), 1, testPayload(i, size))
			n := unflushed(t, place(s, testID(i)).file.path)
			if (n > 0) == o.Sync {
				t.Errorf("%d bytes put: %d pages are not on the disk", size, n)
			}
		}
	})
}
