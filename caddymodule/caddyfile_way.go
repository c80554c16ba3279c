// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/json"

	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
)

// upstream parses "upstream <address>... { ... }".
func (p *directive) upstream() error {
	d := p.h.Dispenser
	u := &Upstream{Addresses: d.RemainingArgs()}
	if len(u.Addresses) == 0 {
		return d.Errf("upstream without an address, such as 127.0.0.1:9000")
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch d.Val() {
		case "dial_timeout":
			err = duration(d, &u.DialTimeout)
		case "keepalive":
			err = duration(d, &u.KeepAlive)
		case "tls_server_name":
			err = oneArg(d, &u.TLSServerName)
		case "tls_trust_pool":
			err = oneArg(d, &u.TLSTrustPool)
		case "tls_insecure_skip_verify":
			err = flag(d, &u.TLSInsecureSkipVerify)
		default:
			err = d.Errf("unrecognized setting of upstream %q%s", d.Val(), suggest(d.Val(),
				[]string{"dial_timeout", "keepalive", "tls_server_name", "tls_trust_pool", "tls_insecure_skip_verify"}))
		}
		if err != nil {
			return err
		}
	}
	if _, err := (&Upstream{Addresses: u.Addresses}).forwarder(); err != nil {
		return d.WrapErr(err)
	}
	p.out.Upstream = u
	return nil
}

// forward parses "forward { <directives> }" as the routes of a subroute.
func (p *directive) forward() error {
	d := p.h.Dispenser
	if d.CountRemainingArgs() > 0 {
		return d.ArgErr()
	}
	sub, err := httpcaddyfile.ParseSegmentAsSubroute(p.h.WithDispenser(d.NewFromNextSegment()))
	if err != nil {
		return err
	}
	routes := sub.(*caddyhttp.Subroute).Routes
	if len(routes) == 0 {
		return d.Errf("forward: the block is empty; put the way to the app into it, such as \"reverse_proxy 127.0.0.1:9000\"")
	}
	raw, err := json.Marshal(routes)
	if err != nil {
		return d.WrapErr(err)
	}
	p.out.Forward = raw
	return nil
}
