// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
)

// Options is what a Verifier needs besides the scheme and its secrets.
type Options struct {
	// PublicURL is the URL as the provider knows it, byte for byte, for schemes
	// that sign it.
	PublicURL string
}

// Verifier checks and makes signatures. It is safe for concurrent use.
type Verifier struct {
	families []*family
	warnings []string
}

// Warnings returns what a person should know about the configuration although
// it works, such as white space that was trimmed from a secret. Values of
// secrets are never in it.
func (v *Verifier) Warnings() []string { return v.warnings }

// LooksFor returns the places in which a signature is looked for, such as
// "header:X-Hub-Signature-256", to be named when it is missing.
func (v *Verifier) LooksFor() []string {
	var places []string
	for _, f := range v.families {
		places = append(places, f.methods[0].scheme.Signature.Source.String())
	}
	return places
}

// Compile checks the scheme and the secrets and makes them ready for use. All
// errors of the configuration are found here, and say the cure.
func (s *Scheme) Compile(secrets []Secret, o Options) (*Verifier, error) {
	if err := checkURL(o.PublicURL); err != nil {
		return nil, err
	}
	methods, err := s.methods(o)
	if err != nil {
		return nil, err
	}
	v := &Verifier{}
	if err := v.assign(methods, secrets); err != nil {
		return nil, err
	}
	strong := slices.ContainsFunc(methods, func(m *method) bool { return !m.weak && len(m.keys) > 0 })
	for _, m := range methods {
		if len(m.keys) > 0 && !(strong && m.weak) {
			v.join(m)
		}
	}
	return v, nil
}

func checkURL(text string) error {
	if text == "" {
		return nil
	}
	if u, err := url.Parse(text); err != nil || u.Scheme == "" || u.Host == "" {
		return errors.New("public_url: must be a whole URL, such as https://hooks.example.com/square")
	}
	return nil
}

// methods compiles the scheme and its alternatives.
func (s *Scheme) methods(o Options) ([]*method, error) {
	schemes := []Scheme{s.with(Scheme{Weak: s.Weak})}
	for _, alternative := range s.Alternatives {
		if alternative.Alternatives != nil {
			return nil, errors.New("alternatives: an alternative cannot have alternatives itself")
		}
		schemes = append(schemes, schemes[0].with(alternative))
	}
	methods := make([]*method, len(schemes))
	for i := range schemes {
		m, err := newMethod(&schemes[i], o)
		if err != nil && i > 0 {
			err = fmt.Errorf("alternative %d: %w", i, err)
		}
		if err != nil {
			return nil, err
		}
		methods[i] = m
	}
	return methods, nil
}

// assign gives each secret to the methods that it is for.
func (v *Verifier) assign(methods []*method, secrets []Secret) error {
	if len(secrets) == 0 {
		return errors.New("no secret is configured: without one nothing can be verified")
	}
	names := map[string]bool{}
	for i, given := range secrets {
		s, trimmed, err := given.prepare(i + 1)
		if err != nil {
			return err
		}
		if trimmed {
			v.warnings = append(v.warnings, fmt.Sprintf("secret %s: white space around it was removed", s.ID))
		}
		if names[s.ID] {
			return fmt.Errorf("secret %s: two secrets have this id", s.ID)
		}
		names[s.ID] = true
		if err := assignOne(methods, s); err != nil {
			return fmt.Errorf("secret %s: %w", s.ID, err)
		}
	}
	return nil
}

func assignOne(methods []*method, s Secret) error {
	best := refuses
	for _, m := range methods {
		best = max(best, fits(m.encodingFor(s), s.Value))
	}
	if best == refuses {
		return errors.New(misfit(s.Value))
	}
	for _, m := range methods {
		if fits(m.encodingFor(s), s.Value) != best {
			continue
		}
		k, err := m.newKey(s)
		if err != nil {
			return err
		}
		m.keys = append(m.keys, k)
	}
	return nil
}

func misfit(value string) string {
	switch {
	case strings.HasPrefix(value, "whpk_"), strings.HasPrefix(value, "whsk_"):
		return "is an Ed25519 key (whpk_ or whsk_), and this scheme has no Ed25519 signatures; use the secret that begins with whsec_"
	case strings.HasPrefix(value, "whsec_"):
		return "is an HMAC secret (whsec_), and this scheme wants an Ed25519 key that begins with whpk_"
	}
	return "has not the prefix that this scheme wants (whsec_ or whpk_); copy it again from the provider, whole"
}

// join adds a method to the family with the same places, or opens a new one.
func (v *Verifier) join(m *method) {
	for _, f := range v.families {
		if f.places == m.places {
			f.methods = append(f.methods, m)
			return
		}
	}
	v.families = append(v.families, &family{places: m.places, headers: m.headers, methods: []*method{m}})
}

// headersOf lists the headers that must be present for a method, in the order
// in which their absence is reported.
func headersOf(s *Scheme, templates []*template) []string {
	var names []string
	add := func(header string) {
		if name := textproto.CanonicalMIMEHeaderKey(header); header != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(s.Signature.Header)
	add(s.Timestamp.Header)
	for _, t := range templates {
		for _, p := range t.parts {
			if p.kind == partSource && p.source.kind == inHeader {
				add(p.source.name)
			}
		}
	}
	return names
}
