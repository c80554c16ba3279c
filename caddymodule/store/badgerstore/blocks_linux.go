// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserveBlocks gives a file real blocks; it reports false where the file system
// cannot do that.
func reserveBlocks(f *os.File, size int64) bool {
	return unix.Fallocate(int(f.Fd()), 0, 0, size) == nil
}
