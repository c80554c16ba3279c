// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
)

// ledger is the append-only list of effects. With a file, an effect counts as
// recorded when its line has been synced; without one it lives in memory.
type ledger struct {
	mu      sync.Mutex
	file    *os.File
	effects []Effect // only without a file
	last    int64    // Seq of the newest line written
	broken  error    // the first failed write; nothing is recorded after it

	// One sync covers every line written before it starts, so concurrent
	// effects share their flushes.
	syncMu sync.Mutex
	synced int64
	sync   bool
}

// openLedger continues the ledger at path, or starts one in memory if path is
// empty. A torn last line was never synced to its end and is cut off.
func openLedger(path string, sync bool) (*ledger, error) {
	l := &ledger{sync: sync}
	if path == "" {
		return l, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	effects, whole, err := readLedger(f)
	if err == nil {
		err = f.Truncate(whole)
	}
	if err == nil {
		_, err = f.Seek(whole, io.SeekStart)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open ledger: %w", err)
	}
	if n := len(effects); n > 0 {
		l.last = effects[n-1].Seq
	}
	l.file, l.synced = f, l.last
	return l, nil
}

// append numbers the effect and returns once it is as durable as configured.
func (l *ledger) append(e Effect) (Effect, error) {
	e, err := l.write(e)
	if err != nil || l.file == nil || !l.sync {
		return e, err
	}
	l.syncMu.Lock()
	defer l.syncMu.Unlock()
	if l.synced >= e.Seq {
		return e, nil
	}
	l.mu.Lock()
	upTo := l.last
	l.mu.Unlock()
	if err := l.file.Sync(); err != nil {
		return e, fmt.Errorf("sync ledger: %w", err)
	}
	l.synced = upTo
	return e, nil
}

func (l *ledger) write(e Effect) (Effect, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		return e, l.broken
	}
	e.Seq = l.last + 1
	if l.file == nil {
		l.effects = append(l.effects, e)
		l.last = e.Seq
		return e, nil
	}
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil {
		l.broken = fmt.Errorf("write ledger: %w", err)
		return e, l.broken
	}
	l.last = e.Seq
	return e, nil
}

// all returns every effect so far, oldest first.
func (l *ledger) all() ([]Effect, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return append([]Effect(nil), l.effects...), nil
	}
	return ReadLedger(l.file.Name())
}

// count returns how many effects the ledger holds.
func (l *ledger) count() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// clear empties the ledger; numbering starts again at 1.
func (l *ledger) clear() error {
	l.syncMu.Lock()
	defer l.syncMu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.effects, l.last, l.synced = nil, 0, 0
	if l.file == nil {
		return nil
	}
	_, seekErr := l.file.Seek(0, io.SeekStart)
	return errors.Join(l.file.Truncate(0), seekErr)
}

func (l *ledger) close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

// ReadLedger reads the effects of a ledger file. A last line that is torn, as
// a crash leaves it, is ignored; a bad line anywhere else is an error.
func ReadLedger(path string) ([]Effect, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	defer f.Close()
	effects, _, err := readLedger(f)
	if err != nil {
		return nil, fmt.Errorf("read ledger %s: %w", path, err)
	}
	return effects, nil
}

// readLedger also returns the length of the part that consists of whole lines.
func readLedger(r io.Reader) (effects []Effect, whole int64, err error) {
	br := bufio.NewReader(r)
	for n := 1; ; n++ {
		line, err := br.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, 0, err
		}
		if err == io.EOF {
			return effects, whole, nil
		}
		var e Effect
		if bad := json.Unmarshal(bytes.TrimSpace(line), &e); bad != nil {
			if _, peek := br.Peek(1); peek == io.EOF {
				return effects, whole, nil
			}
			return nil, 0, fmt.Errorf("line %d: %w", n, bad)
		}
		effects = append(effects, e)
		whole += int64(len(line))
	}
}
