// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import "maps"

// Scheme describes how deliveries are signed. It is pure data: the JSON of a
// preset, and of a user's verify block, which may hold a whole scheme or single
// settings over the one of a preset (Override).
type Scheme struct {
	// Signature is where the signature is and how it is written.
	Signature Signature `json:"signature,omitzero"`
	// Algorithm is hmac-sha1, hmac-sha256, hmac-sha384, hmac-sha512, ed25519,
	// or static: the secret itself is sent, and nothing is signed.
	Algorithm string `json:"algorithm,omitempty"`
	// Message is the template of the signed text. Parts are {body},
	// {timestamp}, {id}, {method}, {url} (the configured public URL),
	// {header:Name}, {query:name}, {form:name} and {json:/pointer}; {{ and }}
	// are literal braces. Unset for static.
	Message string `json:"message,omitempty"`
	// MessageWhen replaces Message for requests of a certain kind. The first
	// rule that fits counts.
	MessageWhen []MessageRule `json:"message_when,omitempty"`
	// Timestamp is the time of the attempt. Unset means that the scheme has none.
	Timestamp Timestamp `json:"timestamp,omitzero"`
	// ID is where the delivery's ID is, in the same header family as the
	// signature. It need not be signed; the template part {id} signs it.
	ID Source `json:"id,omitzero"`
	// Patterns are regular expressions that parts of the message must match as
	// a whole, by part name: "id", "timestamp", "header:X-Nonce". They keep a
	// captured message from being cut in another place.
	Patterns map[string]string `json:"patterns,omitempty"`
	// SecretEncoding says how the text of a secret becomes the key: utf8 (the
	// default), base64, hex, whsec (base64, with or without whsec_ before it),
	// whsec-only (base64 with whsec_), whsec-or-utf8 (base64 with whsec_, else
	// the text itself), or whpk (an Ed25519 key as whpk_ and base64).
	SecretEncoding string `json:"secret_encoding,omitempty"`
	// RequireHeaders pins headers to exact values, against downgrades.
	RequireHeaders map[string]string `json:"require_headers,omitempty"`
	// Weak marks a scheme that is not used when a secret for a stronger
	// alternative is configured. It is not inherited.
	Weak bool `json:"weak,omitempty"`
	// Alternatives are further ways in which the same sender signs. Each is
	// this scheme with the given settings over it. The first whose headers are
	// all present decides which headers count.
	Alternatives []Scheme `json:"alternatives,omitempty"`
}

// Signature says where a signature is and how it is written.
type Signature struct {
	Source
	// Format is raw (the value is the signature), prefix (after a fixed text),
	// kv ("t=1,v1=ab"), list ("1,ab,cd": a timestamp, then signatures) or
	// tagged ("v1,ab v1,cd"). Default: prefix if Prefix is set, else raw.
	Format string `json:"format,omitempty"`
	// Prefix is the fixed text of format prefix, such as "sha256=".
	Prefix string `json:"prefix,omitempty"`
	// Key is the key (kv) or label (tagged) of the signatures that count.
	// Others are ignored. It may occur several times; any may match.
	Key string `json:"key,omitempty"`
	// Separator stands between items. Default: a blank for tagged, else a comma.
	Separator string `json:"separator,omitempty"`
	// Encoding is hex (either case), base64 or base64url (with or without
	// padding). Unset for static.
	Encoding string `json:"encoding,omitempty"`
}

// IsZero reports whether nothing is set.
func (s Signature) IsZero() bool { return s == Signature{} }

// Timestamp says where the signed time of the attempt is.
type Timestamp struct {
	Source
	// Key is the key of the time within a signature of format kv, or "0" for
	// the first item of format list.
	Key string `json:"key,omitempty"`
	// Unit is s (the default), ms, rfc3339, or auto: s or ms by magnitude.
	Unit string `json:"unit,omitempty"`
	// Tolerance is how old a delivery may be. Default 300 s; "off" for any age.
	Tolerance Duration `json:"tolerance,omitempty"`
	// Future is how far ahead of our clock it may be. Default: as Tolerance.
	Future Duration `json:"future,omitempty"`
}

