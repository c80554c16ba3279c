// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package spool

import "os"

// lockFile only makes the file: where there is no flock, the lock of the store
// beside the spool is what keeps a second process out.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}
