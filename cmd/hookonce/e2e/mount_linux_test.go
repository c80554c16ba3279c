// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// volume is a small file system of a test. Making one needs root; without it the
// test fails, because what it is for cannot be seen elsewhere.
type volume struct {
	dir    string
	filler string
	image  string // of ext4
}

// mountTmpfs mounts a file system in memory.
func mountTmpfs(t *testing.T, mib int) *volume {
	t.Helper()
	v := newVolume(t)
	if err := syscall.Mount("hookonce-e2e", v.dir, "tmpfs", 0, fmt.Sprintf("size=%dm,mode=0700", mib)); err != nil {
		t.Fatalf("mounting a tmpfs (this test needs root): %v", err)
	}
	v.unmountAfter(t)
	return v
}

// mountExt4 mounts a journaling file system in a file.
func mountExt4(t *testing.T, mib int) *volume {
	t.Helper()
	v := newVolume(t)
	v.image = filepath.Join(t.TempDir(), "image")
	if err := os.WriteFile(v.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(v.image, int64(mib)<<20); err != nil {
		t.Fatal(err)
	}
	command(t, "mkfs.ext4", "-q", "-F", "-m", "0", v.image)
	command(t, "mount", "-o", "loop", v.image, v.dir)
	v.unmountAfter(t)
	return v
}

// remount mounts an ext4 anew, which repairs it from its journal.
func (v *volume) remount(t *testing.T) {
	t.Helper()
	if err := syscall.Unmount(v.dir, 0); err != nil {
		t.Fatal(err)
	}
	command(t, "mount", "-o", "loop", v.image, v.dir)
}

// breakDisk makes an ext4 read-only, as the kernel does after an error.
func (v *volume) breakDisk(t *testing.T) {
	t.Helper()
	command(t, "mount", "-o", "remount,abort", v.dir)
}

func command(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v (this test needs root): %v\n%s", args, err, out)
	}
}

func newVolume(t *testing.T) *volume {
	t.Helper()
	dir := t.TempDir()
	return &volume{dir: dir, filler: filepath.Join(dir, "filler")}
}

func (v *volume) unmountAfter(t *testing.T) {
	t.Cleanup(func() {
		if err := syscall.Unmount(v.dir, 0); err != nil {
			t.Errorf("unmounting %s: %v", v.dir, err)
		}
	})
}

// fill writes to another file until nothing is left, as a log does that nobody
// looks after, at 250 MiB a second.
func (v *volume) fill(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(v.filler, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	chunk := make([]byte, 256<<10)
	pace := time.NewTicker(time.Millisecond)
	defer pace.Stop()
	for ; ; <-pace.C {
		if _, err := f.Write(chunk); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			return
		}
	}
}

// free gives the space back.
func (v *volume) free(t *testing.T) {
	t.Helper()
	if err := os.Remove(v.filler); err != nil {
		t.Fatal(err)
	}
}

// left is the free space in bytes.
func (v *volume) left(t *testing.T) int64 {
	t.Helper()
	var st syscall.Statfs_t
	if err := syscall.Statfs(v.dir, &st); err != nil {
		t.Fatal(err)
	}
	return int64(st.Bavail) * st.Bsize
}
