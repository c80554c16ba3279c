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

const lockName = "hookonce.lock"

// lockDir takes the directory for this process. Badger has a lock of its own, but
// the files are looked at before Badger is asked. The kernel gives the lock back
// when the process ends, however it ends.
func lockDir(ctx context.Context, dir string, patience time.Duration) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("store lock: %w", err)
	}
	deadline := time.Now().Add(patience)
	for {
		locked, err := tryLock(f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("store lock: %w", err), f.Close())
		}
		if locked {
			return f, nil
		}
		if time.Now().After(deadline) {
			return nil, errors.Join(fmt.Errorf("%w: %s", store.ErrLocked, dir), f.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(fmt.Errorf("%w: %s: %w", store.ErrLocked, dir, ctx.Err()), f.Close())
		case <-time.After(20 * time.Millisecond):
		}
	}
}
