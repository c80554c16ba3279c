// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hookonce/hookonce/caddymodule/store"
)

// Report is what Check found.
type Report struct {
	Tables int
	Bytes  int64
	Open   store.Stats // counts of open records
}

// Check looks at a store that nobody has open: it reads every table, and then
// opens the store as a start would. The error says what is wrong.
func Check(ctx context.Context, o Options) (Report, error) {
	if _, err := os.Stat(o.Dir); err != nil {
		return Report{}, fmt.Errorf("store directory: %w", err)
	}
	o.LockWait, o.verifyAll = 0, true
	s, err := Open(ctx, o)
	if err != nil {
		return Report{}, err
	}
	r := Report{Tables: len(s.db.Tables()), Open: s.Stats()}
	r.Bytes = s.guard.size.Load()
	return r, s.Close()
}

// SetAside renames the directory of a store that nobody has open, so that the
// next start begins with an empty one. Nothing is deleted. It returns the new
// name.
func SetAside(ctx context.Context, dir string, now time.Time) (string, error) {
	if _, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("store directory: %w", err)
	}
	lock, err := lockDir(ctx, dir, 0)
	if err != nil {
		return "", err
	}
	to := filepath.Clean(dir) + ".aside-" + now.UTC().Format("20060102T150405Z")
	if _, err := os.Stat(to); err == nil {
		return "", errors.Join(fmt.Errorf("%s exists already", to), lock.Close())
	}
	if err := os.Rename(dir, to); err != nil {
		return "", errors.Join(fmt.Errorf("set the store aside: %w", err), lock.Close())
	}
	return to, lock.Close()
}

// AcceptLoss lets a store that has lost its newest records be opened with those
// it still has. Deliveries that were lost will look new if they come again.
func AcceptLoss(ctx context.Context, dir string) error {
	lock, err := lockDir(ctx, dir, 0)
	if err != nil {
		return err
	}
	err = os.Remove(filepath.Join(dir, markName))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, lock.Close())
}
