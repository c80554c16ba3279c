// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // some providers still sign with HMAC-SHA1
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"hash"
	"sync"
	"time"
)

const (
	staticToken = "static"
	edSignature = "ed25519"
)

// algorithm is one way to sign. Hash is nil for ed25519 and static.
type algorithm struct {
	size int // of a signature, in bytes; 0 for static
	hash func() hash.Hash
}

var algorithms = map[string]algorithm{
	"hmac-sha1":   {sha1.Size, sha1.New},
	"hmac-sha256": {sha256.Size, sha256.New},
	"hmac-sha384": {sha512.Size384, sha512.New384},
	"hmac-sha512": {sha512.Size, sha512.New},
	edSignature:   {ed25519.SignatureSize, nil},
	staticToken:   {0, nil},
}

// key is one secret, ready for use. One of pool, public and token is set.
type key struct {
	id      string
	until   time.Time
	pool    *sync.Pool // of *macState
	public  ed25519.PublicKey
	private ed25519.PrivateKey
	token   string
}

// macState is an HMAC with its key already mixed in. Resetting one costs far
// less than making one.
type macState struct {
	mac hash.Hash
	buf []byte
	sum []byte
}

func hmacPool(newHash func() hash.Hash, secret []byte) *sync.Pool {
	return &sync.Pool{New: func() any {
		mac := hmac.New(newHash, secret)
		mac.Reset() // stores the keyed state, so that later resets only restore it
		return &macState{mac: mac, buf: make([]byte, 0, 256), sum: make([]byte, 0, maxDigest)}
	}}
}

// edBuffers holds messages for ed25519, which wants them in one piece.
var edBuffers = sync.Pool{New: func() any { return new([]byte) }}

// expired reports whether the secret no longer counts.
func (k *key) expired(now time.Time) bool { return !k.until.IsZero() && now.After(k.until) }

// matches reports whether one of the given signatures is this key's for the
// message. It looks at all of them, whichever matches.
func (k *key) matches(m *message, g *given) bool {
	switch {
	case k.pool != nil:
		return k.matchesMAC(m, g)
	case k.public != nil:
		return k.matchesEd25519(m, g)
	}
	// Digests of both, so that the time does not tell the length of the token.
	got, want := sha256.Sum256([]byte(g.token)), sha256.Sum256([]byte(k.token))
	return subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

func (k *key) matchesMAC(m *message, g *given) bool {
	st := k.pool.Get().(*macState)
	sum := st.compute(m)
	equal := 0
	for i := range g.n {
		equal |= subtle.ConstantTimeCompare(sum, g.digest[i][:len(sum)])
	}
	k.pool.Put(st)
	return equal == 1
}

// compute returns the MAC of the message; it is valid until st is used again.
func (st *macState) compute(m *message) []byte {
	st.mac.Reset()
	st.buf = m.stream(st.mac, st.buf[:0])
	st.sum = st.mac.Sum(st.sum[:0])
	return st.sum
}

func (k *key) matchesEd25519(m *message, g *given) bool {
	buf := edBuffers.Get().(*[]byte)
	*buf = m.stream(nil, (*buf)[:0])
	equal := false
	for i := range g.n {
		equal = ed25519.Verify(k.public, *buf, g.digest[i][:ed25519.SignatureSize]) || equal
	}
	edBuffers.Put(buf)
	return equal
}
