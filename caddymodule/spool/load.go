// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// load rebuilds the index from the directory and removes files that a crash left
// half written.
func (s *Spool) load() error {
	names, err := os.ReadDir(s.opt.Dir)
	if err != nil {
		return err
	}
	w := &walker{buf: make([]byte, walkBuffer)}
	for _, entry := range names {
		name := entry.Name()
		switch filepath.Ext(name) {
		case tempExt:
			err = os.Remove(s.path(name))
		case segmentExt:
			err = s.loadSegment(name, w)
		case singleExt:
			err = s.loadSingle(name)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	s.found = s.n
	for f := range s.segments {
		s.retire(f)
	}
	return nil
}

// loadSegment takes up all entries of a segment's present incarnation.
func (s *Spool) loadSegment(name string, w *walker) error {
	no, err := strconv.ParseUint(strings.TrimSuffix(name, segmentExt), 16, 64)
	if err != nil {
		return nil // not ours
	}
	s.fileNo.Store(max(s.fileNo.Load(), no))
	f, err := os.OpenFile(s.path(name), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	seg := &file{path: f.Name(), f: f, size: info.Size(), worn: info.Size() != s.opt.SegmentSize}
	s.segments[seg] = struct{}{}
	if err := seg.readIncarnation(s.opt.Key); err != nil {
		return err
	}
	return w.walk(seg, func(r ref, h entryHeader) { s.consider(h.id, r) })
}

// readIncarnation reads the file header, or its copy at the end of the segment.
// A segment without either was never written to. If both are damaged nothing in
// it can be told from garbage, and it is left as it is for a person to look at.
func (f *file) readIncarnation(key []byte) error {
	var b [headerSize]byte
	blank := true
	for _, off := range []int64{0, max(0, f.size-headerSize)} {
		if _, err := f.f.ReadAt(b[:], off); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if in, ok := decodeIncarnation(b[:], key); ok {
			f.in = in
			return nil
		}
		blank = blank && b == [headerSize]byte{}
	}
	if !blank {
		f.pins++
	}
	return nil
}

// loadSingle takes up the file of one large entry. Its name says whose it is, so
// that damage is reported and not taken for absence.
func (s *Spool) loadSingle(name string) error {
	id, n, ok := parseSingleName(name)
	if !ok {
		return nil // not ours
	}
	b, err := os.ReadFile(s.path(name))
	if err != nil {
		return err
	}
	size := int64(len(b))
	r := ref{file: &file{path: s.path(name), single: true, size: size}, n: n, off: headerSize, damaged: true}
	s.singles++
	s.fileBytes += size
	if in, ok := decodeIncarnation(b, s.opt.Key); ok {
		r.file.in = in
		entry := b[headerSize:]
		if h, ok := decodeEntry(entry, in.tag()); ok && h.id == id && h.n == n {
			r.length, r.epoch = h.length, h.epoch
			r.check(entry, &h)
		}
	}
	s.consider(id, r)
	return nil
}

// check sets what the payload and the mark of a read entry say.
func (r *ref) check(entry []byte, h *entryHeader) {
	end := int64(payloadOff) + int64(h.length)
	r.damaged = end > int64(len(entry)) || crc32.Checksum(entry[payloadOff:end], castagnoli) != h.sum
	if len(entry) >= payloadOff {
		_, r.marked = decodeMark(entry[headerSize:], h)
	}
}

// consider enters a found entry into the index if it is the best of its ID: an
// intact one, the newest, and of two copies of the same one with a mark: the
// later copy, unless the crash came before the mark was carried over to it.
func (s *Spool) consider(id ID, r ref) {
	s.n = max(s.n, r.n)
	old, exists := s.index[id]
	if exists && !r.better(old) {
		s.discard(r.file)
		return
	}
	s.index[id] = r
	s.bytes += r.footprint()
	r.file.items++
	r.file.live += r.footprint()
	if exists {
		s.bytes -= old.footprint()
		old.file.items--
		old.file.live -= old.footprint()
		s.discard(old.file)
	}
}

// discard gives back the file of a large entry that lost. Segments are given
// back when all is loaded, because more of their entries may follow.
func (s *Spool) discard(f *file) {
	if f.single {
		s.retire(f)
	}
}

func (r ref) better(old ref) bool {
	if r.damaged != old.damaged {
		return old.damaged
	}
	if r.n != old.n {
		return r.n > old.n
	}
	if r.marked != old.marked {
		return r.marked
	}
	return r.moves > old.moves
}
