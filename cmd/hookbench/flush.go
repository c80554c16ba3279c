// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// flushRecord is the size of a write that is flushed: about what a record
// takes in the log of the store.
const flushRecord = 150

// flushTimes appends and flushes records in dir for d and returns how long
// each took: what durability costs here before any software is involved.
func flushTimes(dir string, d time.Duration) (times []time.Duration, err error) {
	path := filepath.Join(dir, "flush")
	f, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("flush time: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(path)) }()
	record := make([]byte, flushRecord)
	for begin := time.Now(); time.Since(begin) < d || len(times) == 0; {
		start := time.Now()
		if _, err := f.Write(record); err != nil {
			return nil, fmt.Errorf("flush time: %w", err)
		}
		if err := flush(f); err != nil {
			return nil, fmt.Errorf("flush time: %w", err)
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}
