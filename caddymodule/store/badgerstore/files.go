// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/pb"
)

// Badger opens some damaged stores without a word and kills the process on
// others, so the files are looked at before Badger gets them: a missing manifest
// (Badger starts empty), a damaged table (Badger panics in a goroutine of its own,
// or takes its keys for unknown), a damaged log (Badger cuts it off there).

// survey is what the files of a store say without Badger.
type survey struct {
	dir    string
	keys   *badger.KeyRegistry // nil: not encrypted
	tables []tableFile
	bytes  int64  // of the tables
	newest uint64 // commit that the files reach
}

// tableFile is a table that the manifest names.
type tableFile struct {
	name string
	key  *pb.DataKey // nil: not encrypted
}

// surveyFiles looks at a directory whose lock is held. must is the commit that
// the files have to reach. The error says in words what is wrong.
func surveyFiles(dir string, encryptionKey []byte, must uint64) (*survey, error) {
	s := &survey{dir: dir}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("store directory: %w", err)
	}
	var logs []string
	data, manifest := false, false
	for _, f := range files {
		switch name := f.Name(); {
		case strings.HasSuffix(name, ".sst"):
			data = true
		case strings.HasSuffix(name, ".mem"):
			logs = append(logs, name)
		case name == badger.ManifestFilename:
			manifest = true
		}
	}
	if !manifest {
		if data || len(logs) > 0 || must > 0 {
			return nil, damaged(dir, "MANIFEST is missing")
		}
		return s, nil
	}
	if err := s.openKeys(encryptionKey); err != nil {
		return nil, err
	}
	if err := s.listTables(); err != nil {
		return nil, err
	}
	if err := s.readTables(); err != nil {
		return nil, err
	}
	return s, s.readLogs(logs, must)
}

// openKeys reads the keys that the tables and logs were encrypted with.
func (s *survey) openKeys(encryptionKey []byte) error {
	if _, err := os.Stat(filepath.Join(s.dir, badger.KeyRegistryFileName)); errors.Is(err, os.ErrNotExist) {
		return nil // Badger makes it anew; without encryption it says nothing
	}
	keys, err := badger.OpenKeyRegistry(badger.KeyRegistryOptions{
		Dir: s.dir, ReadOnly: true, EncryptionKey: encryptionKey,
	})
	if errors.Is(err, badger.ErrEncryptionKeyMismatch) {
		return fmt.Errorf("store %s: the encryption key is not the one it was made with", s.dir)
	}
	if err != nil {
		return damaged(s.dir, "KEYREGISTRY: "+err.Error())
	}
	s.keys = keys
	return keys.Close()
}

func (s *survey) dataKey(id uint64) (*pb.DataKey, error) {
	if id == 0 {
		return nil, nil
	}
	if s.keys == nil {
		return nil, damaged(s.dir, "KEYREGISTRY is missing")
	}
	key, err := s.keys.DataKey(id)
	if err != nil {
		return nil, damaged(s.dir, "KEYREGISTRY: "+err.Error())
	}
	return key, nil
}

// listTables reads the manifest. Tables that it does not name are left-overs of
// a compaction, which Badger deletes.
func (s *survey) listTables() error {
	f, err := os.Open(filepath.Join(s.dir, badger.ManifestFilename))
	if err != nil {
		return fmt.Errorf("store manifest: %w", err)
	}
	defer f.Close()
	manifest, _, err := badger.ReplayManifestFile(f, 0, badger.DefaultOptions(s.dir).WithLogger(nil))
	if err != nil {
		return damaged(s.dir, "MANIFEST: "+err.Error())
	}
	for id, t := range manifest.Tables {
		key, err := s.dataKey(t.KeyID)
		if err != nil {
			return err
		}
		s.tables = append(s.tables, tableFile{fmt.Sprintf("%06d.sst", id), key})
	}
	return nil
}

// readTables checks the end and the index of every table.
func (s *survey) readTables() error {
	for _, t := range s.tables {
		table, err := openTable(filepath.Join(s.dir, t.name), t.key)
		if errors.Is(err, os.ErrNotExist) {
			return damaged(s.dir, "table "+t.name+" is missing")
		}
		if err != nil {
			return damaged(s.dir, "table "+t.name+": "+err.Error())
		}
		s.bytes += table.size
		s.newest = max(s.newest, table.index.MaxVersion())
		if err := table.close(); err != nil {
			return err
		}
	}
	return nil
}

// verify reads every block of every table, two tables at a time. With live the
// store is in use, and Badger may cut and delete a table that it has merged.
func (s *survey) verify(live bool) error {
	work, found := make(chan tableFile), make(chan error, len(s.tables)+1)
	done := make(chan struct{})
	for range 2 {
		go func() {
			defer func() { done <- struct{}{} }()
			for t := range work {
				err := verifyTable(filepath.Join(s.dir, t.name), t.key)
				if err != nil && !(live && s.merged(t)) {
					found <- damaged(s.dir, "table "+t.name+": "+err.Error())
				}
			}
		}()
	}
	for _, t := range s.tables {
		work <- t
	}
	close(work)
	<-done
	<-done
	close(found)
	return <-found
}

// merged reports whether the manifest of this moment does not name a table any
// more. Badger writes the manifest before it touches the file.
func (s *survey) merged(t tableFile) bool {
	now := survey{dir: s.dir, keys: s.keys}
	if err := now.listTables(); err != nil {
		return false
	}
	return !slices.ContainsFunc(now.tables, func(n tableFile) bool { return n.name == t.name })
}

// readLogs checks the logs of the memory tables. Their names are numbers of
// equal length, the newest one last.
func (s *survey) readLogs(logs []string, must uint64) error {
	slices.Sort(logs)
	for i, name := range logs {
		newest, rest, err := surveyLog(filepath.Join(s.dir, name), s.dataKey)
		if err != nil {
			return err
		}
		s.newest = max(s.newest, newest)
		// What is behind the last whole entry of the newest log may be a write that
		// was under way, but not if the mark knows of more.
		if rest && must > 0 && (i < len(logs)-1 || s.newest < must) {
			return damaged(s.dir, name+" is damaged in the middle")
		}
	}
	if s.newest < must {
		return damaged(s.dir, fmt.Sprintf("the newest records are gone (the files end at %d, they were written up to %d)", s.newest, must))
	}
	return nil
}
