// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/dustin/go-humanize"

	"github.com/hookonce/hookonce/caddymodule/store"
)

const ballastName = "hookonce.ballast"

// guard keeps Badger away from a full disk. Badger writes through memory maps;
// when the file system cannot give it a block, the process dies by SIGBUS, with
// every site it serves, and dies again at each start.
type guard struct {
	dir            string
	minFree, floor int64
	maxSize        int64
	ballast        int64
	measure        func(dir string) (free, total int64, err error)
	logger         Logger

	size atomic.Int64 // of the store on disk, set by the housekeeping
	free atomic.Int64 // at the latest check
	gone atomic.Bool  // the ballast was given up
}

func newGuard(o *Options) (*guard, error) {
	g := &guard{
		dir: o.Dir, minFree: o.MinFree, floor: o.HardFloor, maxSize: o.MaxSize,
		ballast: o.Ballast, measure: o.free, logger: o.Logger,
	}
	_, total, err := g.measure(g.dir)
	if err != nil {
		return nil, fmt.Errorf("free space of %s: %w", g.dir, err)
	}
	if g.minFree == 0 {
		g.minFree = min(max(1<<30, total/20), total/4)
	}
	g.minFree = max(g.minFree, g.floor)
	return g, nil
}

// check returns the reason why new work, or any write at all, has to wait. It is
// one system call, cheap enough to be made before every group.
func (g *guard) check() (mayNew, mayAny error) {
	free, _, err := g.measure(g.dir)
	if err != nil {
		err = fmt.Errorf("free space of %s: %w", g.dir, err)
		return err, err
	}
	g.free.Store(free)
	if free < g.floor && g.giveUpBallast() {
		free, _, _ = g.measure(g.dir)
		g.free.Store(free)
	}
	switch {
	case free < g.floor:
		err = g.full(free, g.floor)
		return err, err
	case free < g.minFree:
		return g.full(free, g.minFree), nil
	case g.maxSize > 0 && g.size.Load() > g.maxSize:
		return fmt.Errorf("%w: it takes %s and may take %s", store.ErrFull,
			humanize.IBytes(uint64(g.size.Load())), humanize.IBytes(uint64(g.maxSize))), nil
	}
	return nil, nil
}

func (g *guard) full(free, need int64) error {
	return fmt.Errorf("%w: %s free in %s, %s needed", store.ErrFull,
		humanize.IBytes(uint64(free)), g.dir, humanize.IBytes(uint64(need)))
}

// giveUpBallast frees the reserve, once.
func (g *guard) giveUpBallast() bool {
	if g.gone.Swap(true) {
		return false
	}
	if err := os.Remove(g.ballastPath()); err != nil {
		return false
	}
	g.logger.Warn("disk nearly full: gave up the ballast file of the store")
	return true
}

// keepBallast makes the reserve when there is ample room for it.
func (g *guard) keepBallast() error {
	if g.ballast <= 0 {
		return nil
	}
	if info, err := os.Stat(g.ballastPath()); err == nil && info.Size() == g.ballast {
		g.gone.Store(false)
		return nil
	}
	free, _, err := g.measure(g.dir)
	if err != nil || free < g.minFree+2*g.ballast {
		return err
	}
	f, err := os.OpenFile(g.ballastPath(), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("ballast: %w", err)
	}
	err = errors.Join(allocate(f, g.ballast), f.Close())
	if err != nil {
		return fmt.Errorf("ballast: %w", errors.Join(err, os.Remove(g.ballastPath())))
	}
	g.gone.Store(false)
	return nil
}

func (g *guard) ballastPath() string { return filepath.Join(g.dir, ballastName) }

// allocate gives a file real blocks, by writing where the file system cannot
// reserve them.
func allocate(f *os.File, size int64) error {
	if reserveBlocks(f, size) {
		return nil
	}
	buf := make([]byte, 1<<20)
	for left := size; left > 0; left -= int64(len(buf)) {
		if _, err := f.Write(buf[:min(left, int64(len(buf)))]); err != nil {
			return err
		}
	}
	return f.Sync()
}
