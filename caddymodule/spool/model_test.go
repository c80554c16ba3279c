// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"
)

// modelEntry is what the model remembers of an entry.
type modelEntry struct {
	epoch uint32
	data  []byte
	mark  Mark
	set   bool
}

// TestAgainstMap runs random operations, tidying, reopening and crashes against a
// spool and a map.
func TestAgainstMap(t *testing.T) {
	root := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{root: filepath.Join(root, "run"), clock: newTestClock(), model: map[ID]modelEntry{}}
		m.o = Options{
			Dir: m.root, SegmentSize: minSegmentSize, MaxSize: 64 << 20,
			Sync: rapid.IntRange(0, 3).Draw(t, "sync") == 0, Now: m.clock.Now,
		}
		if rapid.Bool().Draw(t, "sealed") {
			m.o.Key = testKey
		}
		m.open(t)
		defer func() {
			if err := errors.Join(m.s.Close(), os.RemoveAll(m.root)); err != nil {
				t.Error(err)
			}
		}()
		t.Repeat(map[string]func(*rapid.T){
			"":       m.check,
			"put":    m.put,
			"bulk":   m.bulk,
			"settle": m.settle,
			"free":   m.free,
			"tidy":   func(*rapid.T) { m.clock.advance(2 * reuseAfter); m.s.tidy() },
			"reopen": m.reopen,
			"crash":  m.crash,
		})
	})
}

type machine struct {
	root  string
	o     Options
	s     *Spool
	clock *testClock
	model map[ID]modelEntry
}

var drawID = rapid.Custom(func(t *rapid.T) ID { return testID(rapid.IntRange(0, 9).Draw(t, "id")) })

func (m *machine) overhead() int {
	if m.o.Key != nil {
		return sealOverhead
	}
	return 0
}

func (m *machine) open(t *rapid.T) {
	s, err := Open(m.o)
	if err != nil {
		t.Fatal(err)
	}
	m.s = s
	s.Retain(func(id ID) bool { _, ok := m.model[id]; return ok })
}

func (m *machine) put(t *rapid.T) {
	id := drawID.Draw(t, "id")
	size := rapid.OneOf(rapid.IntRange(0, 3000), rapid.IntRange(InlineMax-100, InlineMax+100)).Draw(t, "size")
	e := modelEntry{epoch: m.model[id].epoch + 1, data: testPayload(size, size)}
	if err := m.s.Put(id, e.epoch, e.data).Wait(); err != nil {
		t.Fatal(err)
	}
	m.model[id] = e
}

// bulk puts and frees enough to change the segment.
func (m *machine) bulk(t *rapid.T) {
	var waiting []*Ticket
	filler := make([]byte, 60_000)
	for i := range rapid.IntRange(1, 12).Draw(t, "fillers") {
		waiting = append(waiting, m.s.Put(testID(1000+i), 1, filler))
	}
	for i, ticket := range waiting {
		if err := ticket.Wait(); err != nil {
			t.Fatal(err)
		}
		m.s.Free(testID(1000 + i))
	}
}

func (m *machine) settle(t *rapid.T) {
	id := drawID.Draw(t, "id")
	e, ok := m.model[id]
	e.mark, e.set = Mark{Class: rapid.Byte().Draw(t, "class"), Epoch: e.epoch, At: m.clock.Now().UnixMilli()}, true
	err := m.s.Settle(id, e.epoch, e.mark)
	if !ok {
		if !errors.Is(err, ErrNotFound) {
			t.Fatalf("settling nothing: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	m.model[id] = e
}

func (m *machine) free(t *rapid.T) {
	id := drawID.Draw(t, "id")
	m.s.Free(id)
	delete(m.model, id)
}

func (m *machine) reopen(t *rapid.T) {
	if err := m.s.Close(); err != nil {
		t.Fatal(err)
	}
	m.open(t)
}

// crash leaves the front part of an entry that nobody was told of behind the
// last one, as a kill in the middle of a write does.
func (m *machine) crash(t *rapid.T) {
	s := m.s
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if f := s.active; f != nil && f.end > 0 {
		h := entryHeader{id: drawID.Draw(t, "id"), n: s.n + 1, epoch: 77}
		b, err := f.in.appendEntry(nil, h, testPayload(1, 1000), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		b = b[:rapid.IntRange(0, 1000).Draw(t, "torn at")]
		if f.end+int64(len(b)) < f.limit() {
			overwrite(t, f.path, f.end, b)
		}
	}
	m.open(t)
}

func overwrite(t *rapid.T, path string, off int64, b []byte) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(b, off)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) check(t *rapid.T) {
	found := map[ID]Entry{}
	if err := m.s.Scan(func(e Entry) { found[e.ID] = e }); err != nil {
		t.Fatal(err)
	}
	if len(found) != len(m.model) || m.s.Stats().Items != len(m.model) {
		t.Fatalf("%d entries, model has %d", len(found), len(m.model))
	}
	var bytesHeld int64
	for id, want := range m.model {
		got, err := m.s.Get(id)
		e := found[id]
		if err != nil || !bytes.Equal(got, want.data) || e.Epoch != want.epoch ||
			e.Size != len(want.data) || e.Settled != want.set || e.Mark != want.mark {
			t.Fatalf("entry %d: %v, %+v, want epoch %d, %d bytes, mark %+v",
				idNumber(id), err, e, want.epoch, len(want.data), want.mark)
		}
		bytesHeld += footprint(len(want.data) + m.overhead())
	}
	if st := m.s.Stats(); st.Bytes != bytesHeld {
		t.Fatalf("%d bytes counted, %d held", st.Bytes, bytesHeld)
	}
}
