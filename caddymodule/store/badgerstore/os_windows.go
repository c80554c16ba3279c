// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// statFree returns what the volume of a directory has free for us, and its size,
// in bytes.
func statFree(dir string) (free, total int64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, err
	}
	var f, t, all uint64
	if err := windows.GetDiskFreeSpaceEx(name, &f, &t, &all); err != nil {
		return 0, 0, err
	}
	return int64(f), int64(t), nil
}

// tryLock takes the lock of a file for this process; it reports false when
// another one has it.
func tryLock(f *os.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}
