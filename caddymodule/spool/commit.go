// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"slices"
	"time"
)

const (
	// stageMax bounds one write, and so the memory of the committer.
	stageMax = 1 << 20
	// maxSpares is the number of empty segments that are kept.
	maxSpares = 4
	// reuseAfter is how long the marks in an empty segment stay readable for a
	// start after a crash: longer than a store holds back a record of an outcome.
	reuseAfter = time.Second
)

// committer writes what waits, group by group. While one group is flushed the
// next one gathers, which is all the batching that is needed.
func (s *Spool) committer() {
	defer s.crew.Done()
	var group []*Ticket
	for {
		select {
		case <-s.kick:
		case <-s.stop:
			return
		}
		s.mu.Lock()
		group, s.queue = s.queue, group[:0]
		s.mu.Unlock()
		s.commitMu.Lock()
		s.commit(group)
		s.commitMu.Unlock()
		clear(group)
	}
}

// commitOne writes a single entry on the caller's goroutine.
func (s *Spool) commitOne(t *Ticket) {
	s.commitMu.Lock()
	defer s.commitMu.Unlock()
	s.solo[0] = t
	s.commit(s.solo[:])
	s.solo[0] = nil
}

// commit writes a group with as few flushes as segments and memory allow. The
// caller holds commitMu.
func (s *Spool) commit(group []*Ticket) {
	for len(group) > 0 {
		n, err := s.stageGroup(group)
		if err == nil {
			err = s.flush()
		}
		if err != nil {
			err = fmt.Errorf("writing to the spool: %w", err)
		}
		s.publish(group[:n], err)
		group = group[n:]
	}
}

// stageGroup encodes as many entries as go into one write, at least one.
func (s *Spool) stageGroup(group []*Ticket) (int, error) {
	if err := s.useSegment(group[0]); err != nil {
		return alike(group), err
	}
	seg := s.active
	s.stage = s.stage[:0]
	if seg.end == 0 {
		s.stage = append(s.stage, zeros[:headerSize]...)
		seg.in.encode(s.stage)
	}
	for i, t := range group {
		off := seg.end + int64(len(s.stage))
		size := s.reserved(len(t.payload))
		if i > 0 && (off+size > seg.limit() || int64(len(s.stage))+size > stageMax) {
			return i, nil
		}
		var err error
		h := entryHeader{id: t.id, n: t.n, at: t.at, epoch: t.epoch, moves: t.moves}
		if s.stage, err = seg.in.appendEntry(s.stage, h, t.payload, s.opt.Rand); err != nil {
			return len(group), err
		}
		length := seg.in.storedSize(len(t.payload))
		t.to = ref{file: seg, n: t.n, off: uint32(off), length: uint32(length), epoch: t.epoch, moves: t.moves}
	}
	return len(group), nil
}

// alike returns how many tickets at the front are moves, or are not. Without a
// segment these have to fail, but moves may go where new entries may not.
func alike(group []*Ticket) int {
	n := 1
	for n < len(group) && group[n].move == group[0].move {
		n++
	}
	return n
}

// flush writes what is staged and makes it durable. After a failure the segment
// takes no more entries: pages whose flush failed count as clean afterwards, so a
// second flush of the same file would prove nothing.
func (s *Spool) flush() error {
	seg := s.active
	err := s.write(seg)
	if err != nil {
		s.mu.Lock()
		seg.worn = true
		s.leave()
		s.mu.Unlock()
		return err
	}
	seg.end += int64(len(s.stage))
	return nil
}

func (s *Spool) write(seg *file) error {
	if err := s.opt.Failpoint("segment.write"); err != nil {
		return err
	}
	if _, err := seg.f.WriteAt(s.stage, seg.end); err != nil {
		return err
	}
	if seg.end == 0 {
		if _, err := seg.f.WriteAt(s.stage[:headerSize], seg.limit()); err != nil {
			return err
		}
	}
	if !s.opt.Sync {
		return nil
	}
	if err := s.opt.Failpoint("segment.sync"); err != nil {
		return err
	}
	return datasync(seg.f)
}

// publish makes a written group visible. Marks that arrived at the old place of
// a moved entry while it was copied are carried over first.
func (s *Spool) publish(group []*Ticket, err error) {
	if slices.ContainsFunc(group, func(t *Ticket) bool { return t.move }) {
		s.markMu.Lock()
		defer s.markMu.Unlock()
		if err == nil {
			err = s.carryMarks(group)
		}
	}
	s.install(group, err)
}

// leave stops appending to the active segment. The caller holds mu and commitMu.
func (s *Spool) leave() {
	if old := s.active; old != nil {
		s.active = nil
		old.state = closed
		s.retire(old)
	}
}

// useSegment makes sure that the active segment has room for an entry.
func (s *Spool) useSegment(t *Ticket) error {
	if s.active != nil && s.active.end+s.reserved(len(t.payload)) <= s.active.limit() {
		return nil
	}
	seg, err := s.nextSegment(t.move)
	if err != nil {
		if !t.move {
			s.askForRoom()
		}
		return err
	}
	in, err := newIncarnation(s.opt.Key, s.opt.Rand)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.retire(seg)
		return err
	}
	s.leave()
	seg.state, seg.in, seg.end = active, in, 0
	s.active = seg
	s.turns++
	wake(s.chore)
	return nil
}

// askForRoom lets every segment be tidied up again, because a new entry found no
// room. Moves do not ask: one that fails would be tried for ever.
func (s *Spool) askForRoom() {
	s.mu.Lock()
	s.turns++
	s.mu.Unlock()
	wake(s.chore)
}

// nextSegment takes a spare segment, or makes one when none has rested long
// enough, or takes an unrested one when none can be made.
func (s *Spool) nextSegment(move bool) (*file, error) {
	if seg := s.takeSpare(s.opt.Now().Add(-reuseAfter)); seg != nil {
		return seg, nil
	}
	seg, err := s.createSegment(move)
	if err != nil {
		if seg := s.takeSpare(s.opt.Now().Add(reuseAfter)); seg != nil {
			return seg, nil
		}
	}
	return seg, err
}

// takeSpare returns a segment that was freed before the given time, or nil.
func (s *Spool) takeSpare(before time.Time) *file {
	if s.opt.Hold() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, f := range s.spares {
		if f.freedAt.Before(before) {
			s.spares = append(s.spares[:i], s.spares[i+1:]...)
			f.state = closed
			return f
		}
	}
	return nil
}
