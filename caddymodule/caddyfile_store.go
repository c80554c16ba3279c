// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
)

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
