// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// List implements store.Store.
func (s *Store) List(ctx context.Context, f store.Filter) (store.Page, error) {
	if err := s.enter(); err != nil {
		return store.Page{}, err
	}
	defer s.life.RUnlock()
	if f.All {
		return s.listAll(ctx, f)
	}
	return s.listOpen(f)
}

// place is where an open record stands in the list: by age, then by ID.
type place struct {
	created int64
	id      delivery.ID
}

func (p place) compare(q place) int {
	if p.created != q.created {
		if p.created < q.created {
			return -1
		}
		return 1
	}
	return compareIDs(p.id, q.id)
}

// listOpen walks the open records in memory. Only the records of the page, and
// those that a text or a reason is looked for in, are decoded.
func (s *Store) listOpen(f store.Filter) (store.Page, error) {
	after, err := parsePlace(f.Cursor)
	if err != nil {
		return store.Page{}, err
	}
	var places []place
	s.cache.each(func(id delivery.ID, it *item) {
		p := place{it.created, id}
		if f.WantsState(it.state) && (f.Cursor == "" || p.compare(after) > 0) {
			places = append(places, p)
		}
	})
	slices.SortFunc(places, place.compare)
	page, limit := store.Page{}, f.PageSize()
	for _, p := range places {
		v, err := s.live(p.id)
		if err != nil || v.kind != kindRecord || !f.Matches(&v.rec) {
			continue // damaged ones are counted, and show when their key is asked for
		}
		if len(page.Records) == limit {
			last := &page.Records[limit-1]
			page.Cursor = place{last.Created, last.ID}.String()
			break
		}
		page.Records = append(page.Records, v.rec)
	}
	return page, nil
}

// listAll walks the whole store in the order of the keys.
func (s *Store) listAll(ctx context.Context, f store.Filter) (store.Page, error) {
	var from delivery.ID
	if f.Cursor != "" {
		id, err := delivery.ParseID(f.Cursor)
		if err != nil {
			return store.Page{}, fmt.Errorf("cursor: %w", err)
		}
		from = id
	}
	page, limit := store.Page{}, f.PageSize()
	err := s.walk(ctx, []byte{nsKey}, dbKey(nsKey, from), func(key, _ []byte) (bool, error) {
		id := delivery.ID(key[1:])
		if f.Cursor != "" && id == from {
			return true, nil
		}
		v, err := s.live(id)
		if err != nil || v.kind != kindRecord || !f.Matches(&v.rec) {
			return true, nil
		}
		if len(page.Records) == limit {
			page.Cursor = page.Records[limit-1].ID.String()
			return false, nil
		}
		page.Records = append(page.Records, v.rec)
		return true, nil
	})
	return page, err
}

// walk calls f for the entries with a prefix, beginning at a key, until f says
// false. The slices are valid during the call only.
func (s *Store) walk(ctx context.Context, prefix, from []byte, f func(key, val []byte) (bool, error)) error {
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	o := badger.DefaultIteratorOptions
	o.Prefix, o.PrefetchSize = prefix, 16
	it := txn.NewIterator(o)
	defer it.Close()
	for it.Seek(from); it.Valid(); it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		var more bool
		err := it.Item().Value(func(val []byte) (err error) {
			more, err = f(it.Item().Key(), val)
			return err
		})
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// Audit implements store.Store.
func (s *Store) Audit(ctx context.Context, id delivery.ID, limit int) ([]store.AuditEntry, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.life.RUnlock()
	prefix := []byte{nsAudit}
	if !id.IsZero() {
		prefix = dbKey(nsAudit, id)
	}
	var all []store.AuditEntry
	err := s.walk(ctx, prefix, prefix, func(key, val []byte) (bool, error) {
		var e store.AuditEntry
		if _, hidden := s.hidden.Load(string(key)); hidden {
			return true, nil
		}
		if err := json.Unmarshal(val, &e); err != nil || len(key) < 17 {
			s.corrupt.Add(1)
			return true, nil
		}
		e.Effect = delivery.ID(key[1:17])
		all = append(all, e)
		return true, nil
	})
	slices.SortStableFunc(all, func(a, b store.AuditEntry) int { return a.At.Compare(b.At) })
	slices.Reverse(all)
	return all[:min(len(all), max(limit, 0))], err
}

// PutAnswer implements store.Store.
func (s *Store) PutAnswer(_ context.Context, id delivery.ID, answer []byte) error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.life.RUnlock()
	if len(answer) > maxValue {
		return fmt.Errorf("answer of %d bytes: at most %d can be kept", len(answer), maxValue)
	}
	v, err := s.live(id)
	if err != nil {
		return err
	}
	if v.kind != kindRecord {
		return fmt.Errorf("%w: %s", store.ErrNotFound, id)
	}
	val := make([]byte, 4, 4+len(answer))
	val = append(val, answer...)
	binary.LittleEndian.PutUint32(val, keyedSum(id, answer))
	return s.commit.write(&request{urgency: newWork, entries: []kv{{
		key: dbKey(nsAnswer, id), val: val,
		expires: s.badgerExpiry(s.clock.read() + 4*v.rec.Window),
	}}})
}

// Answer implements store.Store.
func (s *Store) Answer(_ context.Context, id delivery.ID) ([]byte, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.life.RUnlock()
	v, err := s.live(id)
	if err != nil {
		return nil, err
	}
	if v.kind != kindRecord {
		return nil, fmt.Errorf("%w: %s", store.ErrNotFound, id)
	}
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	entry, err := txn.Get(dbKey(nsAnswer, id))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, fmt.Errorf("%w: no answer of %s is kept", store.ErrNotFound, id)
	}
	if err != nil {
		return nil, fmt.Errorf("answer of %s: %w", id.Short(), err)
	}
	val, err := entry.ValueCopy(nil)
	if err != nil {
		return nil, fmt.Errorf("answer of %s: %w", id.Short(), err)
	}
	if len(val) < 4 || binary.LittleEndian.Uint32(val) != keyedSum(id, val[4:]) {
		s.corrupt.Add(1)
		return nil, fmt.Errorf("answer of %s: %w", id.Short(), store.ErrCorrupt)
	}
	return val[4:], nil
}

// String is the cursor of a place.
func (p place) String() string {
	return hex.EncodeToString(appendBig(nil, uint64(p.created))) + p.id.String()
}

func parsePlace(cursor string) (place, error) {
	if cursor == "" {
		return place{}, nil
	}
	b, err := hex.DecodeString(cursor)
	if err != nil || len(b) != 24 {
		return place{}, errors.New("cursor: not one of ours")
	}
	return place{int64(binary.BigEndian.Uint64(b)), delivery.ID(bytes.Clone(b[8:]))}, nil
}

func appendBig(b []byte, n uint64) []byte { return binary.BigEndian.AppendUint64(b, n) }
