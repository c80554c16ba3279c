// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"
)

// method is one way of signing, compiled: one signature place, one layout, one
// algorithm, and the keys that it takes.
type method struct {
	scheme    *Scheme
	places    string   // where its parts are; methods of a family share it
	headers   []string // that must be present
	pinned    []pin
	signature locator
	layout    layout
	algorithm algorithm
	time      *locator // nil: none, or within the signature
	lateTime  bool     // the time is in the body, and is read once that is verified
	id        *locator // nil: none
	signedID  bool
	templates []*template
	keys      []key
	weak      bool
}

// pin is a header with the only value that is accepted.
type pin struct{ name, value string }

func newMethod(s *Scheme, o Options) (*method, error) {
	m := &method{scheme: s, weak: s.Weak}
	steps := []func() error{
		m.compileAlgorithm, m.compileSignature, m.compileTime, m.compileID,
		func() error { return m.compileMessage(o.PublicURL) },
		m.checkCoverage, m.checkPatterns,
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	for name, value := range s.RequireHeaders {
		m.pinned = append(m.pinned, pin{textproto.CanonicalMIMEHeaderKey(name), value})
	}
	m.headers = headersOf(s, m.templates)
	m.places = fmt.Sprint(s.Signature.Source, s.Signature.format(), s.Signature.separator(),
		s.Timestamp.Source, s.Timestamp.Key, s.ID, m.headers)
	return m, nil
}

func (m *method) compileAlgorithm() error {
	var ok bool
	if m.algorithm, ok = algorithms[m.scheme.Algorithm]; !ok {
		return fmt.Errorf("algorithm: unknown %q; known are hmac-sha256, hmac-sha512, hmac-sha384, hmac-sha1, ed25519 and static",
			m.scheme.Algorithm)
	}
	return checkEncoding(m.scheme.SecretEncoding)
}

func (m *method) compileSignature() (err error) {
	s := m.scheme.Signature
	if m.signature, err = s.locate(); err != nil {
		return fmt.Errorf("signature: where is it? %w", err)
	}
	m.layout = layout{
		format: s.format(), prefix: s.Prefix, key: s.Key, separator: s.separator(),
		encoding: s.Encoding, timeKey: m.scheme.Timestamp.Key, size: m.algorithm.size,
	}
	switch s.format() {
	case "raw", "list":
	case "prefix":
		if s.Prefix == "" {
			return errors.New("signature: format prefix needs the prefix, such as \"sha256=\"")
		}
	case "kv", "tagged":
		if s.Key == "" {
			return fmt.Errorf("signature: format %s needs the key of the signatures that count, such as \"v1\"", s.format())
		}
	default:
		return fmt.Errorf("signature: unknown format %q; known are raw, prefix, kv, list and tagged", s.Format)
	}
	return m.checkLayout()
}

func (m *method) checkLayout() error {
	s := m.scheme.Signature
	static := m.algorithm.size == 0
	switch {
	case s.Prefix != "" && s.format() != "prefix":
		return fmt.Errorf("signature: a prefix does not go with format %s", s.format())
	case s.Key != "" && s.format() != "kv" && s.format() != "tagged":
		return fmt.Errorf("signature: a key does not go with format %s", s.format())
	case static && s.Encoding != "":
		return errors.New("signature: a static secret is compared as it is and has no encoding")
	case static && s.format() != "raw" && s.format() != "prefix":
		return errors.New("signature: a static secret has format raw or prefix")
	case !static && s.Encoding != "hex" && s.Encoding != "base64" && s.Encoding != "base64url":
		return fmt.Errorf("signature: unknown encoding %q; known are hex, base64 and base64url", s.Encoding)
	}
	return nil
}

func (m *method) compileTime() error {
	t := m.scheme.Timestamp
	switch t.Unit {
	case "", "s", "ms", "rfc3339", "auto":
	default:
		return fmt.Errorf("timestamp: unknown unit %q; known are s, ms, rfc3339 and auto", t.Unit)
	}
	if t.Key != "" {
		switch format := m.layout.format; {
		case !t.Source.IsZero():
			return errors.New("timestamp: has a key within the signature and a place of its own; want one of them")
		case format == "kv" && t.Key != m.layout.key, format == "list" && t.Key == "0":
			return nil
		}
		return errors.New("timestamp: a key goes with a signature of format kv (another key than the signature's) or list (\"0\")")
	}
	if t.Source.IsZero() {
		return nil
	}
	l, err := t.locate()
	if err != nil {
		return fmt.Errorf("timestamp: where is it? %w", err)
	}
	m.time = &l
	return nil
}

func (m *method) compileID() error {
	if m.scheme.ID.IsZero() {
		return nil
	}
	l, err := m.scheme.ID.locate()
	if err != nil {
		return fmt.Errorf("id: where is it? %w", err)
	}
	m.id = &l
	return nil
}

func (m *method) compileMessage(publicURL string) error {
	s := m.scheme
	if m.algorithm.size == 0 {
		if s.Message != "" || s.MessageWhen != nil {
			return errors.New("message: a static secret signs nothing; leave the message out")
		}
		m.templates = []*template{{}}
		return nil
	}
	for _, rule := range append(slices.Clone(s.MessageWhen), MessageRule{Message: s.Message}) {
		t, err := parseTemplate(rule.Message, s, publicURL)
		if err != nil {
			return fmt.Errorf("message %q: %w", rule.Message, err)
		}
		if !slices.ContainsFunc(t.parts, func(p part) bool { return p.kind != partText }) {
			return fmt.Errorf("message %q: covers nothing of the request; the usual message is \"{body}\"", rule.Message)
		}
		t.method, t.contentType = rule.Method, strings.ToLower(rule.ContentType)
		m.templates = append(m.templates, t)
	}
	return nil
}

// checkCoverage refuses a timestamp that the signature does not cover: anybody
// could make an old delivery young again.
func (m *method) checkCoverage() error {
	m.signedID = m.id != nil
	for _, t := range m.templates {
		t.covers.Time = t.covers.Time || m.time != nil && t.covers.Signed(m.scheme.Timestamp.Source)
		if m.scheme.Timestamp.set() && !t.covers.Time {
			return errors.New("timestamp: is not part of the signed message, so it proves nothing; " +
				"add {timestamp} to the message or leave the timestamp out")
		}
		m.signedID = m.signedID && t.covers.Signed(m.scheme.ID)
	}
	m.lateTime = m.time != nil && m.time.kind != inHeader &&
		!slices.ContainsFunc(m.templates, func(t *template) bool { return t.has("timestamp") })
	return nil
}

func (m *method) checkPatterns() error {
	for name := range m.scheme.Patterns {
		if !slices.ContainsFunc(m.templates, func(t *template) bool { return t.has(name) }) {
			return fmt.Errorf("patterns: the message has no part {%s}", name)
		}
	}
	return nil
}

// encodingFor returns the reading of a secret's text. A secret's own reading is
// meant for text; it does not turn the text into an Ed25519 key.
func (m *method) encodingFor(s Secret) string {
	if m.scheme.SecretEncoding == "whpk" {
		return "whpk"
	}
	return pick(s.Encoding, m.scheme.SecretEncoding)
}

// newKey reads a secret in the way of this method.
func (m *method) newKey(s Secret) (key, error) {
	k := key{id: s.ID, until: s.Until}
	raw, err := decodeSecret(s.Value, m.encodingFor(s))
	switch {
	case err != nil:
		return key{}, err
	case m.algorithm.hash != nil:
		k.pool = hmacPool(m.algorithm.hash, raw)
	case m.algorithm.size == 0:
		k.token = string(raw)
	default:
		k.public, k.private, err = edKeys(s.Value, raw)
	}
	return k, err
}
