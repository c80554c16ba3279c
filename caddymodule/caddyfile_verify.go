// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"strings"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// verify parses a scheme, or single settings over the preset's. Syntax:
//
//	verify {
//		signature header|query|json|form <name> {
//			format raw|prefix|kv|list|tagged
//			prefix <text>
//			key <name>
//			separator <text>
//			encoding hex|base64|base64url
//		}
//		timestamp header|query|json|form|key <name> {
//			unit s|ms|rfc3339|auto
//			tolerance <duration>|off
//			future <duration>|off
//		}
//		algorithm hmac-sha1|hmac-sha256|hmac-sha384|hmac-sha512|ed25519|static
//		message <template>
//		id header|query|json|form <name>
//		secret_encoding utf8|base64|hex|whsec|whsec-only|whsec-or-utf8|whpk
//		pattern <part> <regular expression>
//		require_header <name> <value>
//	}
func (p *directive) verify() error {
	d := p.h.Dispenser
	if d.CountRemainingArgs() > 0 {
		return d.ArgErr()
	}
	s := new(verify.Scheme)
	seen := make(map[string]bool)
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		name := d.Val()
		if seen[name] && name != "pattern" && name != "require_header" {
			return d.Errf("%s is given twice; write it once", name)
		}
		seen[name] = true
		if err := verifyLine(d, s, name); err != nil {
			return err
		}
	}
	p.out.Verify = s
	return nil
}

func verifyLine(d *caddyfile.Dispenser, s *verify.Scheme, name string) error {
	switch name {
	case "signature":
		return verifySignature(d, &s.Signature)
	case "timestamp":
		return verifyTimestamp(d, &s.Timestamp)
	case "algorithm":
		return oneArg(d, &s.Algorithm)
	case "message":
		if err := oneArg(d, &s.Message); err != nil {
			return err
		}
		// The Caddyfile adapter expands its own shorthand before we see it.
		s.Message = strings.ReplaceAll(s.Message, "{http.request.method}", "{method}")
		return nil
	case "id":
		return verifySource(d, &s.ID)
	case "secret_encoding":
		return oneArg(d, &s.SecretEncoding)
	case "pattern":
		return pair(d, &s.Patterns)
	case "require_header":
		return pair(d, &s.RequireHeaders)
	}
	return d.Errf("unrecognized setting of verify %q%s", name, suggest(name, []string{
		"signature", "timestamp", "algorithm", "message", "id", "secret_encoding", "pattern", "require_header",
	}))
}

func pair(d *caddyfile.Dispenser, to *map[string]string) error {
	args := d.RemainingArgs()
	if len(args) != 2 {
		return d.ArgErr()
	}
	if *to == nil {
		*to = make(map[string]string)
	}
	(*to)[args[0]] = args[1]
	return nil
}

// verifySource parses "header <name>" and the like.
func verifySource(d *caddyfile.Dispenser, to *verify.Source) error {
	return setSource(d, to, d.RemainingArgs())
}

func setSource(d *caddyfile.Dispenser, to *verify.Source, args []string) error {
	if len(args) != 2 {
		return d.Errf("want a place and its name, such as: header X-Signature")
	}
	switch args[0] {
	case "header":
		to.Header = args[1]
	case "query":
		to.Query = args[1]
	case "json":
		to.JSON = args[1]
	case "form":
		to.Form = args[1]
	default:
		return d.Errf("unknown place %q: want header, query, json or form", args[0])
	}
	return nil
}

func verifySignature(d *caddyfile.Dispenser, to *verify.Signature) error {
	if d.CountRemainingArgs() > 0 { // a block alone changes single settings
		if err := verifySource(d, &to.Source); err != nil {
			return err
		}
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch d.Val() {
		case "format":
			err = oneOfArg(d, &to.Format, "raw", "prefix", "kv", "list", "tagged")
		case "prefix":
			err = oneArg(d, &to.Prefix)
		case "key":
			err = oneArg(d, &to.Key)
		case "separator":
			err = oneArg(d, &to.Separator)
		case "encoding":
			err = oneOfArg(d, &to.Encoding, "hex", "base64", "base64url")
		default:
			err = d.Errf("unrecognized setting of signature %q%s", d.Val(), suggest(d.Val(),
				[]string{"format", "prefix", "key", "separator", "encoding"}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func verifyTimestamp(d *caddyfile.Dispenser, to *verify.Timestamp) error {
	if d.CountRemainingArgs() == 2 {
		args := d.RemainingArgs()
		if args[0] == "key" {
			to.Key = args[1]
		} else if err := setSource(d, &to.Source, args); err != nil {
			return err
		}
	} else if d.CountRemainingArgs() != 0 {
		return d.Errf("want a place and its name, such as: header X-Timestamp")
	}
	for nesting := d.Nesting(); d.NextBlock(nesting); {
		var err error
		switch d.Val() {
		case "unit":
			err = oneOfArg(d, &to.Unit, "s", "ms", "rfc3339", "auto")
		case "tolerance":
			err = span(d, &to.Tolerance)
		case "future":
			err = span(d, &to.Future)
		default:
			err = d.Errf("unrecognized setting of timestamp %q%s", d.Val(), suggest(d.Val(),
				[]string{"unit", "tolerance", "future"}))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// span parses a duration or the word off.
func span(d *caddyfile.Dispenser, to *verify.Duration) error {
	name, text := d.Val(), ""
	if err := oneArg(d, &text); err != nil {
		return err
	}
	if text == "off" {
		*to = verify.Off
		return nil
	}
	v, err := caddy.ParseDuration(text)
	if err != nil || v <= 0 {
		return d.Errf("%s %q: want a duration such as 5m, or off", name, text)
	}
	*to = verify.Duration(v)
	return nil
}
