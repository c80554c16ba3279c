// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"strings"

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
