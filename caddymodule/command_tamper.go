// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// spoiler spoils a signed delivery of an event.
type spoiler func(*verify.Request, *event) (*verify.Request, error)

// tamperer returns what spoils one part and leaves the others right.
func tamperer(what string, m *maker) (spoiler, error) {
	switch what {
	case "", "none":
		return func(r *verify.Request, _ *event) (*verify.Request, error) { return r, nil }, nil
	case "body":
		return func(r *verify.Request, _ *event) (*verify.Request, error) {
			r.Body = append(append([]byte{}, r.Body...), ' ')
			return r, nil
		}, nil
	case "signature":
		return m.tamperSignature, nil
	case "timestamp":
		return m.tamperTime, nil
	}
	return nil, fmt.Errorf("--tamper %q: want body, signature, timestamp or none", what)
}

// signatureHeader is the header that has the signature.
func (m *maker) signatureHeader(h http.Header) (string, error) {
	for _, place := range m.verifier.LooksFor() {
		if name, ok := strings.CutPrefix(place, "header:"); ok && h.Get(name) != "" {
			return http.CanonicalHeaderKey(name), nil
		}
	}
	return "", fmt.Errorf("%s has no signature in a header", m.preset.Name)
}

// tamperSignature changes one digit, not the last ones, of which in base64 some
// bits have no meaning.
func (m *maker) tamperSignature(r *verify.Request, _ *event) (*verify.Request, error) {
	name, err := m.signatureHeader(r.Header)
	if err != nil {
		return nil, err
	}
	value := []byte(r.Header.Get(name))
	i := max(0, len(value)-6)
	if value[i] == '0' {
		value[i] = '1'
	} else {
		value[i] = '0'
	}
	r.Header.Set(name, string(value))
	return r, nil
}

// tamperTime makes the delivery say that it was signed a second later.
func (m *maker) tamperTime(r *verify.Request, e *event) (*verify.Request, error) {
	name, err := m.signatureHeader(r.Header)
	if err != nil {
		return nil, err
	}
	now, err := m.at()
	if err != nil {
		return nil, err
	}
	moved := false
	for offset := range 2 { // the clock may have gone on since it was signed
		t := now.Add(-time.Duration(offset) * time.Second)
		from, to := strconv.FormatInt(t.Unix(), 10), strconv.FormatInt(t.Unix()+1, 10)
		if value := r.Header.Get(name); !moved && strings.Contains(value, "="+from) {
			r.Header.Set(name, strings.Replace(value, "="+from, "="+to, 1))
			moved = true
		}
	}
	if moved {
		return r, nil
	}
	later := e.request()
	if err := m.verifier.Sign(later, now.Add(time.Second), verify.SignOptions{Seed: m.seed, Rand: m.rand}); err != nil {
		return nil, err
	}
	scheme := m.preset.Scheme
	for _, s := range append([]verify.Scheme{scheme}, scheme.Alternatives...) {
		h := s.Timestamp.Header
		if h != "" && later.Header.Get(h) != "" && r.Header.Get(h) != "" {
			r.Header.Set(h, later.Header.Get(h))
			return r, nil
		}
	}
	return nil, fmt.Errorf("--tamper timestamp: %s signs no time in a header", m.preset.Name)
}
