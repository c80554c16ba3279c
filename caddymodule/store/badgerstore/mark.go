// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
)

const (
	markName  = "hookonce.mark"
	markMagic = "hookonce"
	markSize  = 8 + 8 + 8 + 4
)

// mark remembers beside the store how far it had been written. Badger says
// nothing when it drops the damaged rest of a log; a store that is older than its
// mark has lost records, and must not be served as if it had not.
//
// The mark is written after each commit and never synced: after a crash of the
// process it is exact, and after a power cut it can only be too old, as each
// commit was synced before. Without synced writes a power cut may lose commits
// that the mark knows, so there it counts only within one run of the machine.
type mark struct {
	f       *os.File
	machine uint64
	buf     [markSize]byte
}

// openMark opens the mark and returns the commit it names, 0 when it names none
// that must be there.
func openMark(dir string, synced bool) (*mark, uint64, error) {
	path := filepath.Join(dir, markName)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, 0, fmt.Errorf("store mark: %w", err)
	}
	m := &mark{f: f, machine: machineRun()}
	n, err := f.ReadAt(m.buf[:], 0)
	if err != nil && n == markSize {
		err = nil
	}
	if err != nil || string(m.buf[:8]) != markMagic || binary.LittleEndian.Uint32(m.buf[24:]) != m.sum() {
		return m, 0, nil // new, or torn by a power cut
	}
	if !synced && binary.LittleEndian.Uint64(m.buf[16:]) != m.machine {
		return m, 0, nil
	}
	return m, binary.LittleEndian.Uint64(m.buf[8:]), nil
}

// set writes the mark. It makes nothing worse if it fails, so the error is kept
// for the next start, which then knows less.
func (m *mark) set(ts uint64) {
	copy(m.buf[:], markMagic)
	binary.LittleEndian.PutUint64(m.buf[8:], ts)
	binary.LittleEndian.PutUint64(m.buf[16:], m.machine)
	binary.LittleEndian.PutUint32(m.buf[24:], m.sum())
	_, _ = m.f.WriteAt(m.buf[:], 0)
}

func (m *mark) sum() uint32 { return crc32.Checksum(m.buf[:24], castagnoli) }

func (m *mark) close() error {
	if err := m.f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("store mark: %w", err)
	}
	return nil
}

// machineRun names the current run of the machine; 0 when it cannot be known.
func machineRun() uint64 {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return 0
	}
	id := strings.TrimSpace(string(b))
	return uint64(crc32.Checksum([]byte(id), castagnoli))<<32 | uint64(crc32.ChecksumIEEE([]byte(id)))
}
