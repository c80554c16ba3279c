// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"os"
	"time"
)

const (
	// minSegments is how many segments may hold entries before any is tidied up.
	minSegments = 3
	// movesAtOnce bounds the memory that moving entries takes.
	movesAtOnce = 16
)

// housekeeper does what nobody should wait for.
func (s *Spool) housekeeper() {
	defer s.crew.Done()
	rest := time.NewTimer(reuseAfter)
	defer rest.Stop()
	for {
		select {
		case <-s.stop:
			s.sweep(s.opt.Now())
			return
		case <-s.chore:
		case <-rest.C:
		}
		s.tidy()
		rest.Reset(reuseAfter)
	}
}

// tidy removes files, keeps a spare segment ready and moves the last entries out
// of nearly empty segments.
func (s *Spool) tidy() {
	s.tidyMu.Lock()
	defer s.tidyMu.Unlock()
	s.sweep(s.opt.Now().Add(-reuseAfter))
	s.prepare()
	for f := s.sparse(); f != nil; f = s.sparse() {
		s.empty(f)
	}
}

// sweep removes files that are gone since the given time or longer: until then a
// start after a crash needs their marks. A file that cannot be removed is found
// again at the next start, when Retain drops its entries.
func (s *Spool) sweep(since time.Time) {
	if s.opt.Hold() {
		return
	}
	s.mu.Lock()
	var trash, resting []*file
	for _, f := range s.trash {
		if f.freedAt.After(since) {
			resting = append(resting, f)
		} else {
			trash = append(trash, f)
		}
	}
	s.trash = resting
	s.mu.Unlock()
	for _, f := range trash {
		if f.f != nil {
			_ = f.f.Close()
		}
		_ = os.Remove(f.path)
	}
}

// prepare makes a spare segment, so that the committer need not. If it fails the
// committer will try again and tell those who wait.
func (s *Spool) prepare() {
	s.mu.Lock()
	need := len(s.spares) == 0 && !s.shut
	s.mu.Unlock()
	if !need {
		return
	}
	seg, err := s.createSegment(false)
	if err != nil {
		return
	}
	s.mu.Lock()
	seg.state = spare
	s.spares = append(s.spares, seg)
	s.mu.Unlock()
}

// sparse returns the segment with the least live bytes if moving them away is
// worth it: under an eighth of it lives, or under a half when space gets short.
// A segment from which something cannot be moved (damage, a full disk) has its
// next turn when the active segment changes; the entries are valid where they are.
func (s *Spool) sparse() *file {
	s.mu.Lock()
	defer s.mu.Unlock()
	holding := len(s.segments) - len(s.spares)
	if s.shut || holding <= minSegments {
		return nil
	}
	part := int64(8)
	if int64(holding)*s.opt.SegmentSize+s.fileBytes > s.opt.MaxSize/2 {
		part = 2
	}
	var least *file
	for f := range s.segments {
		if f.state == closed && f.items > 0 && f.tidied != s.turns && !f.in.locked() &&
			f.live*part < f.size && (least == nil || f.live < least.live) {
			least = f
		}
	}
	if least != nil {
		least.tidied = s.turns
		least.pins++
	}
	return least
}

// empty moves all live entries of a segment that sparse returned to the active one.
func (s *Spool) empty(f *file) {
	defer func() {
		s.mu.Lock()
		f.pins--
		s.retire(f)
		s.mu.Unlock()
	}()
	var moving []*Ticket
	settle := func() {
		for _, t := range moving {
			_ = t.Wait() // what was not moved is as safe as before
		}
		moving = moving[:0]
	}
	w := &walker{buf: make([]byte, walkBuffer)}
	_ = w.walk(f, func(r ref, h entryHeader) {
		if t := s.copyOf(r, h); t != nil {
			moving = append(moving, t)
			s.start(t)
		}
		if len(moving) == movesAtOnce {
			settle()
		}
	})
	settle()
}

// copyOf makes the ticket that moves an entry, or nil if it is not live.
func (s *Spool) copyOf(r ref, h entryHeader) *Ticket {
	s.mu.Lock()
	now, ok := s.index[h.id]
	s.mu.Unlock()
	if !ok || now.file != r.file || now.off != r.off {
		return nil
	}
	payload, err := now.read(h.id)
	if err != nil {
		return nil
	}
	t := tickets.Get().(*Ticket)
	t.id, t.epoch, t.n, t.at, t.payload = h.id, h.epoch, h.n, h.at, payload
	t.move, t.from, t.moves = true, now, h.moves+1
	return t
}

// carryMarks copies the marks of moved entries to their new places. The caller
// holds markMu, so that no mark can arrive at an old place afterwards.
func (s *Spool) carryMarks(group []*Ticket) error {
	for _, t := range group {
		if !t.move {
			continue
		}
		var b [markSize]byte
		if err := t.from.file.readAt(b[:], int64(t.from.off)+headerSize); err != nil {
			return err
		}
		old := entryHeader{tag: t.from.file.in.tag(), n: t.n}
		m, ok := decodeMark(b[:], &old)
		if !ok {
			continue
		}
		moved := entryHeader{tag: t.to.file.in.tag(), n: t.n}
		encodeMark(b[:], m, &moved)
		if err := t.to.file.writeAt(b[:], int64(t.to.off)+headerSize); err != nil {
			return err
		}
	}
	return nil
}
