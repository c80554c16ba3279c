// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"sync"
)

// pathPrefix starts request targets that say what the server shall do:
// /do/<name>/anything.
const pathPrefix = "/do/"

// script decides what each request meets. In this order: the next entry of the
// queue that fits, what the path asks for, what the body asks for, the default.
type script struct {
	mu    sync.Mutex
	queue []Behaviour
	first Behaviour // the default at start, for reset
	def   Behaviour
	seen  map[string]int // how often a body with a list of its own arrived
}

func newScript(def Behaviour) *script {
	return &script{first: def, def: def, seen: make(map[string]int)}
}

func (s *script) push(list []Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range list {
		b.Times = max(b.Times, 1)
		s.queue = append(s.queue, b)
	}
}

func (s *script) setDefault(b Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.def = b
}

func (s *script) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue, s.def = nil, s.first
	clear(s.seen)
}

func (s *script) left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, b := range s.queue {
		n += b.Times
	}
	return n
}

// atWire returns the behaviour that comes next if it acts on the connection
// without reading from it. The entry is used up; others stay for atHead.
func (s *script) atWire(reused bool, wants func(Behaviour) bool) (Behaviour, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.next(reused); i >= 0 {
		if !wants(s.queue[i]) {
			return Behaviour{}, false
		}
		return s.use(i), true
	}
	return s.def, s.def.fits(reused) && wants(s.def)
}

// atHead returns the behaviour for a request whose header block is known, and
// whether it is settled: if not, the body may still ask for another one.
func (s *script) atHead(reused bool, path string) (b Behaviour, settled bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.next(reused); i >= 0 {
		return s.use(i), true, nil
	}
	if rest, ok := strings.CutPrefix(path, pathPrefix); ok {
		name, _, _ := strings.Cut(rest, "/")
		name, _, _ = strings.Cut(name, "?")
		b, err = Named(name)
		return b, true, err
	}
	if !s.def.fits(reused) {
		return Behaviour{}, false, nil
	}
	return s.def, s.def.Read == ReadHead, nil
}

// atBody returns the behaviour that the body asks for in a top-level field
// "effectd": one behaviour, or a list of which the n-th arrival of the same
// body takes the n-th entry, and every later one the last.
func (s *script) atBody(body []byte, digest string) (b Behaviour, asked bool, err error) {
	if !bytes.Contains(body, []byte(`"effectd"`)) {
		return b, false, nil
	}
	var doc struct {
		Effectd json.RawMessage `json:"effectd"`
	}
	if json.Unmarshal(body, &doc) != nil || doc.Effectd == nil {
		return b, false, nil
	}
	if !bytes.HasPrefix(doc.Effectd, []byte("[")) {
		err = json.Unmarshal(doc.Effectd, &b)
		return b, true, err
	}
	var list []Behaviour
	if err := json.Unmarshal(doc.Effectd, &list); err != nil {
		return b, true, err
	}
	if len(list) == 0 {
		return b, true, errors.New("effectd: the list is empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.seen[digest]
	s.seen[digest]++
	return list[min(n, len(list)-1)], true, nil
}

// next is the index of the first entry that fits, or -1.
func (s *script) next(reused bool) int {
	for i, b := range s.queue {
		if b.fits(reused) {
			return i
		}
	}
	return -1
}

// use takes entry i once.
func (s *script) use(i int) Behaviour {
	b := s.queue[i]
	if s.queue[i].Times--; s.queue[i].Times == 0 {
		s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
	}
	return b
}
