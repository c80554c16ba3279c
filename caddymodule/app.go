// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/caddyserver/caddy/v2"
	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/identity"
	"github.com/hookonce/hookonce/caddymodule/lease"
	"github.com/hookonce/hookonce/caddymodule/spool"
	"github.com/hookonce/hookonce/caddymodule/store"
)

func init() { caddy.RegisterModule(new(App)) }

// Defaults of the app.
const (
	defaultBodyMemory = 64 << 20
	defaultSpoolSize  = 2 << 30
)

// App holds what all hookonce routes share: the store, the kept requests and
// the limits. Without any configuration it uses a Badger store in Caddy's data
// directory.
type App struct {
	// Store is where deliveries are remembered. Default: badger in Caddy's data
	// directory, below hookonce.
	StoreRaw json.RawMessage `json:"store,omitempty" caddy:"namespace=hookonce.stores inline_key=engine"`

	// BodyMemory bounds the bytes of request bodies in memory, all routes
	// together. Default: 64 MiB.
	BodyMemory int64 `json:"body_memory,omitempty"`

	// SpoolSize bounds the kept requests on disk, in bytes. Default: 2 GiB.
	SpoolSize int64 `json:"spool_size,omitempty"`

	// Pepper is a placeholder of the 64 hex digits that key all hashes, the same
	// on all nodes of a fleet. Default: made at the first start and kept in the
	// store's directory.
	Pepper string `json:"pepper,omitempty"`

	ctx    caddy.Context
	engine Engine
	pepper []byte
	budget *bodyBudget
	logger *zap.Logger

	mu       sync.Mutex
	held     nodeLease
	current  atomic.Pointer[lease.Lease[*node]]
	released bool
	routes   map[string]*Handler
}

// Engine is a guest of the app: one kind of store.
type Engine interface {
	// Directory is where the store and the kept requests of this node live.
	Directory() string
	// OpenStore opens the store for one process. It is not called before Start.
	OpenStore(ctx context.Context, boot uint64) (store.Store, error)
	// SpoolKey seals kept requests; nil leaves them in clear.
	SpoolKey() []byte
	// Durable reports whether kept requests are synced before they count.
	Durable() bool
	// Guard returns an error when the disk has no room for new work.
	Guard() error
}

// CaddyModule returns the Caddy module information.
func (*App) CaddyModule() caddy.ModuleInfo {
	return caddy.ModuleInfo{ID: "hookonce", New: func() caddy.Module { return new(App) }}
}

// Provision checks the settings. It opens nothing, so that "caddy validate"
// works beside a running server (caddyserver/caddy#8004).
func (a *App) Provision(ctx caddy.Context) error {
	a.ctx = ctx
	a.logger = ctx.Logger()
	a.routes = make(map[string]*Handler)
	if a.BodyMemory == 0 {
		a.BodyMemory = defaultBodyMemory
	}
	if a.SpoolSize == 0 {
		a.SpoolSize = defaultSpoolSize
	}
	if a.BodyMemory < 0 || a.SpoolSize < 0 {
		return errors.New("body_memory and spool_size must be positive")
	}
	a.budget = &bodyBudget{limit: a.BodyMemory}
	if a.StoreRaw == nil {
		a.StoreRaw = json.RawMessage(`{"engine": "badger"}`)
	}
	mod, err := ctx.LoadModule(a, "StoreRaw")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	a.engine = mod.(Engine)
	if a.Pepper != "" {
		if a.pepper, err = resolvePepper(a.Pepper); err != nil {
			return err
		}
	}
	return registerMetrics(ctx.GetMetricsRegistry())
}

// resolveKey reads a key from where the configuration does not show it.
func resolveKey(name, placeholder string) (string, error) {
	if !strings.HasPrefix(placeholder, "{") || !strings.HasSuffix(placeholder, "}") {
		return "", fmt.Errorf("%s is written into the configuration, where the admin API shows it: use {env.NAME} or {file./path}", name)
	}
	text, err := caddy.NewReplacer().ReplaceOrErr(placeholder, true, true)
	if err != nil || strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("%s: %s is unset or empty: set it before the server starts", name, placeholder)
	}
	return text, nil
}

