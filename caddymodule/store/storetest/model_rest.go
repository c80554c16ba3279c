// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"context"
	"slices"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// Recover implements store.Store.
func (m *Model) Recover(_ context.Context, at int64) ([]delivery.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return nil, err
	}
	var out []delivery.Record
	for _, r := range m.records {
		if r.State != delivery.Running || r.Owner == m.boot {
			continue
		}
		after, _, err := delivery.Step(*r, delivery.Event{Kind: delivery.OwnerGone, At: at})
		if err != nil {
			return nil, err
		}
		m.put(after)
		out = append(out, after)
	}
	return out, nil
}

// Audit implements store.Store.
func (m *Model) Audit(_ context.Context, id delivery.ID, limit int) ([]store.AuditEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return nil, err
	}
	var out []store.AuditEntry
	for _, e := range slices.Backward(m.audit) {
		if (id.IsZero() || e.Effect == id) && len(out) < limit {
			out = append(out, e)
		}
	}
	return out, nil
}

// PutAnswer implements store.Store.
func (m *Model) PutAnswer(_ context.Context, id delivery.ID, answer []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return err
	}
	if m.live(id) == nil {
		return store.ErrNotFound
	}
	m.answers[id] = slices.Clone(answer)
	return nil
}

// Answer implements store.Store.
func (m *Model) Answer(_ context.Context, id delivery.ID) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return nil, err
	}
	answer, ok := m.answers[id]
	if !ok || m.live(id) == nil {
		return nil, store.ErrNotFound
	}
	return slices.Clone(answer), nil
}

// Sweep implements store.Store.
func (m *Model) Sweep(_ context.Context, at int64) ([]delivery.ID, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return nil, err
	}
	var out []delivery.ID
	for id, r := range m.records {
		if !r.Expired(at) {
			continue
		}
		if r.State.Open() {
			out = append(out, id)
		}
		delete(m.records, id)
		delete(m.answers, id)
	}
	return out, nil
}

// Ready implements store.Store.
func (m *Model) Ready() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(); err != nil {
		return err
	}
	return m.fail
}

// Stats implements store.Store.
func (m *Model) Stats() store.Stats {
	m.mu.Lock()
	defer m.mu.Unlock()
	st := m.stats
	for _, r := range m.records {
		switch r.State {
		case delivery.Ready:
			st.Ready++
		case delivery.Running:
			st.Running++
		case delivery.Uncertain:
			st.Uncertain++
		case delivery.Held:
			st.Held++
		}
		if r.DeadLetter() {
			st.DeadLetters++
		}
	}
	return st
}

// Close implements store.Store.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

// Interface guard.
var _ store.Store = (*Model)(nil)
