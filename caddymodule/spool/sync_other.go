// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package spool

import "os"

// preallocate does nothing: the writing of zeros that follows is what counts.
func preallocate(*os.File, int64) error { return nil }

// datasync flushes a file.
func datasync(f *os.File) error { return f.Sync() }
