// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"syscall"
)

// dieWithParent has the kernel end a child when we are killed.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// flush makes the data of a file durable, as Badger does it.
func flush(f *os.File) error { return syscall.Fdatasync(int(f.Fd())) }
