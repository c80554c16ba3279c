// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import "sync"

// Ticket stands for a Put on its way to the disk.
type Ticket struct {
	id      ID
	epoch   uint32
	n       uint64
	at      int64
	payload []byte
	done    chan error // buffered for one

	// Set when the housekeeper moves an entry.
	move  bool
	from  ref
	moves uint16

	to ref // where the committer wrote it
}

var tickets = sync.Pool{New: func() any { return &Ticket{done: make(chan error, 1)} }}

// Wait blocks until the bytes are as durable as Options.Sync asks, and returns
// nil, or the error that prevented it. It must be called exactly once; the ticket
// is used again afterwards.
func (t *Ticket) Wait() error {
	err := <-t.done
	*t = Ticket{done: t.done}
	tickets.Put(t)
	return err
}

// Put starts to keep payload under id and returns at once. The attempt with
// number epoch is the one that the bytes are kept for. The payload must not be
// changed before Wait has returned; it is not copied until then.
//
// A Put under an ID that exists replaces the entry, which stays valid until the
// new one is durable. A failed Put leaves it as it was.
func (s *Spool) Put(id ID, epoch uint32, payload []byte) *Ticket {
	t := tickets.Get().(*Ticket)
	t.id, t.epoch, t.payload, t.at = id, epoch, payload, s.opt.Now().UnixMilli()
	s.start(t)
	return t
}

// start hands a ticket to whoever writes it.
func (s *Spool) start(t *Ticket) {
	n := len(t.payload)
	s.mu.Lock()
	if err := s.admit(t); err != nil {
		s.mu.Unlock()
		t.done <- err
		return
	}
	switch {
	case n+sealOverhead > InlineMax:
		s.mu.Unlock()
		go s.putFile(t)
	case s.opt.Sync:
		s.queue = append(s.queue, t)
		s.mu.Unlock()
		wake(s.kick)
	default:
		// Without a flush there is nothing to share, and nothing to wait for.
		s.mu.Unlock()
		s.commitOne(t)
	}
}

// admit counts an entry that is on its way. A moved one was counted when it was
// put. The caller holds mu.
func (s *Spool) admit(t *Ticket) error {
	if t.move && !s.shut {
		s.busy.Add(1)
		return nil
	}
	if err := s.fits(int64(len(t.payload)), s.opt.MaxSize, s.opt.MaxItems); err != nil {
		return err
	}
	s.busy.Add(1)
	s.coming++
	s.bytes += s.reserved(len(t.payload))
	s.n++
	t.n = s.n
	return nil
}

// reserved returns what a payload of n bytes counts while it is on its way.
func (s *Spool) reserved(n int) int64 {
	if len(s.opt.Key) != 0 {
		n += sealOverhead
	}
	return footprint(n)
}

// install makes the written entries of a group visible, in one step, and
// answers their tickets.
func (s *Spool) install(group []*Ticket, err error) {
	s.mu.Lock()
	for _, t := range group {
		if !t.move {
			s.coming--
			s.bytes -= s.reserved(len(t.payload))
		}
		if err == nil {
			s.place(t)
		}
	}
	s.mu.Unlock()
	for _, t := range group {
		t.payload = nil
		t.done <- err
		s.busy.Done()
	}
}

// place enters one entry into the index, unless a later one of the same ID was
// faster or the entry it is a copy of was freed meanwhile.
func (s *Spool) place(t *Ticket) {
	old, exists := s.index[t.id]
	if t.move && (!exists || old != t.from) || exists && old.n > t.n {
		s.retire(t.to.file)
		return
	}
	s.index[t.id] = t.to
	s.count(t.to, 1)
	if exists {
		s.count(old, -1)
	}
}

// count adds an entry to the figures, or takes it off. The caller holds mu.
func (s *Spool) count(r ref, sign int) {
	size := int64(sign) * r.footprint()
	s.bytes += size
	r.file.items += sign
	r.file.live += size
	s.retire(r.file)
}

// retire gives a file back when nothing needs it any more: a sound segment is
// kept for recycling, anything else is removed. The caller holds mu.
func (s *Spool) retire(f *file) {
	if f.state != closed || f.items > 0 || f.pins > 0 {
		return
	}
	f.freedAt = s.opt.Now()
	if !f.single && !f.worn && len(s.spares) < maxSpares {
		f.state = spare
		s.spares = append(s.spares, f)
		return
	}
	f.state = gone
	if f.single {
		s.singles--
		s.fileBytes -= f.size
	} else {
		delete(s.segments, f)
	}
	s.trash = append(s.trash, f)
	wake(s.chore)
}
