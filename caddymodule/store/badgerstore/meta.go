// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"

	"github.com/hookonce/hookonce/caddymodule/store"
)

// formatVersion is the layout of keys and values. It is raised when an older
// hookonce could not read the store any more.
const formatVersion = 1

var (
	keyFormat = []byte{nsMeta, 'f'}
	keyClock  = []byte{nsMeta, 'c'}
)

type meta struct {
	version uint64
	clock   int64 // the largest time by which a window ended or began
}

func formatEntry() kv {
	return kv{key: keyFormat, val: binary.LittleEndian.AppendUint64(nil, formatVersion)}
}

func (s *Store) clockEntry() kv {
	return kv{key: keyClock, val: binary.LittleEndian.AppendUint64(nil, uint64(s.clock.read()))}
}

func (s *Store) readMeta() (meta, error) {
	version, err := s.readNumber(keyFormat)
	if err != nil {
		return meta{}, err
	}
	clock, err := s.readNumber(keyClock)
	return meta{version, int64(clock)}, err
}

func (s *Store) readNumber(key []byte) (uint64, error) {
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	entry, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("store meta: %w", err)
	}
	var n uint64
	err = entry.Value(func(val []byte) error {
		if len(val) != 8 {
			return fmt.Errorf("store meta: %w", store.ErrCorrupt)
		}
		n = binary.LittleEndian.Uint64(val)
		return nil
	})
	return n, err
}
