// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"fmt"
	"time"

	"github.com/dgraph-io/badger/v4"
	boptions "github.com/dgraph-io/badger/v4/options"
)

const (
	// memTableSize and no compression keep the memory of a busy sidecar at 60 MB
	// instead of 110, at the same throughput: hashes hardly compress, and the
	// builders of compressed tables hold several tables' worth of buffers.
	memTableSize = 4 << 20
	// maxValue is the largest value a key may have. It is below ValueThreshold, so
	// that nothing ever goes to Badger's value log.
	maxValue = 384 << 10
	mib      = int64(1) << 20
)

// Options say how a store is opened. NewOptions fills in the defaults.
type Options struct {
	// Dir is the directory of the store; it is made when missing, for the owner alone.
	Dir string
	// Sync makes every write survive a power cut, not only the end of the process.
	Sync bool
	// MaxSize in bytes refuses new deliveries when the store itself is larger;
	// 0: no limit.
	MaxSize int64
	// MinFree in bytes refuses new deliveries when the file system has less free;
	// 0: the larger of 1 GiB and a twentieth of the file system, at most a quarter of it.
	MinFree int64
	// HardFloor in bytes stops every write when the file system has less free, as
	// Badger does not survive a full disk. 0: 64 MiB, at least four memory tables
	// and 32 MiB.
	HardFloor int64
	// Ballast in bytes is a file that is given up in an emergency, so that the store
	// can open and shrink; 0: 64 MiB, negative: none.
	Ballast int64
	// EncryptionKey of 16, 24 or 32 bytes encrypts what Badger writes; nil: plain.
	EncryptionKey []byte
	// MaxOpen bounds the records that are not settled; 0: 100,000.
	MaxOpen int
	// LockWait is how long to wait for another process to leave the directory.
	LockWait time.Duration
	// Boot names this run of the process; 0: random.
	Boot uint64

	// Now is the wall clock, Elapsed a clock that nobody can set. Nil: the real
	// ones, or for Elapsed what Now says.
	Now     func() time.Time
	Elapsed func() time.Duration
	// Logger gets what Badger and the housekeeping have to say; nil: nobody does.
	Logger Logger
	// Failpoint is called with the name of a point in the life of a write; an error
	// fails the write there. Nil in production.
	Failpoint func(point string) error

	// memTable is the size of Badger's memory tables; tests make it small, so that
	// tables are written and merged all the time.
	memTable int64
	// verifyAll reads every table before the store is opened, however many.
	verifyAll bool
	// free measures the file system; tests replace it.
	free func(dir string) (free, total int64, err error)
}

// The points at which Options.Failpoint is called.
const (
	PointBeforeCommit = "before_commit" // nothing was written yet
	PointAfterCommit  = "after_commit"  // written and synced, nobody was told
)

// Logger is the part of a structured logger that the store needs.
type Logger interface {
	Info(msg string)
	Warn(msg string)
	Error(msg string)
}

// NewOptions returns the defaults for a directory: synced writes, five seconds
// of patience with the lock.
func NewOptions(dir string) Options {
	return Options{Dir: dir, Sync: true, LockWait: 5 * time.Second}
}

// complete fills in what was left open.
func (o *Options) complete() error {
	if o.Dir == "" {
		return fmt.Errorf("badger store: no directory")
	}
	switch len(o.EncryptionKey) {
	case 0, 16, 24, 32:
	default:
		return fmt.Errorf("badger store: the encryption key has %d bytes, not 16, 24 or 32", len(o.EncryptionKey))
	}
	if o.HardFloor == 0 {
		o.HardFloor = max(64*mib, 4*memTableSize+32*mib)
	}
	if o.Ballast == 0 {
		o.Ballast = 64 * mib
	}
	if o.MaxOpen == 0 {
		o.MaxOpen = 100_000
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = silent{}
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) error { return nil }
	}
	if o.memTable == 0 {
		o.memTable = memTableSize
	}
	if o.free == nil {
		o.free = statFree
	}
	return nil
}

// badger returns Badger's options: small memory, everything in the LSM tree, one
// writer. Checksums are verified by surveyFiles, as Badger panics on some damage.
func (o *Options) badger() badger.Options {
	b := badger.DefaultOptions(o.Dir).
		WithSyncWrites(o.Sync).
		WithMemTableSize(o.memTable).
		WithNumMemtables(2).
		WithNumLevelZeroTables(2).
		WithNumLevelZeroTablesStall(8).
		WithNumCompactors(2).
		WithNumGoroutines(1).
		WithCompression(boptions.None).
		WithBlockCacheSize(8 << 20).
		WithIndexCacheSize(0).
		WithValueLogFileSize(1 << 20).
		WithValueThreshold(min(1<<20, o.memTable/8)).
		WithNumVersionsToKeep(1).
		WithDetectConflicts(false).
		WithMetricsEnabled(false).
		WithChecksumVerificationMode(boptions.NoVerification).
		WithLogger(badgerLogger{o.Logger})
	if len(o.EncryptionKey) > 0 {
		// Badger panics without a cache for the indexes it has decrypted.
		b = b.WithEncryptionKey(o.EncryptionKey).WithIndexCacheSize(16 << 20)
	}
	return b
}

// badgerLogger passes on what matters of Badger's chatter.
type badgerLogger struct{ to Logger }

func (l badgerLogger) Errorf(format string, args ...any) { l.to.Error("badger: " + line(format, args)) }

func (l badgerLogger) Warningf(format string, args ...any) {
	l.to.Warn("badger: " + line(format, args))
}
func (l badgerLogger) Infof(string, ...any)  {}
func (l badgerLogger) Debugf(string, ...any) {}

func line(format string, args []any) string {
	s := fmt.Sprintf(format, args...)
	for len(s) > 0 && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	return s
}

type silent struct{}

func (silent) Info(string)  {}
func (silent) Warn(string)  {}
func (silent) Error(string) {}

// Interface guards.
var (
	_ Logger        = silent{}
	_ badger.Logger = badgerLogger{}
)