// IsZero reports whether nothing is set.
func (t Timestamp) IsZero() bool { return t == Timestamp{} }

// set reports whether the scheme has a time at all.
func (t Timestamp) set() bool { return t.Key != "" || !t.Source.IsZero() }

// MessageRule is a message template for one kind of request.
type MessageRule struct {
	// Method and ContentType (without parameters) must equal those of the
	// request, where they are set.
	Method      string `json:"method,omitempty"`
	ContentType string `json:"content_type,omitempty"`
	Message     string `json:"message"`
}

// Override returns s with the settings of o over it. Single settings, such as
// a tolerance, also reach the alternatives of s. Settings that say what is
// signed or where the signature is describe a scheme of its own, and the
// alternatives of s no longer apply.
func (s Scheme) Override(o Scheme) Scheme {
	own := !o.Signature.IsZero() || o.Algorithm != "" || o.Message != "" || o.MessageWhen != nil ||
		o.Timestamp.set() || !o.ID.IsZero() || o.SecretEncoding != ""
	alternatives := s.Alternatives
	if own || o.Alternatives != nil {
		alternatives = o.Alternatives
	}
	merged := s.with(o)
	merged.Alternatives = alternatives
	merged.Weak = o.Weak || !own && s.Weak
	return merged
}

// with returns s with the settings of o over it, and no alternatives.
func (s Scheme) with(o Scheme) Scheme {
	if o.Algorithm == staticToken { // nothing is signed, so nothing of this is left
		s.Message, s.MessageWhen, s.Timestamp, s.Patterns, s.Signature.Encoding = "", nil, Timestamp{}, nil, ""
	}
	s.Signature = s.Signature.with(o.Signature)
	s.Timestamp = s.Timestamp.with(o.Timestamp)
	s.Algorithm = pick(o.Algorithm, s.Algorithm)
	s.SecretEncoding = pick(o.SecretEncoding, s.SecretEncoding)
	if o.Message != "" {
		s.Message, s.MessageWhen = o.Message, nil
	}
	if o.MessageWhen != nil {
		s.MessageWhen = o.MessageWhen
	}
	if !o.ID.IsZero() {
		s.ID = o.ID
	}
	s.Patterns = mergeMaps(s.Patterns, o.Patterns)
	s.RequireHeaders = mergeMaps(s.RequireHeaders, o.RequireHeaders)
	s.Weak, s.Alternatives = o.Weak, nil
	return s
}

func (s Signature) with(o Signature) Signature {
	if !o.Source.IsZero() {
		s.Source = o.Source
	}
	if o.Format != "" && o.Format != s.format() {
		s.Prefix, s.Key, s.Separator = "", "", ""
	}
	s.Format = pick(o.Format, s.Format)
	s.Prefix = pick(o.Prefix, s.Prefix)
	s.Key = pick(o.Key, s.Key)
	s.Separator = pick(o.Separator, s.Separator)
	s.Encoding = pick(o.Encoding, s.Encoding)
	return s
}

// format returns the format with its default.
func (s Signature) format() string {
	switch {
	case s.Format != "":
		return s.Format
	case s.Prefix != "":
		return "prefix"
	}
	return "raw"
}

// separator returns the separator with its default.
func (s Signature) separator() string {
	if s.Separator == "" && s.format() == "tagged" {
		return " "
	}
	return pick(s.Separator, ",")
}

func (t Timestamp) with(o Timestamp) Timestamp {
	if o.set() {
		t.Source, t.Key = o.Source, o.Key
	}
	t.Unit = pick(o.Unit, t.Unit)
	t.Tolerance = pick(o.Tolerance, t.Tolerance)
	t.Future = pick(o.Future, t.Future)
	return t
}

// pick returns a if it is set, else b.
func pick[T comparable](a, b T) T {
	var zero T
	if a != zero {
		return a
	}
	return b
}

// mergeMaps never writes to its arguments: presets share their maps.
func mergeMaps(base, over map[string]string) map[string]string {
	if len(over) == 0 {
		return base
	}
	merged := make(map[string]string, len(base)+len(over))
	maps.Copy(merged, base)
	maps.Copy(merged, over)
	return merged
}
