// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"fmt"
	"strings"

	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"
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
//		fingerprint {
//			fields <path>...
//			ignore <path>...
//			time <path>...
//			unordered <path>...
//			min_fields <n>
//			off
//		}
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
	p.out.DeclaredAt = uniquePlace(h, place(h.Dispenser))
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
		p.out.Name, p.out.DefaultName = defaultName(p.out.Provider, matcher), true
	}
	return h.NewRoute(matchers, &p.out), nil
}

// uniquePlace numbers the copies of a directive that stands in a snippet: each
// import is a route of its own.
func uniquePlace(h httpcaddyfile.Helper, at string) string {
	const key = "hookonce.places"
	seen, _ := h.State[key].(map[string]int)
	if seen == nil {
		seen = make(map[string]int)
		h.State[key] = seen
	}
	if seen[at]++; seen[at] > 1 {
		return fmt.Sprintf("%s, import %d", at, seen[at])
	}
	return at
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
	case "fingerprint":
		return p.fingerprint()
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
	"delivery_id", "event_id", "fingerprint", "bypass", "window", "fallback_window", "body_window",
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
