// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookonce/hookonce/caddymodule/identity"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// loadPepper reads the key of all aliases, or makes it at the first start. With
// another key no earlier delivery would be recognised, so a damaged one is
// refused, and so is a missing one beside kept requests, which are never there
// before it is.
func loadPepper(dir, kept string) ([]byte, error) {
	path := filepath.Join(dir, "pepper")
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, err := os.Stat(kept); err == nil {
			return nil, badPepper(dir, path, "is missing")
		}
		p := make([]byte, identity.PepperLen)
		_, _ = rand.Read(p) // never fails, see crypto/rand
		return p, writeSynced(path, binary.LittleEndian.AppendUint32(slices.Clip(p), pepperSum(p)))
	case err != nil:
		return nil, fmt.Errorf("key of the store: %w", err)
	case len(data) != identity.PepperLen+4:
		return nil, badPepper(dir, path, fmt.Sprintf("has %d bytes instead of %d", len(data), identity.PepperLen+4))
	}
	p, sum := data[:identity.PepperLen:identity.PepperLen], data[identity.PepperLen:]
	if binary.LittleEndian.Uint32(sum) != pepperSum(p) {
		return nil, badPepper(dir, path, "is damaged")
	}
	return p, nil
}

// checkPepper refuses a pepper that is not the one the store was made with: no
// earlier delivery would be recognised, and each that comes again would be sent
// again. What is kept to tell is a hash of the pepper.
func checkPepper(dir string, p []byte) error {
	sum := sha256.Sum256(append([]byte("hookonce pepper check "), p...))
	path := filepath.Join(dir, "pepper.check")
	known, err := os.ReadFile(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return writeSynced(path, sum[:])
	case err != nil:
		return fmt.Errorf("key of the store: %w", err)
	case !bytes.Equal(known, sum[:]):
		return errOtherPepper
	}
	return nil
}

var errOtherPepper = errors.New("the pepper is not the one that this store was made with, so no earlier delivery would be recognised: " +
	"set the option pepper as it was before (or remove it, if there was none), or name another directory for the store")

func pepperSum(p []byte) uint32 { return crc32.Checksum(p, crc32.MakeTable(crc32.Castagnoli)) }

func badPepper(dir, path, what string) error {
	return fmt.Errorf("%w: %s %s, and without it no earlier delivery is recognised; restore it from a backup, set the option pepper if it was set before, "+
		"or start anew with \"hookonce webhook store reset --dir %s --reason '...'\", which moves the store aside and deletes nothing",
		store.ErrCorrupt, path, what, dir)
}

// writeSynced writes a small file so that it is there whole, or not at all.
func writeSynced(path string, data []byte) error {
	f, err := os.OpenFile(path+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return err
	}
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
