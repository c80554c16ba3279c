// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
)

// parseGlobalOption parses the global option. Syntax:
//
//	hookonce {
//		store badger [<dir>] { ... }
//		body_memory <size>
//		spool_size <size>
//		pepper <placeholder>
//	}
func parseGlobalOption(d *caddyfile.Dispenser, existing any) (any, error) {
	if existing != nil {
		return nil, d.Err("the global option hookonce is given twice; write it once")
	}
	app := new(App)
	d.Next() // the option's name
	if d.NextArg() {
		return nil, d.ArgErr()
	}
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		if seen[name] {
			return nil, d.Errf("%s is given twice; write it once", name)
		}
		seen[name] = true
		var err error
		switch name {
		case "store":
			err = parseStore(d, app)
		case "body_memory":
			err = size(d, &app.BodyMemory)
		case "spool_size":
			err = size(d, &app.SpoolSize)
		case "pepper":
			err = oneArg(d, &app.Pepper)
		default:
			err = d.Errf("unrecognized option %q%s", name, suggest(name, []string{"store", "body_memory", "spool_size", "pepper"}))
		}
		if err != nil {
			return nil, err
		}
	}
	return httpcaddyfile.App{Name: "hookonce", Value: caddyconfig.JSON(app, nil)}, nil
}

func parseStore(d *caddyfile.Dispenser, app *App) error {
	if !d.NextArg() {
		return d.Errf("store wants an engine, such as badger")
	}
	engine := d.Val()
	id := "hookonce.stores." + engine
	if _, err := caddy.GetModule(id); err != nil {
		return d.Errf("unknown store %q: this build knows badger", engine)
	}
	mod, err := caddyfile.UnmarshalModule(d, id)
	if err != nil {
		return err
	}
	app.StoreRaw = caddyconfig.JSONModuleObject(mod, "engine", engine, nil)
	return nil
}

// UnmarshalCaddyfile sets up the store. Syntax:
//
//	store badger [<dir>] {
//		sync on|off
//		max_size <size>
//		min_free <size>
//		encryption_key <placeholder>
//	}
func (b *Badger) UnmarshalCaddyfile(d *caddyfile.Dispenser) error {
	d.Next() // the engine's name
	b.DeclaredAt = place(d)
	if d.NextArg() {
		b.Dir = d.Val()
	}
	if d.NextArg() {
		return d.ArgErr()
	}
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		if seen[name] {
			return d.Errf("%s is given twice; write it once", name)
		}
		seen[name] = true
		var err error
		switch name {
		case "sync":
			var word string
			err = oneOfArg(d, &word, "on", "off")
			on := word == "on"
			b.Sync = &on
		case "max_size":
			err = size(d, &b.MaxSize)
		case "min_free":
			err = size(d, &b.MinFree)
		case "encryption_key":
			err = oneArg(d, &b.EncryptionKey)
		default:
			err = d.Errf("unrecognized setting of the badger store %q%s", name, suggest(name,
				[]string{"sync", "max_size", "min_free", "encryption_key"}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Interface guard.
var _ caddyfile.Unmarshaler = (*Badger)(nil)
