// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// zeros is what new segments are filled with.
var zeros [256 << 10]byte

// state of a file. Only a closed file can be given back.
type state uint8

const (
	closed state = iota // holds entries, takes no more
	active              // the segment that the committer appends to
	spare               // holds nothing, waits to be recycled
	gone                // about to be removed
)

// file is a segment or the file of one large entry.
type file struct {
	path   string
	single bool     // holds one entry and is opened on demand
	f      *os.File // nil for a single one
	size   int64    // of the whole file

	// Of the incarnation; changed by the committer while the file is active.
	in  incarnation
	end int64 // where the next entry goes

	// The rest is guarded by Spool.mu.
	state   state
	items   int    // entries of the index that are here
	live    int64  // their bytes
	pins    int    // readers and markers at work
	worn    bool   // a write failed or the size is not ours: never recycle
	tidied  uint64 // Spool.turns when it was last tidied up
	freedAt time.Time
}

// limit returns where entries have to end: the last bytes repeat the header.
func (f *file) limit() int64 { return f.size - headerSize }

// readAt reads from the file, opening it when it is not kept open.
func (f *file) readAt(b []byte, off int64) error {
	from := f.f
	if f.single {
		var err error
		if from, err = os.Open(f.path); err != nil {
			return err
		}
		defer from.Close()
	}
	_, err := from.ReadAt(b, off)
	return err
}

// writeAt overwrites bytes of an entry in place, without a flush.
func (f *file) writeAt(b []byte, off int64) error {
	to := f.f
	if f.single {
		var err error
		if to, err = os.OpenFile(f.path, os.O_WRONLY, 0); err != nil {
			return err
		}
		defer to.Close()
	}
	_, err := to.WriteAt(b, off)
	return err
}

// createSegment makes a segment file full of zeros. Only blocks that were written
// once, and not merely allocated, keep later flushes free of metadata.
func (s *Spool) createSegment(move bool) (*file, error) {
	if err := s.reserveSegment(move); err != nil {
		return nil, err
	}
	path := s.path(fmt.Sprintf("%08x%s", s.fileNo.Add(1), segmentExt))
	f, err := s.fillSegment(path)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.making--
	if err != nil {
		return nil, fmt.Errorf("making a spool segment: %w", err)
	}
	seg := &file{path: path, f: f, size: s.opt.SegmentSize}
	s.segments[seg] = struct{}{}
	return seg, nil
}

// reserveSegment asks whether there is room for one more segment. The last one
// is for entries that are moved, because they make room.
func (s *Spool) reserveSegment(move bool) error {
	if err := s.opt.MinFree(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	size := s.opt.SegmentSize
	room := s.opt.MaxSize + size - int64(len(s.segments)+s.making)*size - s.fileBytes
	if move {
		room += size
	}
	if room < 0 {
		return ErrFull
	}
	s.making++
	return nil
}

func (s *Spool) fillSegment(path string) (_ *os.File, err error) {
	if err := s.opt.Failpoint("segment.create"); err != nil {
		return nil, err
	}
	tmp := path + tempExt
	f, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(tmp))
		}
	}()
	if err := preallocate(f, s.opt.SegmentSize); err != nil {
		return nil, err
	}
	for off := int64(0); off < s.opt.SegmentSize; off += int64(len(zeros)) {
		n := min(int64(len(zeros)), s.opt.SegmentSize-off)
		if _, err := f.WriteAt(zeros[:n], off); err != nil {
			return nil, err
		}
	}
	if s.opt.Sync {
		if err := f.Sync(); err != nil {
			return nil, err
		}
	}
	return f, s.rename(tmp, path)
}

// rename gives a flushed file its final name, durably. On an error the file has
// its old name.
func (s *Spool) rename(tmp, path string) error {
	if err := s.opt.Failpoint("file.rename"); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	if !s.opt.Sync {
		return nil
	}
	err := s.opt.Failpoint("dir.sync")
	if err == nil {
		err = syncDir(s.opt.Dir)
	}
	if err != nil {
		return errors.Join(err, os.Rename(path, tmp))
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (s *Spool) path(name string) string { return filepath.Join(s.opt.Dir, name) }
