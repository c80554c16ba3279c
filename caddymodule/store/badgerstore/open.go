// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// Open opens the store of a directory, or makes a new one. It never starts empty
// where there was a store before: damage is an error that wraps store.ErrCorrupt
// and names the cure, another process in the directory one that wraps
// store.ErrLocked, too little disk one that wraps store.ErrFull.
func Open(ctx context.Context, o Options) (*Store, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	if o.Boot == 0 {
		id := randomID()
		o.Boot = binary.LittleEndian.Uint64(id[:]) | 1
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("store directory: %w", err)
	}
	if info, err := os.Stat(o.Dir); err == nil && info.Mode().Perm()&0o077 != 0 {
		o.Logger.Warn("store directory " + o.Dir + " is open to other users; chmod 700 closes it")
	}
	s := &Store{opts: o}
	var err error
	if s.guard, err = newGuard(&o); err != nil {
		return nil, err
	}
	if s.lock, err = lockDir(ctx, o.Dir, o.LockWait); err != nil {
		return nil, err
	}
	unverified, err := s.openFiles(ctx)
	if err != nil {
		return nil, errors.Join(err, s.closeFiles())
	}
	s.keeper = newKeeper(s, unverified)
	go s.commit.run()
	go s.keeper.run()
	return s, nil
}

// verifyAtOnce is how many bytes of tables are read before the first request; a
// larger store is read behind the first requests. Reading takes 0.4 ms for each
// MiB on two cores when the files are cached, and as long as the disk needs when
// they are not.
const verifyAtOnce = 384 * mib

// openFiles looks at the files, opens Badger and reads what is open. It returns
// what is still to be verified.
func (s *Store) openFiles(ctx context.Context) (later *survey, err error) {
	o := &s.opts
	if _, err := s.guard.check(); err != nil {
		return nil, fmt.Errorf("store not opened: %w", err)
	}
	var must uint64
	if s.mark, must, err = openMark(o.Dir, o.Sync); err != nil {
		return nil, err
	}
	found, err := surveyFiles(o.Dir, o.EncryptionKey, must)
	if err != nil {
		return nil, err
	}
	if found.bytes <= verifyAtOnce || o.verifyAll {
		err = found.verify(false)
		found = nil
	}
	if err == nil {
		err = s.openBadger()
	}
	if err == nil {
		err = s.start(ctx, must)
	}
	return found, err
}

// openBadger opens the database.
func (s *Store) openBadger() error {
	o := &s.opts
	db, err := badger.OpenManaged(o.badger())
	if err != nil && strings.Contains(err.Error(), "Create a new file") {
		// A log of length zero, left by a crash. The failed open has repaired it.
		db, err = badger.OpenManaged(o.badger())
	}
	switch {
	case err == nil:
		s.db = db
		return nil
	case strings.Contains(err.Error(), "Cannot acquire directory lock"):
		return fmt.Errorf("%w: %s", store.ErrLocked, o.Dir)
	default:
		return openError(o.Dir, err)
	}
}

// start reads what has to be known before the first request.
func (s *Store) start(ctx context.Context, must uint64) error {
	has := s.db.MaxVersion()
	if has < must {
		return damaged(s.opts.Dir, fmt.Sprintf("the newest records are gone (the store ends at %d, it was written up to %d)", has, must))
	}
	s.db.SetDiscardTs(has)
	s.commit = newCommitter(s, has)
	meta, err := s.readMeta()
	if err != nil {
		return err
	}
	if meta.version == 0 && has > 0 {
		return damaged(s.opts.Dir, "there is data but no format version")
	}
	if meta.version > formatVersion {
		return fmt.Errorf("%w: %s has format %d, this version knows %d", store.ErrFormat, s.opts.Dir, meta.version, formatVersion)
	}
	s.clock = newClock(s.opts.Now, s.opts.Elapsed, meta.clock)
	if err := s.loadOpen(ctx); err != nil {
		return err
	}
	if meta.version == 0 {
		if err := s.commit.commit([]*request{{entries: []kv{formatEntry(), s.clockEntry()}}}); err != nil {
			return fmt.Errorf("store format: %w", err)
		}
	}
	return nil
}

// loadOpen reads the open records into memory, from the marks they left.
func (s *Store) loadOpen(ctx context.Context) error {
	err := s.walk(ctx, []byte{nsOpen}, []byte{nsOpen}, func(key, _ []byte) (bool, error) {
		if len(key) == 17 {
			s.loadRecord(delivery.ID(key[1:]), 0)
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	var live []uint32
	err = s.walk(ctx, []byte{nsSlot}, []byte{nsSlot}, func(key, val []byte) (bool, error) {
		slot := slotNumber(key)
		for uint32(len(live)) <= slot {
			live = append(live, 0)
		}
		for ; len(val) >= 16; val = val[16:] {
			if s.loadRecord(delivery.ID(val[:16]), slot+1) {
				live[slot]++
			}
		}
		return true, nil
	})
	s.commit.slots.load(live)
	s.dropSlots(live)
	return err
}

// dropSlots removes the slots that name no running record any more, so that the
// next start need not look at them. One that is taken again in the same commit
// stays, as it is written after these.
func (s *Store) dropSlots(live []uint32) {
	var entries []kv
	for i, n := range live {
		if n == 0 {
			entries = append(entries, kv{key: slotKey(uint32(i)), remove: true})
		}
	}
	for part := range slices.Chunk(entries, maxGroup) {
		s.commit.send(&request{urgency: lazy, entries: part})
	}
}

// loadRecord puts a record into memory if it is open and not there yet. A record
// that cannot be read is counted; its key alone is refused later.
func (s *Store) loadRecord(id delivery.ID, slot uint32) bool {
	if s.cache.get(id) != nil {
		return false
	}
	txn := s.db.NewTransactionAt(math.MaxUint64, false)
	defer txn.Discard()
	entry, err := txn.Get(dbKey(nsKey, id))
	if err != nil {
		return false
	}
	raw, err := entry.ValueCopy(nil)
	if err != nil {
		return false
	}
	v, err := s.decode(id, raw)
	if err != nil || v.kind != kindRecord || !v.rec.State.Open() {
		return false
	}
	it := recordItem(&v.rec, raw)
	if it.state == delivery.Running {
		it.slot = slot
	}
	s.cache.put(id, it)
	return it.slot != 0
}

// openError explains a failure of Badger.
func openError(dir string, err error) error {
	text := err.Error()
	for _, sign := range []string{
		"checksum mismatch", "file does not exist for table", "bad magic", "Illegal checksum",
		"MANIFEST", "Error while opening table", "failed to read", "KEYREGISTRY", "key registry",
	} {
		if strings.Contains(text, sign) {
			return damaged(dir, text)
		}
	}
	if errors.Is(err, badger.ErrEncryptionKeyMismatch) || strings.Contains(text, "Encryption key mismatch") {
		return fmt.Errorf("store %s: the encryption key is not the one it was made with", dir)
	}
	return fmt.Errorf("store %s: %w", dir, err)
}

// damaged is the error for a store that must not be served.
func damaged(dir, what string) error {
	return fmt.Errorf("%w: %s: %s; look at it with \"hookonce webhook store check --dir %s\", "+
		"or start anew with \"hookonce webhook store reset --dir %s --reason '...'\", which moves it aside and deletes nothing",
		store.ErrCorrupt, dir, what, dir, dir)
}
