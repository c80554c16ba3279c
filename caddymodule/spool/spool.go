// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
)

// Names in the directory.
const (
	lockName   = "LOCK"
	segmentExt = ".seg"
	singleExt  = ".req"
	tempExt    = ".tmp"
)

// ref says where the newest durable entry of an ID is.
type ref struct {
	file    *file
	n       uint64
	off     uint32
	length  uint32 // stored bytes of the payload
	epoch   uint32
	moves   uint16
	marked  bool // as found at the start
	damaged bool // as found at the start
}

func (r ref) footprint() int64 { return footprint(int(r.length)) }

// Spool is an open spool directory. All methods are safe for concurrent use.
type Spool struct {
	opt    Options
	lock   *os.File
	fileNo atomic.Uint64

	mu        sync.Mutex
	shut      bool
	index     map[ID]ref
	segments  map[*file]struct{} // all that exist, the spare ones included
	spares    []*file            // oldest first
	trash     []*file            // to be removed by the housekeeper
	making    int                // segments being made
	turns     uint64             // how often the active segment changed
	coming    int                // entries on their way to the disk
	bytes     int64              // of all entries, those on their way included
	singles   int                // files of one entry
	fileBytes int64              // their bytes
	n         uint64             // number of the latest Put
	found     uint64             // number of the latest entry at the start
	queue     []*Ticket          // waits for the committer

	// markMu orders marks against the moving of the entry that they belong to.
	markMu  sync.Mutex
	markBuf [markSize]byte

	commitMu sync.Mutex // held by the committer; the rest of the block is its own
	active   *file
	stage    []byte
	solo     [1]*Ticket

	tidyMu sync.Mutex // held while tidying up

	kick  chan struct{} // wakes the committer
	chore chan struct{} // wakes the housekeeper
	stop  chan struct{}
	busy  sync.WaitGroup // calls at work
	crew  sync.WaitGroup // committer and housekeeper
}

// Open opens or makes a spool directory and reads what is in it. It reads every
// entry once; 100,000 entries of 2 KiB are a matter of a second.
func Open(o Options) (*Spool, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the spool directory: %w", err)
	}
	s := newSpool(o)
	var err error
	if s.lock, err = lockFile(s.path(lockName)); err != nil {
		return nil, fmt.Errorf("locking the spool directory %s: %w", o.Dir, err)
	}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("reading the spool: %w", err), s.closeFiles())
	}
	s.crew.Add(2)
	go s.committer()
	go s.housekeeper()
	return s, nil
}

func newSpool(o Options) *Spool {
	return &Spool{
		opt:      o,
		index:    make(map[ID]ref),
		segments: make(map[*file]struct{}),
		kick:     make(chan struct{}, 1),
		chore:    make(chan struct{}, 1),
		stop:     make(chan struct{}),
	}
}

// Close waits for calls at work, flushes segments that were not flushed yet and
// closes the files. Later calls fail with ErrClosed; a second Close does nothing.
func (s *Spool) Close() error {
	s.mu.Lock()
	if s.shut {
		s.mu.Unlock()
		return nil
	}
	s.shut = true
	s.mu.Unlock()
	s.busy.Wait() // the committer still serves them
	close(s.stop)
	s.crew.Wait()
	var errs []error
	for f := range s.segments {
		if f.items > 0 && !s.opt.Sync {
			errs = append(errs, f.f.Sync())
		}
	}
	return errors.Join(append(errs, s.closeFiles())...)
}

func (s *Spool) closeFiles() error {
	var errs []error
	for f := range s.segments {
		errs = append(errs, f.f.Close())
	}
	for _, f := range s.trash {
		if !f.single {
			errs = append(errs, f.f.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Close())
	}
	return errors.Join(errs...)
}

// Stats is a snapshot of what a spool holds.
type Stats struct {
	Items    int   // entries
	Bytes    int64 // of the entries, headers included
	Segments int   // segment files, spare ones included
	Files    int   // files of one large entry
	Disk     int64 // bytes of all files
	Capacity int64 // Options.MaxSize
}

// Stats returns a snapshot.
func (s *Spool) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := Stats{
		Items: len(s.index), Bytes: s.bytes, Segments: len(s.segments), Files: s.singles,
		Disk: s.fileBytes, Capacity: s.opt.MaxSize,
	}
	for f := range s.segments {
		st.Disk += f.size
	}
	return st
}

// Room returns an error (ErrFull, or that of Options.MinFree) unless n more
// payload bytes fit below 90 % of the bounds. New work is asked about with Room;
// what was accepted may go on with Put until the bounds themselves.
func (s *Spool) Room(n int) error {
	s.mu.Lock()
	err := s.fits(int64(n), s.opt.MaxSize/10*9, s.opt.MaxItems-s.opt.MaxItems/10)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.opt.MinFree()
}

// fits reports whether n more payload bytes stay within the bounds. The caller
// holds mu.
func (s *Spool) fits(n, maxSize int64, maxItems int) error {
	if s.shut {
		return ErrClosed
	}
	if n > min(maxSize, maxPayload) || s.bytes+footprint(int(n)+sealOverhead) > maxSize || len(s.index)+s.coming >= maxItems {
		return ErrFull
	}
	return nil
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
