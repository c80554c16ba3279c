// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// Record is one line of a sidecar's log. Lines that are not JSON have only the
// field msg.
type Record map[string]any

// Str returns a field as text, or "".
func (r Record) Str(field string) string {
	s, _ := r[field].(string)
	return s
}

// Msg returns the message.
func (r Record) Msg() string { return r.Str("msg") }

// Logs are the records of a sidecar, over all its runs.
type Logs struct {
	mu      sync.Mutex
	lines   []string
	records []Record
	grown   chan struct{} // closed and replaced with each line
}

func newLogs() *Logs { return &Logs{grown: make(chan struct{})} }

// read takes lines until the process ends.
func (l *Logs) read(from io.Reader) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadString('\n')
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			l.add(line)
		}
		if err != nil {
			return
		}
	}
}

func (l *Logs) add(line string) {
	var r Record
	if json.Unmarshal([]byte(line), &r) != nil {
		r = Record{"msg": line}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines, l.records = append(l.lines, line), append(l.records, r)
	close(l.grown)
	l.grown = make(chan struct{})
}

// Len is the number of records so far, a mark for Since.
func (l *Logs) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.records)
}

// wait looks for a record from a mark on, until ended is closed.
func (l *Logs) wait(from int, match func(Record) bool, ended <-chan struct{}) (Record, bool) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		l.mu.Lock()
		records, grown := l.records[from:], l.grown
		l.mu.Unlock()
		for _, r := range records {
			if match(r) {
				return r, true
			}
		}
		from += len(records)
		select {
		case <-grown:
		case <-ended:
			ended = nil // what was written last may still match
			if l.Len() == from {
				return nil, false
			}
		case <-late.C:
			return nil, false
		}
	}
}

// Wait returns the first record that matches, now or later.
func (l *Logs) Wait(t testing.TB, what string, match func(Record) bool) Record {
	t.Helper()
	return l.Since(t, 0, what, match)
}

// Since is Wait from a mark of Len on.
func (l *Logs) Since(t testing.TB, mark int, what string, match func(Record) bool) Record {
	t.Helper()
	r, ok := l.wait(mark, match, nil)
	if !ok {
		t.Fatalf("no log record: %s", what)
	}
	return r
}

// Find returns the records so far that match.
func (l *Logs) Find(match func(Record) bool) []Record {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []Record
	for _, r := range l.records {
		if match(r) {
			found = append(found, r)
		}
	}
	return found
}

// Text is everything that was written.
func (l *Logs) Text() string { return l.Tail(1 << 30) }

// Tail is the last n lines.
func (l *Logs) Tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines[max(0, len(l.lines)-n):], "\n")
}
