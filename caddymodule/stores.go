// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"
	"golang.org/x/sys/unix"

	"github.com/hookonce/hookonce/caddymodule/store"
	"github.com/hookonce/hookonce/caddymodule/store/badgerstore"
)

func init() { caddy.RegisterModule(new(Badger)) }

// Badger keeps deliveries in an embedded Badger database, for one node.
type Badger struct {
	// Dir is the directory of the store. One process at a time can use it.
	// Default: hookonce below Caddy's data directory.
	Dir string `json:"dir,omitempty"`

	// Sync says whether a reservation is flushed to the disk before the request
	// goes to the app. Without it, a power cut (but not a crash of the process) can
	// forget deliveries of the last moments. Default: true.
	Sync *bool `json:"sync,omitempty"`

	// MaxSize bounds the size of the store in bytes; beyond it, new deliveries get
	// the retry status. Default: 4 GiB.
	MaxSize int64 `json:"max_size,omitempty"`

	// MinFree is the free space in bytes below which new deliveries get the retry
	// status. Default: 1 GiB, but at most a twentieth of the file system. It is
	// never less than 40 MiB, which the store needs to go on with what it has.
	MinFree int64 `json:"min_free,omitempty"`

	// EncryptionKey is a placeholder of the 64 hex digits that seal the store and
	// the kept requests with AES-256. Default: none.
	EncryptionKey string `json:"encryption_key,omitempty"`

	// DeclaredAt is where the store was written, for messages. The Caddyfile
	// adapter sets it.
	DeclaredAt string `json:"declared_at,omitempty"`

	key    []byte
	logger *zap.Logger
}

// CaddyModule returns the Caddy module information.
func (*Badger) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "hookonce.stores.badger", New: func() caddy.Module { return new(Badger) }}
}

// Provision sets the defaults, resolves the key, and looks whether the directory
// can be written to, before any listener opens.
func (b *Badger) Provision(ctx caddy.Context) error {
	b.logger = ctx.Logger()
	err := b.provision()
	switch {
	case err != nil && b.DeclaredAt != "":
		return fmt.Errorf("badger store at %s: %w", b.DeclaredAt, err)
	case err != nil:
		return fmt.Errorf("badger store: %w", err)
	}
	return nil
}

func (b *Badger) provision() error {
	if b.Dir == "" {
		b.Dir = filepath.Join(caddy.AppDataDir(), "hookonce")
	}
	dir, err := caddy.NewReplacer().ReplaceOrErr(b.Dir, true, true)
	if err != nil {
		return fmt.Errorf("directory of the store: %w", err)
	}
	if b.Dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("directory of the store: %w", err)
	}
	if b.MaxSize < 0 || b.MinFree < 0 {
		return errors.New("max_size and min_free must not be negative")
	}
	if err := writable(b.Dir); err != nil {
		return fmt.Errorf("%s cannot be written to: %w; name a directory that belongs to the user of the server: store badger <dir>", b.Dir, err)
	}
	if b.EncryptionKey == "" {
		return nil
	}
	text, err := resolveKey("encryption_key", b.EncryptionKey)
	if err != nil {
		return err
	}
	if b.key, err = hex.DecodeString(strings.TrimSpace(text)); err != nil || len(b.key) != 32 {
		return errors.New("encryption_key must be 64 hex digits (for example from: openssl rand -hex 32)")
	}
	return nil
}

// writable reports why a directory can neither be used nor made. It changes
// nothing, so that validating a configuration may ask: for a directory that does
// not exist, the nearest one above it is looked at.
func writable(dir string) error {
	for {
		info, err := os.Stat(dir)
		switch up := filepath.Dir(dir); {
		case errors.Is(err, fs.ErrNotExist) && up != dir:
			dir = up
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is not a directory", dir)
		default:
			return unix.Access(dir, unix.W_OK|unix.X_OK)
		}
	}
}

// Directory returns the absolute directory.
func (b *Badger) Directory() string { return b.Dir }

// SpoolKey returns the key that seals kept requests.
func (b *Badger) SpoolKey() []byte { return b.key }

// Durable reports whether writes are flushed before they count.
func (b *Badger) Durable() bool { return b.Sync == nil || *b.Sync }

// OpenStore opens the database.
func (b *Badger) OpenStore(ctx context.Context, boot uint64) (store.Store, error) {
	s, err := badgerstore.Open(ctx, b.options(boot))
	if err != nil {
		return nil, fmt.Errorf("badger store: %w", err)
	}
	return s, nil
}

// Interface guards.
var (
	_ caddy.Provisioner = (*Badger)(nil)
	_ Engine            = (*Badger)(nil)
)
