// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
)

// Get returns the bytes kept under id, in memory of the caller's own.
func (s *Spool) Get(id ID) ([]byte, error) {
	r, err := s.acquire(id)
	if err != nil {
		return nil, err
	}
	defer s.release(r)
	b, err := r.read(id)
	if err != nil {
		return nil, fmt.Errorf("reading from the spool: %w", err)
	}
	return b, nil
}

// read returns the payload of the entry.
func (r ref) read(id ID) ([]byte, error) {
	if err := r.unreadable(); err != nil {
		return nil, err
	}
	entry := make([]byte, payloadOff+int(r.length))
	if err := r.file.readAt(entry, int64(r.off)); err != nil {
		return nil, err
	}
	return r.file.in.open(entry, r, id)
}

// unreadable returns the error that is known without reading.
func (r ref) unreadable() error {
	switch {
	case r.damaged:
		return ErrCorrupt
	case r.file.in.locked():
		return ErrKey
	}
	return nil
}

// Has reports whether there is an entry under id, and the epoch it was put for.
func (s *Spool) Has(id ID) (epoch uint32, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.index[id]
	return r.epoch, ok
}

// Readable reports whether there is an entry under id that the start found intact.
// It looks at memory alone.
func (s *Spool) Readable(id ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.index[id]
	return ok && r.unreadable() == nil
}

// acquire finds an entry and keeps its place from being recycled until release.
func (s *Spool) acquire(id ID) (ref, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.index[id]
	switch {
	case s.shut:
		return ref{}, ErrClosed
	case !ok:
		return ref{}, ErrNotFound
	}
	s.busy.Add(1)
	r.file.pins++
	return r, nil
}

func (s *Spool) release(r ref) {
	s.mu.Lock()
	r.file.pins--
	s.retire(r.file)
	s.mu.Unlock()
	s.busy.Done()
}

// Settle notes beside the entry how the attempt with number epoch ended. The note
// survives the end of the process but, not being flushed, perhaps not a power
// cut. The attempt must not be older than the entry.
func (s *Spool) Settle(id ID, epoch uint32, m Mark) error {
	s.markMu.Lock()
	defer s.markMu.Unlock()
	r, err := s.acquire(id)
	if err != nil {
		return err
	}
	defer s.release(r)
	if epoch < r.epoch {
		return fmt.Errorf("attempt %d is older than the entry: %w", epoch, ErrNotFound)
	}
	m.Epoch = epoch
	if err := s.opt.Failpoint("mark.write"); err != nil {
		return err
	}
	h := entryHeader{tag: r.file.in.tag(), n: r.n}
	encodeMark(s.markBuf[:], m, &h)
	if err := r.file.writeAt(s.markBuf[:], int64(r.off)+headerSize); err != nil {
		return fmt.Errorf("marking a spool entry: %w", err)
	}
	return nil
}

// SettleAndFree is Settle, followed by Free if the entry was not put for a later
// attempt. The entry is freed even when the mark could not be written.
func (s *Spool) SettleAndFree(id ID, epoch uint32, m Mark) error {
	err := s.Settle(id, epoch, m)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.index[id]; ok && !s.shut && epoch >= r.epoch {
		s.drop(id, r)
	}
	return err
}

// Free forgets the entry. Nothing is written: after a crash it may be back, and
// Retain drops it then. A Put of the same ID that is on its way is not affected.
func (s *Spool) Free(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.index[id]; ok && !s.shut {
		s.drop(id, r)
	}
}

// drop removes an entry from the index. The caller holds mu.
func (s *Spool) drop(id ID, r ref) {
	delete(s.index, id)
	s.count(r, -1)
}