func resolvePepper(placeholder string) ([]byte, error) {
	text, err := resolveKey("pepper", placeholder)
	if err != nil {
		return nil, err
	}
	p, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(p) != identity.PepperLen {
		return nil, fmt.Errorf("pepper must be %d hex digits (for example from: openssl rand -hex 32)", 2*identity.PepperLen)
	}
	return p, nil
}

// Start opens the store, unless a request came first and did, and fails the
// load when it cannot.
func (a *App) Start() error {
	l, err := a.acquire(context.Background())
	if err != nil {
		return err
	}
	if err := l.Release(); err != nil {
		return err
	}
	a.logger.Info("store is open", zap.String("dir", a.engine.Directory()))
	return nil
}

// Stop does nothing: requests of this configuration may still run, and they
// need the store. Each of them holds a lease of its own.
func (a *App) Stop() error { return nil }

// Cleanup gives the app's own lease back. The store closes with the last lease.
func (a *App) Cleanup() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.released = true
	if a.held != nil {
		a.current.Store(nil)
		held := a.held
		a.held = nil
		return held.Release()
	}
	return nil
}

// acquire returns a lease of the open node, for one request. Whoever comes
// first opens: apps start in random order, and the HTTP app may accept requests
// before this app's Start.
func (a *App) acquire(ctx context.Context) (nodeLease, error) {
	if l := a.current.Load(); l != nil {
		if c, err := l.Clone(); err == nil {
			return c, nil
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := os.MkdirAll(a.engine.Directory(), 0o700); err != nil {
		return nil, fmt.Errorf("store directory: %w", err)
	}
	key, err := lease.DirKey(a.engine.Directory())
	if err != nil {
		return nil, fmt.Errorf("store directory: %w", err)
	}
	l, err := nodes.Acquire(ctx, key, a.open, (*node).close)
	if err != nil {
		return nil, err
	}
	if a.pepper != nil && !bytes.Equal(a.pepper, l.Value().pepper) {
		return nil, errors.Join(errOtherPepper, l.Release())
	}
	if a.held == nil && !a.released {
		a.held = l
		a.current.Store(l)
		return l.Clone()
	}
	return l, nil
}

func (a *App) open() (*node, error) {
	dir := a.engine.Directory()
	return openNode(context.Background(), nodeOptions{
		dir:    dir,
		pepper: a.pepper,
		spool: spool.Options{
			Dir: filepath.Join(dir, "kept"), MaxSize: a.SpoolSize,
			Key: a.engine.SpoolKey(), Sync: a.engine.Durable(), MinFree: a.engine.Guard,
		},
		openStore: a.engine.OpenStore,
		logger:    a.logger,
		now:       time.Now,
	})
}

// register notes a route of this configuration. Routes of one name share their
// keys, so two different ones must not have the same name.
func (a *App) register(h *Handler) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	other, ok := a.routes[h.Name]
	if !ok {
		a.routes[h.Name] = h
		return nil
	}
	mine, err := json.Marshal(h.Config.withoutPlaces())
	if err != nil {
		return err
	}
	theirs, err := json.Marshal(other.Config.withoutPlaces())
	if err != nil {
		return err
	}
	// One directive may serve several listeners. Two equal ones stand before
	// different apps as often as not, unless somebody gave them one name.
	sameDirective := h.DeclaredAt == other.DeclaredAt && h.DeclaredAt != ""
	if bytes.Equal(mine, theirs) && (sameDirective || !h.DefaultName) {
		return nil
	}
	return fmt.Errorf("two routes have the name %q%s: give one of them another with \"name <text>\", "+
		"because a delivery that one of them has seen counts as seen for the other", h.Name, other.at())
}

// route returns the route of a name.
func (a *App) route(name string) (*Handler, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	h, ok := a.routes[name]
	return h, ok
}

// Interface guards.
var (
	_ caddy.App          = (*App)(nil)
	_ caddy.Provisioner  = (*App)(nil)
	_ caddy.CleanerUpper = (*App)(nil)
)
