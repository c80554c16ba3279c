// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"os"
	"syscall"
)

// dieWithParent is a wish that only Linux grants.
func dieWithParent() *syscall.SysProcAttr { return nil }

// flush makes a file durable.
func flush(f *os.File) error { return f.Sync() }
