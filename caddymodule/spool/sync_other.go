// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package spool

import "os"

// datasync flushes a file.
func datasync(f *os.File) error { return f.Sync() }
