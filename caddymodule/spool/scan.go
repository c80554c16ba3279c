// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

// Entry describes what is kept under an ID.
type Entry struct {
	ID      ID
	Epoch   uint32 // of the Put
	Size    int    // bytes of the payload
	At      int64  // time of the Put, Unix milliseconds
	Settled bool   // Mark is set; compare its Epoch with that of the record
	Mark    Mark
	Err     error // ErrCorrupt or ErrKey when Get would fail with it
}

// Scan calls visit for each entry, in no particular order. It is meant for the
// start; it reads the header of each entry. It returns the first read error that
// is not damage.
func (s *Spool) Scan(visit func(Entry)) error {
	for _, id := range s.ids() {
		r, err := s.acquire(id)
		switch {
		case err == ErrNotFound:
			continue
		case err != nil:
			return err
		}
		e, err := r.describe(id)
		s.release(r)
		if err != nil {
			return err
		}
		visit(e)
	}
	return nil
}

func (s *Spool) ids() []ID {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := make([]ID, 0, len(s.index))
	for id := range s.index {
		ids = append(ids, id)
	}
	return ids
}

// describe reads the head of an entry. Whether the payload is intact was found
// out when the spool was opened.
func (r ref) describe(id ID) (Entry, error) {
	e := Entry{ID: id, Epoch: r.epoch, Size: int(r.length), Err: r.unreadable()}
	in := &r.file.in
	if in.sealed {
		e.Size = max(0, e.Size-sealOverhead)
	}
	if r.damaged {
		return e, nil
	}
	var b [payloadOff]byte
	if err := r.file.readAt(b[:], int64(r.off)); err != nil {
		return e, err
	}
	h, ok := decodeEntry(b[:], in.tag())
	if !ok || h.id != id || h.n != r.n {
		e.Err = ErrCorrupt
		return e, nil
	}
	e.At = h.at
	e.Mark, e.Settled = decodeMark(b[headerSize:], &h)
	return e, nil
}

// Retain frees the entries found at the start for which keep returns false, and
// returns their number. Entries put since then stay.
func (s *Spool) Retain(keep func(ID) bool) (dropped int) {
	for _, id := range s.ids() {
		if keep(id) {
			continue
		}
		s.mu.Lock()
		if r, ok := s.index[id]; ok && r.n <= s.found && !s.shut {
			s.drop(id, r)
			dropped++
		}
		s.mu.Unlock()
	}
	wake(s.chore)
	return dropped
}
