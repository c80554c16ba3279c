// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// datasync flushes the data of a file whose size does not change.
func datasync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
