// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// walkBuffer is what is read from a segment at a time. It holds the largest
// entry of a segment several times.
const walkBuffer = 8 * InlineMax

var magicBytes = binary.LittleEndian.AppendUint32(nil, entryMagic)

// walker finds the entries of a segment. It may be used for one segment after
// the other.
type walker struct {
	buf  []byte
	file *file
	off  int64 // of data in the file
	data []byte
}

// walk calls visit for each entry of the present incarnation, in the order of
// the file. Where no entry begins it goes on searching, so that damage costs no
// more than the entry it hit. What lies inside of an entry is never looked at.
func (w *walker) walk(f *file, visit func(ref, entryHeader)) error {
	w.file, w.off, w.data = f, 0, nil
	tag := f.in.tag()
	for off := int64(headerSize); off+headerSize <= f.size; {
		entry, err := w.at(off)
		if err != nil {
			return err
		}
		h, ok := decodeEntry(entry, tag)
		if !ok {
			off += skip(entry)
			continue
		}
		r := ref{file: f, n: h.n, off: uint32(off), length: h.length, epoch: h.epoch, moves: h.moves}
		r.check(entry, &h)
		visit(r, h)
		off += r.footprint()
	}
	return nil
}

// skip returns how far the next place is where an entry could begin.
func skip(data []byte) int64 {
	for at := align; at < len(data); {
		next := bytes.Index(data[at:], magicBytes)
		if next < 0 {
			break
		}
		if at += next; at%align == 0 {
			return int64(at)
		}
		at++
	}
	return int64(max(align, (len(data)-headerSize)/align*align))
}

// at returns the bytes of the file from off on, enough for any entry unless the
// file ends before.
func (w *walker) at(off int64) ([]byte, error) {
	const enough = 2 * InlineMax
	if from := off - w.off; from >= 0 && from < int64(len(w.data)) {
		if rest := w.data[from:]; len(rest) >= enough || len(w.data) < len(w.buf) {
			return rest, nil
		}
	}
	n, err := w.file.f.ReadAt(w.buf, off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	w.off, w.data = off, w.buf[:n]
	return w.data, nil
}
