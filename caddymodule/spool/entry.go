// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"encoding/binary"
	"hash/crc32"
)

// Sizes of the parts of a file, in bytes. Entries start at multiples of align,
// so that a search for the next entry after a damaged one has few places to look.
const (
	align      = 64
	headerSize = 64 // of a file, and of an entry
	markSize   = 32
	payloadOff = headerSize + markSize // of the payload, from the start of its entry
)

const entryMagic = 0x50534f48 // "HOSP"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// entryHeader is what stands in front of a payload.
type entryHeader struct {
	tag    uint64 // of the incarnation of the file
	id     ID
	n      uint64 // number of the Put; the highest of an ID counts
	at     int64  // Unix milliseconds
	epoch  uint32
	length uint32 // stored bytes of the payload
	sum    uint32 // CRC-32C of the stored payload
	moves  uint16 // how often the entry was copied to another segment
}

// footprint returns the bytes that a stored payload takes in a file.
func footprint(length int) int64 {
	return (int64(payloadOff+length) + align - 1) / align * align
}

// encode writes the header into the first headerSize bytes of b.
func (h *entryHeader) encode(b []byte) {
	le := binary.LittleEndian
	le.PutUint32(b[0:], entryMagic)
	le.PutUint16(b[4:], formatVersion)
	le.PutUint16(b[6:], h.moves)
	le.PutUint64(b[8:], h.tag)
	copy(b[16:32], h.id[:])
	le.PutUint64(b[32:], h.n)
	le.PutUint64(b[40:], uint64(h.at))
	le.PutUint32(b[48:], h.epoch)
	le.PutUint32(b[52:], h.length)
	le.PutUint32(b[56:], h.sum)
	le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
}

// identity returns the part of an encoded header that the seal authenticates:
// ID, number, time and epoch. It is the same in every copy of an entry.
func identity(header []byte) []byte { return header[16:52] }

// decodeEntry reads a header of the incarnation tag. It reports false for
// anything else: zeros, stale entries, damage, the inside of a payload.
func decodeEntry(b []byte, tag uint64) (entryHeader, bool) {
	le := binary.LittleEndian
	if len(b) < headerSize || le.Uint32(b) != entryMagic || le.Uint16(b[4:]) != formatVersion ||
		le.Uint64(b[8:]) != tag || le.Uint32(b[60:]) != crc32.Checksum(b[:60], castagnoli) {
		return entryHeader{}, false
	}
	return entryHeader{
		tag:    tag,
		id:     ID(b[16:32]),
		n:      le.Uint64(b[32:]),
		at:     int64(le.Uint64(b[40:])),
		epoch:  le.Uint32(b[48:]),
		length: le.Uint32(b[52:]),
		sum:    le.Uint32(b[56:]),
		moves:  le.Uint16(b[6:]),
	}, true
}

// Mark is a short note about how an attempt ended, for the next start.
type Mark struct {
	Class  uint8  // the caller's outcome class
	Status uint16 // HTTP status of the upstream, 0: none
	Epoch  uint32 // the attempt that ended
	At     int64  // Unix milliseconds
}

const markMagic = 0x4d

// encodeMark writes the mark into the first markSize bytes of b. The checksum
// covers the identity of the entry as well, so that no other entry's mark counts.
func encodeMark(b []byte, m Mark, h *entryHeader) {
	le := binary.LittleEndian
	clear(b[:markSize])
	b[0], b[1] = markMagic, m.Class
	le.PutUint16(b[2:], m.Status)
	le.PutUint32(b[4:], m.Epoch)
	le.PutUint64(b[8:], uint64(m.At))
	le.PutUint32(b[16:], markSum(b, h))
}

// decodeMark reads the mark of an entry; false: there is none.
func decodeMark(b []byte, h *entryHeader) (Mark, bool) {
	le := binary.LittleEndian
	if len(b) < markSize || b[0] != markMagic || le.Uint32(b[16:]) != markSum(b, h) {
		return Mark{}, false
	}
	return Mark{
		Class: b[1], Status: le.Uint16(b[2:]), Epoch: le.Uint32(b[4:]), At: int64(le.Uint64(b[8:])),
	}, true
}

func markSum(b []byte, h *entryHeader) uint32 {
	whose := h.tag ^ h.n
	return crc32.Update(uint32(whose)^uint32(whose>>32), castagnoli, b[:16])
}
