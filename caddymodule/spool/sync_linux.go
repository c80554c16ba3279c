// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// preallocate takes the blocks of a file at once, or finds out that the disk is
// full before anything is written.
func preallocate(f *os.File, size int64) error {
	for {
		switch err := unix.Fallocate(int(f.Fd()), 0, 0, size); err {
		case unix.EINTR:
		case nil, unix.EOPNOTSUPP, unix.ENOSYS:
			return nil
		default:
			return os.NewSyscallError("fallocate", err)
		}
	}
}

// datasync flushes the data of a file whose size does not change.
func datasync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
