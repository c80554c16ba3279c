// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// Model is a store in memory, as plain as it can be: one lock, three maps. It is
// the reference that real stores are compared with, and serves as a store where
// tests need one quickly.
type Model struct {
	clock *Clock
	boot  uint64

	mu       sync.Mutex
	closed   bool
	fail     error
	records  map[delivery.ID]*delivery.Record
	evidence map[delivery.ID][]delivery.ID // evidence keys that a record brought
	pointers map[delivery.ID]modelPointer
	answers  map[delivery.ID][]byte
	audit    []store.AuditEntry
	stats    store.Stats
	made     uint64
}

type modelPointer struct {
	target  delivery.ID
	expires int64 // 0: as long as the record lives
}

// NewModel returns an empty store of a process with that boot ID.
func NewModel(clock *Clock, boot uint64) *Model {
	return &Model{
		clock: clock, boot: boot,
		records:  make(map[delivery.ID]*delivery.Record),
		evidence: make(map[delivery.ID][]delivery.ID),
		pointers: make(map[delivery.ID]modelPointer),
		answers:  make(map[delivery.ID][]byte),
	}
}

// Restart opens the store again in a process with another boot ID.
func (m *Model) Restart(boot uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boot, m.closed, m.fail = boot, false, nil
}

// Fail makes all writes fail with err until it is called with nil.
func (m *Model) Fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = err
}

func (m *Model) enter() error {
	if m.closed {
		return store.ErrClosed
	}
	return nil
}

func (m *Model) live(id delivery.ID) *delivery.Record {
	r := m.records[id]
	if r == nil || r.Expired(m.clock.Milli()) {
		return nil
	}
	return r
}

func (m *Model) decide(a *delivery.Arrival) delivery.Verdict {
	var f delivery.Found
	for _, k := range a.Identity {
		r := m.live(k.ID)
		if p, ok := m.pointers[k.ID]; ok && r == nil {
			r = m.live(p.target)
		}
		f.Identity = append(f.Identity, r)
	}
	now := m.clock.Milli()
	if p, ok := m.pointers[a.BodyKey]; ok && now < p.expires {
		f.BodySeen, f.Body = true, m.live(p.target)
	}
	if p, ok := m.pointers[a.PlainID]; ok && now < p.expires {
		f.IDSeen = true
	}
	v := delivery.Decide(a, f)
	if !v.Sibling.IsZero() {
		v = delivery.Resume(a, v, m.live(v.Sibling))
	}
	return v
}

// Peek implements store.Store.
func (m *Model) Peek(_ context.Context, a *delivery.Arrival) (delivery.Verdict, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return delivery.Verdict{}, false, err
	}
	v := m.decide(a)
	if v.Actions.Has(delivery.Save) {
		return v, false, nil
	}
	m.countDuplicate(&v)
	return v, true, nil
}

func (m *Model) countDuplicate(v *delivery.Verdict) {
	if v.Actions.Has(delivery.SaveLazy) {
		m.put(v.Record)
	}
}

func (m *Model) put(r delivery.Record) { m.records[r.ID] = &r }

// Reserve implements store.Store.
func (m *Model) Reserve(_ context.Context, a *delivery.Arrival) (delivery.Verdict, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return delivery.Verdict{}, err
	}
	v := m.decide(a)
	if !v.Actions.Has(delivery.Save) {
		m.countDuplicate(&v)
		return v, nil
	}
	if a.Keep != nil && v.NeedsBytes() {
		name, err := a.Keep(&v)
		if err != nil {
			return v, err
		}
		v.Record.Kept, v.Record.Spool = true, name
	}
	if m.fail != nil {
		return v, m.fail
	}
	delete(m.pointers, v.Record.ID)
	m.put(v.Record)
	for _, k := range v.NewKeys {
		delete(m.records, k)
		m.pointers[k] = modelPointer{target: v.Record.ID}
	}
	if v.SetBody {
		m.pointers[a.BodyKey] = modelPointer{v.Record.ID, a.At + a.Policy.BodyWindow}
		m.evidence[v.Record.ID] = append(m.evidence[v.Record.ID], a.BodyKey)
	}
	if v.SetID {
		m.pointers[a.PlainID] = modelPointer{v.Record.ID, a.At + a.Policy.BodyWindow}
		m.evidence[v.Record.ID] = append(m.evidence[v.Record.ID], a.PlainID)
	}
	return v, nil
}

// Apply implements store.Store.
func (m *Model) Apply(_ context.Context, id delivery.ID, ev delivery.Event) (delivery.Record, delivery.Actions, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return delivery.Record{}, 0, err
	}
	if ev.Kind == delivery.OperatorDrop && !ev.Peer.IsZero() && m.live(ev.Peer) == nil {
		return delivery.Record{}, 0, store.ErrNotFound
	}
	before := m.live(id)
	if before == nil {
		_, _, err := delivery.Step(delivery.Record{ID: id}, ev)
		return delivery.Record{}, 0, fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	after, acts, err := delivery.Step(*before, ev)
	if err != nil {
		m.stats.Impossible++
		return *before, 0, err
	}
	return m.perform(*before, store.Freed(after, acts), acts, ev)
}

func (m *Model) perform(before, after delivery.Record, acts delivery.Actions, ev delivery.Event) (delivery.Record, delivery.Actions, error) {
	writes := acts&(delivery.Save|delivery.Remove|delivery.Copy) != 0
	if m.fail != nil && writes {
		if store.IsOutcome(ev.Kind) {
			m.put(after)
			return after, acts, m.fail
		}
		return before, 0, m.fail
	}
	if ev.Kind.Operator() {
		m.audit = append(m.audit, store.NewAudit(&before, &after, ev))
	}
	switch {
	case acts.Has(delivery.Copy):
		after = store.CopyOf(before, m.newID(), ev.At)
		m.put(after)
	case acts.Has(delivery.Remove):
		delete(m.records, after.ID)
		if ev.Kind.Operator() {
			for _, k := range m.evidence[after.ID] {
				delete(m.pointers, k)
			}
		}
		delete(m.evidence, after.ID)
	case acts.Has(delivery.Save), acts.Has(delivery.SaveLazy):
		m.put(after)
	}
	return after, acts, nil
}

func (m *Model) newID() delivery.ID {
	m.made++
	id := delivery.ID{0xff}
	binary.BigEndian.PutUint64(id[8:], m.made)
	return id
}

// Get implements store.Store.
func (m *Model) Get(_ context.Context, id delivery.ID) (delivery.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return delivery.Record{}, err
	}
	if r := m.live(id); r != nil {
		return *r, nil
	}
	return delivery.Record{}, store.ErrNotFound
}

// List implements store.Store. Its cursor is the ID of the last record.
func (m *Model) List(_ context.Context, f store.Filter) (store.Page, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return store.Page{}, err
	}
	var all []delivery.Record
	for id := range m.records {
		if r := m.live(id); r != nil && f.Matches(r) {
			all = append(all, *r)
		}
	}
	slices.SortFunc(all, func(a, b delivery.Record) int {
		return cmp.Or(cmp.Compare(a.Created, b.Created), bytes.Compare(a.ID[:], b.ID[:]))
	})
	if f.Cursor != "" {
		at := slices.IndexFunc(all, func(r delivery.Record) bool { return r.ID.String() == f.Cursor })
		if at < 0 {
			return store.Page{}, errors.New("cursor: not one of ours")
		}
		all = all[at+1:]
	}
	page := store.Page{Records: all}
	if n := f.PageSize(); len(all) > n {
		page.Records = all[:n]
		page.Cursor = all[n-1].ID.String()
	}
	return page, nil
}
