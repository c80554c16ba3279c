// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// putFile keeps an entry that is too large for a segment in a file of its own.
func (s *Spool) putFile(t *Ticket) {
	err := s.writeFile(t)
	if err != nil {
		err = fmt.Errorf("writing a spool file: %w", err)
	}
	s.install([]*Ticket{t}, err)
}

// writeFile writes, flushes and renames the file of one entry.
func (s *Spool) writeFile(t *Ticket) (err error) {
	if err := s.opt.MinFree(); err != nil {
		return err
	}
	in, err := newIncarnation(s.opt.Key, s.opt.Rand)
	if err != nil {
		return err
	}
	length := in.storedSize(len(t.payload))
	size := headerSize + footprint(length)
	b := make([]byte, headerSize, size)
	in.encode(b)
	h := entryHeader{id: t.id, n: t.n, at: t.at, epoch: t.epoch}
	if b, err = in.appendEntry(b, h, t.payload, s.opt.Rand); err != nil {
		return err
	}
	path := s.path(singleName(t.id, t.n))
	if err := s.writeSingle(path, b); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.to = ref{
		file: &file{path: path, single: true, size: size, in: in},
		n:    t.n, off: headerSize, length: uint32(length), epoch: t.epoch,
	}
	s.singles++
	s.fileBytes += size
	return nil
}

// writeSingle writes a whole file under a temporary name and renames it.
func (s *Spool) writeSingle(path string, b []byte) (err error) {
	tmp := path + tempExt
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(tmp))
		}
	}()
	if err := errors.Join(s.fill(f, b), f.Close()); err != nil {
		return err
	}
	return s.rename(tmp, path)
}

func (s *Spool) fill(f *os.File, b []byte) error {
	if err := s.opt.Failpoint("file.write"); err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil || !s.opt.Sync {
		return err
	}
	if err := s.opt.Failpoint("file.sync"); err != nil {
		return err
	}
	return f.Sync()
}

// singleName returns the name of the file of one entry. It tells ID and number
// even when the content is damaged.
func singleName(id ID, n uint64) string {
	return fmt.Sprintf("%x-%016x%s", id, n, singleExt)
}

func parseSingleName(name string) (id ID, n uint64, ok bool) {
	idText, nText, found := strings.Cut(strings.TrimSuffix(name, singleExt), "-")
	if !found || len(idText) != 2*len(id) || len(nText) != 16 {
		return id, 0, false
	}
	if _, err := hex.Decode(id[:], []byte(idText)); err != nil {
		return id, 0, false
	}
	n, err := strconv.ParseUint(nText, 16, 64)
	return id, n, err == nil
}
