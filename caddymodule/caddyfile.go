// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/json"
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"

	"github.com/hookonce/hookonce/caddymodule/identity"
)

func init() {
	httpcaddyfile.RegisterDirective("hookonce", parseDirective)
	// Before invoke, handle and route: ordered any later, a site's "handle
	// { reverse_proxy ... }" would answer first and bypass us without a word.
	httpcaddyfile.RegisterDirectiveOrder("hookonce", httpcaddyfile.Before, "invoke")
	httpcaddyfile.RegisterGlobalOption("hookonce", parseGlobalOption)
}

// parseDirective sets up the handler from one directive. Syntax:
//
//	hookonce [<matcher>] [<provider>] {
//		name <text>
//		provider <name>
//		verify { ... }
//		secret <value>... {
//			id <name>
//			until <RFC 3339>
//		}
//		allow_inline_secret
//		public_url <url>
//		sender <placeholder>
//		handshake pass|off
//
//		delivery_id <source>...
//		event_id <source>...
//		bypass <source> <value>...
//		window <duration>
//		fallback_window <duration>
//		body_window <duration>
//
//		on_uncertain hold|retry
//		on_mismatch hold|forward
//		same_body hold|skip|process
//		success <status>...
//		outcome contract|strict
//		duplicate <status> [<body>] | replay
//		retry_status <status>
//		inflight_wait <duration>
//
//		upstream <address>... {
//			dial_timeout <duration>
//			keepalive <duration>
//			tls_server_name <name>
//			tls_trust_pool <file>
//			tls_insecure_skip_verify
//		}
//		forward { <directives> }
//		upstream_timeout <duration>
//
//		max_body <size>
//		body_timeout <duration>
//	}
//
// A source is "header <Name>", "json <pointer>", "form <name>" or
// "query <name>"; sources joined by "+" make a composite.
func parseDirective(h httpcaddyfile.Helper) ([]httpcaddyfile.ConfigValue, error) {
	h.Next() // the directive's name
	matcher := ""
	if h.NextArg() && strings.ContainsAny(h.Val()[:1], "*/@") {
		matcher = h.Val()
	}
	h.Reset()
	h.Next() // the matcher is looked for behind the name
	matchers, err := h.ExtractMatcherSet()
	if err != nil {
		return nil, err
	}
	p := &directive{h: h, seen: make(map[string]bool)}
	h.Next()
	p.out.DeclaredAt = place(h.Dispenser)
	if h.NextArg() {
		p.out.Provider = h.Val()
	}
	if h.NextArg() {
		return nil, h.Errf("unexpected argument %q: after the matcher comes the provider alone", h.Val())
	}
	for nesting := h.Nesting(); h.NextBlock(nesting); {
		if err := p.line(); err != nil {
			return nil, err
		}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.out.Name == "" {
		p.out.Name = defaultName(p.out.Provider, matcher)
	}
	return h.NewRoute(matchers, &p.out), nil
}

// defaultName tells routes of one provider apart by their matchers.
func defaultName(provider, matcher string) string {
	if provider == "" {
		provider = "webhook"
	}
	if matcher == "" || matcher == "*" {
		return provider
	}
	return provider + ":" + matcher
}

// directive is the state of parsing one hookonce block.
type directive struct {
	h    httpcaddyfile.Helper
	out  Handler
	seen map[string]bool
}

// repeatable names the subdirectives that may occur more than once.
var repeatable = map[string]bool{"secret": true, "bypass": true}

// place is file:line of the current token, for messages.
func place(d *caddyfile.Dispenser) string { return caddyfilePlace(d.File(), d.Line()) }

// line parses one subdirective.
func (p *directive) line() error {
	d, c, name := p.h.Dispenser, &p.out.Config, p.h.Val()
	if p.seen[name] && !repeatable[name] {
		return d.Errf("%s is given twice; write it once", name)
	}
	p.seen[name] = true
	switch name {
	case "name":
		return oneArg(d, &c.Name)
	case "provider":
		if c.Provider != "" {
			return d.Errf("the provider is given twice, as argument and as subdirective; write it once")
		}
		return oneArg(d, &c.Provider)
	case "verify":
		return p.verify()
	case "secret":
		return p.secret()
	case "allow_inline_secret":
		return flag(d, &c.AllowInlineSecret)
	case "public_url":
		return oneArg(d, &c.PublicURL)
	case "sender":
		return oneArg(d, &c.Sender)
	case "handshake":
		return oneOfArg(d, &c.Handshake, "pass", "off")
	case "delivery_id":
		return sources(d, &c.DeliveryID)
	case "event_id":
		return sources(d, &c.EventID)
	case "bypass":
		return p.bypass()
	case "window":
		return duration(d, &c.Window)
	case "fallback_window":
		return duration(d, &c.FallbackWindow)
	case "body_window":
		return duration(d, &c.BodyWindow)
	case "on_uncertain":
		return oneOfArg(d, &c.OnUncertain, "hold", "retry")
	case "on_mismatch":
		return oneOfArg(d, &c.OnMismatch, "hold", "forward")
	case "same_body":
		return oneOfArg(d, &c.SameBody, "hold", "skip", "process")
	default:
		return p.lineMore(name)
	}
}

// lineMore parses the subdirectives about answers and the way to the app.
func (p *directive) lineMore(name string) error {
	d, c := p.h.Dispenser, &p.out.Config
	switch name {
	case "success":
		c.Success = d.RemainingArgs()
		if len(c.Success) == 0 {
			return d.ArgErr()
		}
		if _, err := parseStatuses(c.Success); err != nil {
			return d.WrapErr(err)
		}
		return nil
	case "outcome":
		return oneOfArg(d, &c.Outcome, "contract", "strict")
	case "duplicate":
		return p.duplicate()
	case "retry_status":
		return number(d, &c.RetryStatus)
	case "inflight_wait":
		return duration(d, &c.InflightWait)
	case "upstream":
		return p.upstream()
	case "forward":
		return p.forward()
	case "upstream_timeout":
		return duration(d, &c.UpstreamTimeout)
	case "max_body":
		return size(d, &c.MaxBody)
	case "body_timeout":
		return duration(d, &c.BodyTimeout)
	}
	return d.Errf("unrecognized subdirective %q%s", name, suggest(name, subdirectives))
}

// subdirectives are all names, for suggestions.
var subdirectives = []string{
	"name", "provider", "verify", "secret", "allow_inline_secret", "public_url", "sender", "handshake",
	"delivery_id", "event_id", "bypass", "window", "fallback_window", "body_window",
	"on_uncertain", "on_mismatch", "same_body", "success", "outcome", "duplicate", "retry_status", "inflight_wait",
	"upstream", "forward", "upstream_timeout", "max_body", "body_timeout",
}

// check finds what only the whole block shows.
func (p *directive) check() error {
	c, d := &p.out.Config, p.h.Dispenser
	if c.Provider == "" && c.Verify == nil {
		return d.Errf("hookonce at %s: no provider and no verify block: name one, as in \"hookonce /path github { ... }\"", c.DeclaredAt)
	}
	if len(c.Secrets) == 0 {
		return d.Errf("hookonce at %s: no secret: add \"secret {env.NAME}\" or \"secret {file./path}\"", c.DeclaredAt)
	}
	if c.Upstream != nil && c.Forward != nil {
		return d.Errf("hookonce at %s: upstream and forward exclude each other: both are the way to the app", c.DeclaredAt)
	}
	return nil
}

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
	if _, err := u.forwarder(); err != nil {
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
