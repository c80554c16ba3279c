// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/hookonce/hookonce/caddymodule/identity"
)

// secret parses "secret <value>... { id <name>; until <time> }".
func (p *directive) secret() error {
	d := p.h.Dispenser
	at := place(d)
	values := d.RemainingArgs()
	if len(values) == 0 {
		return d.Errf("secret without a value: is the variable set? Write {env.NAME} or {file./path}, which are read when the server starts")
	}
	s := Secret{DeclaredAt: at}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		switch d.Val() {
		case "id":
			if err := oneArg(d, &s.ID); err != nil {
				return err
			}
		case "until":
			if err := timestamp(d, &s.Until); err != nil {
				return err
			}
		default:
			return d.Errf("unrecognized setting of a secret %q%s", d.Val(), suggest(d.Val(), []string{"id", "until"}))
		}
	}
	if s.ID != "" && len(values) > 1 {
		return d.Errf("one id for %d secrets: write a secret line for each", len(values))
	}
	for _, v := range values {
		s.Value = v
		p.out.Secrets = append(p.out.Secrets, s)
	}
	return nil
}

// bypass parses "bypass <source> <value>...".
func (p *directive) bypass() error {
	d := p.h.Dispenser
	args := d.RemainingArgs()
	if len(args) < 3 {
		return d.Errf("bypass wants a source and the values that mark a test event, as in: bypass json /type ping")
	}
	s, err := identity.ParseSource(strings.Join(args[:2], " "))
	if err != nil {
		return d.WrapErr(err)
	}
	p.out.Bypass = append(p.out.Bypass, Bypass{Source: s, Values: args[2:]})
	return nil
}

// duplicate parses "duplicate <status> [<body>]" or "duplicate replay".
func (p *directive) duplicate() error {
	d, c := p.h.Dispenser, &p.out.Config
	args := d.RemainingArgs()
	if len(args) == 1 && args[0] == "replay" {
		c.DuplicateReplay = true
		return nil
	}
	if len(args) < 1 || len(args) > 2 {
		return d.Errf("duplicate wants a 2xx status and perhaps a body, or the word replay")
	}
	r, ok := parseStatus(args[0])
	if !ok || r.From != r.To || r.From > 299 {
		return d.Errf("duplicate %q: a duplicate is answered with a 2xx status, otherwise the provider keeps sending it", args[0])
	}
	c.DuplicateStatus = r.From
	if len(args) == 2 {
		c.DuplicateBody = args[1]
	}
	return nil
}

// fingerprint parses the rules by which bodies are compared.
func (p *directive) fingerprint() error {
	d := p.h.Dispenser
	if d.CountRemainingArgs() > 0 {
		return d.ArgErr()
	}
	rules := new(identity.FingerprintRules)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		var err error
		switch name {
		case "fields":
			err = paths(d, &rules.Fields)
		case "ignore":
			err = paths(d, &rules.Ignore)
		case "time":
			err = paths(d, &rules.Time)
		case "unordered":
			err = paths(d, &rules.Unordered)
		case "min_fields":
			err = number(d, &rules.MinFields)
		case "off":
			err = flag(d, &rules.Off)
		default:
			err = d.Errf("unrecognized setting of fingerprint %q%s", name, suggest(name,
				[]string{"fields", "ignore", "time", "unordered", "min_fields", "off"}))
		}
		if err != nil {
			return err
		}
	}
	if err := rules.Validate(); err != nil {
		return d.Errf("fingerprint: %w", err)
	}
	p.out.Fingerprint = rules
	return nil
}

// paths adds the paths of one line; a line may be repeated.
func paths(d *caddyfile.Dispenser, to *[]string) error {
	args := d.RemainingArgs()
	if len(args) == 0 {
		return d.Errf("a path is wanted, such as /data/sent_at or /**/attempt")
	}
	*to = append(*to, args...)
	return nil
}
