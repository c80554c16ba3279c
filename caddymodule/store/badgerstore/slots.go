// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"encoding/binary"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// slots persists which records are RUNNING, so that start-up recovery finds ten
// thousand of them among millions without a scan, and without one more entry for
// each event: one entry names all claims of a commit. A slot is used again when
// all its claims have ended; nothing is written to free it, because whoever
// reads it looks at the records anyway.
type slots struct {
	live []uint32 // IDs that are still RUNNING, by slot
	free []uint32
}

// claim returns the slot for the claims of a group and its entry, or nil when
// there are none. The slot counts as taken only after taken was called.
func (s *slots) claim(reqs []*request) (uint32, *kv) {
	n := 0
	for _, r := range reqs {
		n += len(r.claims)
	}
	if n == 0 {
		return 0, nil
	}
	if len(s.free) == 0 {
		s.live = append(s.live, 0)
		s.free = append(s.free, uint32(len(s.live)-1))
	}
	slot := s.free[len(s.free)-1]
	val := make([]byte, 0, n*len(delivery.ID{}))
	for _, r := range reqs {
		for i := range r.claims {
			val = append(val, r.claims[i][:]...)
		}
	}
	return slot, &kv{key: slotKey(slot), val: val}
}

func (s *slots) taken(slot uint32, reqs []*request) {
	n := uint32(0)
	for _, r := range reqs {
		if len(r.claims) > 0 {
			r.slot = slot + 1
			n += uint32(len(r.claims))
		}
	}
	if n > 0 {
		s.free = s.free[:len(s.free)-1]
		s.live[slot] = n
	}
}

// left tells that one claim ended, durably. It takes the number that taken gave
// to the request: the slot plus one.
func (s *slots) left(number uint32) {
	slot := number - 1
	if s.live[slot]--; s.live[slot] == 0 {
		s.free = append(s.free, slot)
	}
}

// load takes over the slots found on disk: live counts by slot number.
func (s *slots) load(live []uint32) {
	s.live, s.free = live, nil
	for i, n := range live {
		if n == 0 {
			s.free = append(s.free, uint32(i))
		}
	}
}

func slotKey(slot uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{nsSlot}, slot)
}

func slotNumber(key []byte) uint32 {
	if len(key) != 5 {
		return 0
	}
	return binary.BigEndian.Uint32(key[1:])
}
