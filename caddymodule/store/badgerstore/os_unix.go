// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd

package badgerstore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// statFree returns what the file system of a directory has free for us, and its
// size, in bytes.
func statFree(dir string) (free, total int64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, err
	}
	unit := int64(st.Bsize) //nolint:unconvert // other systems have other types
	return int64(st.Bavail) * unit, int64(st.Blocks) * unit, nil
}

// tryLock takes the lock of a file for this process; it reports false when
// another one has it.
func tryLock(f *os.File) (bool, error) {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}
