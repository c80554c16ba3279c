// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"time"
)

// SignOptions says how Sign makes a delivery.
type SignOptions struct {
	// SecretID names the secret to sign with. Default: the first that can sign
	// with the first way of signing that has one.
	SecretID string
	// ID is the delivery's ID. Default: the one that the request has, else a
	// random UUID. Without effect for schemes that have their ID in the body.
	ID string
	// Seed is the 32 bytes of an Ed25519 private key, for schemes that are
	// configured with a public key alone.
	Seed []byte
	// Rand is the source of IDs and nonces. Default: crypto/rand.
	Rand io.Reader
}

// Sign makes r a correct delivery at now: it sets the headers for the
// signature, the timestamp, the ID, and any further header that is part of the
// signed message and missing. The body stays as it is. It fails for schemes
// whose signature is not in a header, and for public keys without a seed.
func (v *Verifier) Sign(r *Request, now time.Time, o SignOptions) error {
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	m, k, err := v.signer(o)
	if err != nil {
		return err
	}
	if err := m.setHeaders(r, now, o); err != nil {
		return err
	}
	text := formatTime(now, m.scheme.Timestamp.Unit)
	if m.time != nil && m.time.kind != inHeader {
		text, _ = m.time.get(r)
	}
	var msg message
	if why := msg.fill(m.templateFor(r), r, text); why != OK {
		return fmt.Errorf("sign: a part of the signed message is missing or does not match its pattern (%s)", why)
	}
	r.Header.Set(m.signature.name, m.layout.render(text, k.sign(&msg, m, o.Seed)))
	return nil
}

// signer finds a method and a key that can sign.
func (v *Verifier) signer(o SignOptions) (*method, *key, error) {
	known := false
	for _, f := range v.families {
		for _, m := range f.methods {
			for i := range m.keys {
				k := &m.keys[i]
				if o.SecretID != "" && k.id != o.SecretID {
					continue
				}
				known = true
				if m.signature.kind == inHeader && (k.public == nil || k.private != nil || len(o.Seed) == ed25519.SeedSize) {
					return m, k, nil
				}
			}
		}
	}
	if !known {
		return nil, nil, fmt.Errorf("sign: there is no secret with the id %q", o.SecretID)
	}
	return nil, nil, errors.New("sign: want a signature in a header, and for Ed25519 the private key (whsk_, or its seed)")
}

// setHeaders fills the headers that the signature will cover or stand beside.
func (m *method) setHeaders(r *Request, now time.Time, o SignOptions) error {
	if m.scheme.ID.Header != "" {
		if err := setMissing(r, m.scheme.ID.Header, o.ID, o.Rand, uuid); err != nil {
			return err
		}
	}
	if m.time != nil && m.time.kind == inHeader {
		r.Header.Set(m.time.name, formatTime(now, m.scheme.Timestamp.Unit))
	}
	for _, p := range m.pinned {
		r.Header.Set(p.name, p.value)
	}
	for _, name := range m.headers {
		if name == m.signature.name || m.time != nil && name == m.time.name {
			continue
		}
		if err := setMissing(r, name, "", o.Rand, nonce); err != nil {
			return err
		}
	}
	return nil
}

// setMissing sets a header to value, or to a made-up one if value is empty and
// the request has none.
func setMissing(r *Request, name, value string, random io.Reader, layout string) error {
	name = textproto.CanonicalMIMEHeaderKey(name)
	if _, n := headerValue(r.Header, name); value == "" && n != absent {
		return nil
	}
	if value == "" {
		var b [16]byte
		if _, err := io.ReadFull(random, b[:]); err != nil {
			return fmt.Errorf("sign: no random bytes: %w", err)
		}
		b[6], b[8] = b[6]&0x0F|0x40, b[8]&0x3F|0x80 // a version 4 UUID
		if value = fmt.Sprintf("%x", b); layout == uuid {
			value = fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
		}
	}
	r.Header.Set(name, value)
	return nil
}

const (
	uuid  = "uuid"
	nonce = "nonce"
)

// sign returns the encoded signature of the message.
func (k *key) sign(msg *message, m *method, seed []byte) string {
	switch {
	case k.pool != nil:
		st := k.pool.Get().(*macState)
		defer k.pool.Put(st)
		return encodeDigest(st.compute(msg), m.layout.encoding)
	case k.public != nil:
		private := k.private
		if private == nil {
			private = ed25519.NewKeyFromSeed(seed)
		}
		return encodeDigest(ed25519.Sign(private, msg.stream(nil, nil)), m.layout.encoding)
	}
	return k.token
}
