// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"
)

// ID names an entry. It is the 16 bytes of a delivery ID.
type ID = [16]byte

// Errors of the package. They come wrapped with context; compare with errors.Is.
var (
	// ErrNotFound means that there is no entry under this ID.
	ErrNotFound = errors.New("no such entry in the spool")
	// ErrCorrupt means that the entry exists but its bytes are damaged.
	ErrCorrupt = errors.New("spool entry is damaged")
	// ErrKey means that the entry was sealed with a key that is not the configured one.
	ErrKey = errors.New("spool entry is sealed with another key")
	// ErrFull means that a bound is reached. Entries that exist are not affected.
	ErrFull = errors.New("spool is full")
	// ErrClosed means that the spool was closed.
	ErrClosed = errors.New("spool is closed")
	// ErrLocked means that another process, or another Spool of this one, holds the directory.
	ErrLocked = errors.New("spool directory is in use")
)

// Defaults and bounds.
const (
	DefaultMaxSize     = 2 << 30
	DefaultMaxItems    = 100_000
	DefaultSegmentSize = 16 << 20

	// InlineMax is the largest stored size, in bytes, of an entry in a segment.
	// Larger ones get a file of their own.
	InlineMax = 64 << 10

	minSegmentSize = 4 * InlineMax
	maxSegmentSize = 1 << 30
	maxPayload     = 1 << 30
)

// Options configures Open. Only Dir is required.
type Options struct {
	// Dir is the directory, made with mode 0700 when it does not exist.
	Dir string
	// MaxSize bounds the bytes on disk. Default: 2 GiB. Up to three segments come on
	// top: the one being written, the next one and one to move entries to.
	MaxSize int64
	// MaxItems bounds the number of entries. Default: 100,000.
	MaxItems int
	// SegmentSize is the size of a segment file in bytes. Default: 16 MiB or an
	// eighth of MaxSize, whichever is less, but at least 256 KiB.
	SegmentSize int64
	// Key seals new entries with AES-256-GCM when it has 32 bytes. Default: none.
	Key []byte
	// Sync makes Wait return only when the bytes survive a power cut. Without it
	// they survive the end of the process only.
	Sync bool
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Rand is the source of salts and nonces. Default: crypto/rand.
	Rand io.Reader
	// MinFree returns an error when the file system has too little room left. It is
	// asked before a file is made, and by Room. Default: never.
	MinFree func() error
	// Hold reports whether the marks of freed entries may still be needed by the
	// next start. While they are, no file is removed or written over. It is asked
	// now and then; marks rest for a second in any case. Default: never.
	Hold func() bool
	// Failpoint is called before each step that can fail, with the name of the
	// step; an error takes the place of the step. For tests. Default: none.
	Failpoint func(step string) error
}

func (o *Options) complete() error {
	if o.Dir == "" {
		return errors.New("spool needs a directory")
	}
	if len(o.Key) != 0 && len(o.Key) != keySize {
		return fmt.Errorf("spool key has %d bytes, not %d", len(o.Key), keySize)
	}
	if o.MaxSize <= 0 {
		o.MaxSize = DefaultMaxSize
	}
	if o.MaxItems <= 0 {
		o.MaxItems = DefaultMaxItems
	}
	if o.SegmentSize <= 0 {
		o.SegmentSize = min(DefaultSegmentSize, o.MaxSize/8)
	}
	o.SegmentSize = min(max(o.SegmentSize, minSegmentSize), maxSegmentSize) / align * align
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	if o.MinFree == nil {
		o.MinFree = func() error { return nil }
	}
	if o.Hold == nil {
		o.Hold = func() bool { return false }
	}
	if o.Failpoint == nil {
		o.Failpoint = func(string) error { return nil }
	}
	return nil
}
