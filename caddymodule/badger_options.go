// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"fmt"

	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/hookonce/hookonce/caddymodule/store"
	"github.com/hookonce/hookonce/caddymodule/store/badgerstore"
)

// Defaults of the store's limits, in bytes.
const (
	defaultMaxSize = 4 << 30
	defaultMinFree = 1 << 30
)

// options translates the configuration.
func (b *Badger) options(boot uint64) badgerstore.Options {
	o := badgerstore.NewOptions(b.Dir)
	o.Boot = boot
	o.Sync = b.Durable()
	o.MaxSize = orDefault(b.MaxSize, defaultMaxSize)
	o.MinFree = b.minFree()
	o.EncryptionKey = b.key
	o.Logger = storeLogger{b.logger}
	if o.MinFree < smallDisk {
		o.HardFloor, o.Ballast = smallFloor, smallBallast
	}
	return o
}

// On a small disk, the floor below which nothing is written at all and the
// ballast shrink. Between them and the bound for new work there is room for
// outcomes and for the operator, who may have to make room.
const (
	smallDisk    = 128 << 20
	smallFloor   = 24 << 20 // memory tables and a compaction; with 16 a fast filler brought SIGBUS
	smallBallast = 8 << 20
	leastFree    = smallFloor + 2*smallBallast
)

// minFree is the configured bound, or the default: never more than a twentieth
// of the file system, so that a small disk can be used at all, and never less
// than what the store needs to go on with what it has taken.
func (b *Badger) minFree() int64 {
	if b.MinFree != 0 {
		return max(b.MinFree, leastFree)
	}
	var st unix.Statfs_t
	if unix.Statfs(b.Dir, &st) != nil {
		return defaultMinFree
	}
	return max(min(defaultMinFree, int64(st.Blocks)*st.Bsize/20), leastFree)
}

// Guard returns an error when the disk has no room for new work. It asks the
// file system; the spool calls it before it grows.
func (b *Badger) Guard() error {
	var st unix.Statfs_t
	if err := unix.Statfs(b.Dir, &st); err != nil {
		return fmt.Errorf("free space of %s: %w", b.Dir, err)
	}
	if free, need := int64(st.Bavail)*st.Bsize, b.minFree(); free < need {
		return fmt.Errorf("%w: %d MiB free, min_free is %d MiB", store.ErrFull, free>>20, need>>20)
	}
	return nil
}

// storeLogger gives the store's messages to Caddy's logger.
type storeLogger struct{ l *zap.Logger }

func (s storeLogger) Info(msg string)  { s.l.Info(msg) }
func (s storeLogger) Warn(msg string)  { s.l.Warn(msg) }
func (s storeLogger) Error(msg string) { s.l.Error(msg) }
