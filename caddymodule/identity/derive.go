// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
)

// Deriver derives the keys of one route. It is safe for concurrent use.
type Deriver struct {
	roles    []role // action, event, delivery, nonce: those that are configured
	tree     *node
	slots    int
	fallback scope
	body     scope
	id       scope
	unsigned bool // some identity may come from an unsigned source
	sameBody bool
	windows  Windows
	pool     sync.Pool

	now, old      *ruleset  // nil: raw bytes; no change
	compare       *comparer // nil: nothing
	hashForbidden bool
}

// New compiles a configuration. Errors name the setting that is wrong and never
// contain the pepper.
func New(cfg Config) (*Deriver, error) {
	if len(cfg.Pepper) != PepperLen {
		return nil, fmt.Errorf("pepper has %d bytes, want %d", len(cfg.Pepper), PepperLen)
	}
	if cfg.Namespace == "" {
		return nil, errors.New("namespace is empty")
	}
	d := &Deriver{
		tree:     &node{index: -1},
		fallback: newScope(&cfg, KindFallback),
		body:     newScope(&cfg, KindBody),
		id:       newScope(&cfg, KindDeliveryID),
		sameBody: cfg.SameBodyCheck,
		windows:  cfg.Windows.withDefaults(),

		hashForbidden: cfg.HashForbidden,
	}
	if err := d.compileRoles(&cfg); err != nil {
		return nil, err
	}
	if err := d.compileAction(&cfg); err != nil {
		return nil, err
	}
	var err error
	if d.now, err = compileRuleset(&cfg, cfg.Fingerprint); err != nil {
		return nil, fmt.Errorf("fingerprint: %w", err)
	}
	if d.old, err = compileRuleset(&cfg, cfg.OldFingerprint); err != nil {
		return nil, fmt.Errorf("old fingerprint: %w", err)
	}
	pepper := append([]byte(nil), cfg.Pepper...)
	d.pool.New = func() any {
		return &work{mac: hmac.New(sha256.New, pepper), found: make([]finding, d.slots)}
	}
	return d, nil
}

func (d *Deriver) compileRoles(cfg *Config) error {
	for _, r := range []struct {
		kind       Kind
		candidates []Candidate
	}{
		{KindAction, cfg.Action},
		{KindEvent, cfg.EventID},
		{KindDelivery, cfg.DeliveryID},
		{KindNonce, cfg.Nonce},
	} {
		for _, c := range r.candidates {
			if !c.Signed && (r.kind == KindAction || r.kind == KindNonce) {
				return fmt.Errorf("%s: %s is not covered by the signature", r.kind, c.Source)
			}
			d.unsigned = d.unsigned || !c.Signed
		}
		if err := d.compileRole(cfg, r.kind, r.candidates); err != nil {
			return fmt.Errorf("%s: %w", r.kind, err)
		}
	}
	return nil
}

// Derive returns the keys of a verified request. It never fails: what it cannot
// tell for sure is reported as Keys.Problem.
func (d *Deriver) Derive(req *Request) Keys {
	w := d.pool.Get().(*work)
	defer func() { w.reset(); d.pool.Put(w) }()

	k := Keys{Digest: sha256.Sum256(req.Body), Aliases: make([]Alias, 0, len(d.roles)+2)}
	d.readContent(w, req, &k)
	var nonce, plainID Alias
	for i := range d.roles {
		r := &d.roles[i]
		alt, bad := d.resolve(w, req, r)
		switch {
		case bad != "":
			return d.ambiguous(w, req, &k, Problem{ProblemAmbiguousID, alt.text, bad})
		case alt == nil:
		case r.kind == KindNonce:
			nonce = d.idAlias(w, req, r.kind, r.scope, Signed, nil)
		default:
			d.addIdentity(w, req, r, alt.trust, &k)
			if r.kind == KindDelivery && alt.trust == Unsigned {
				plainID = d.idAlias(w, req, KindDeliveryID, d.id, Unsigned, nil)
			}
		}
	}
	if len(k.Aliases) == 0 {
		if safe, why := d.addContent(w, req, &k); !safe {
			k.Problem = Problem{Code: ProblemNoSafeKey, Reason: why}
		}
	}
	if nonce.Kind != "" {
		k.Aliases = append(k.Aliases, nonce)
	}
	d.addBody(w, req, &k)
	if plainID.Kind != "" {
		k.Aliases = append(k.Aliases, plainID)
	}
	return k
}

// ambiguous returns the keys of a delivery whose ID must not be used. Nothing
// found so far is kept: parts of an identity are not one.
func (d *Deriver) ambiguous(w *work, req *Request, found *Keys, p Problem) Keys {
	k := *found
	k.Aliases, k.Strength, k.Problem = nil, Fallback, p
	k.DeliveryID, k.EventID, k.Action, k.ActionDigest = "", "", "", [sha256.Size]byte{}
	d.addContent(w, req, &k)
	d.addBody(w, req, &k)
	return k
}

// addIdentity adds the alias for the ID in w.parts, and notes in k how strong it
// is and how it is shown. An unsigned ID is bound to the body, under the old
// rules as well.
func (d *Deriver) addIdentity(w *work, req *Request, r *role, trust Trust, k *Keys) {
	switch r.kind {
	case KindAction:
		k.Action = w.show()
	case KindEvent:
		k.EventID = w.show()
	case KindDelivery:
		k.DeliveryID = w.show()
	}
	add := func(digest []byte) {
		a := d.idAlias(w, req, r.kind, r.scope, trust, digest)
		a.Identity = true
		k.Aliases = append(k.Aliases, a)
	}
	if trust == Signed {
		k.Strength = Strong
		add(nil)
	} else {
		k.Strength = max(k.Strength, Medium)
		add(w.now.bind[:])
		if d.old != nil && w.old.bind != w.now.bind {
			add(w.old.bind[:])
		}
	}
	if r.kind == KindAction && d.compare != nil {
		k.ActionDigest = d.compare.digest(d, w, req, k.Digest)
	}
}

// idAlias makes an alias for the ID in w.parts.
func (d *Deriver) idAlias(w *work, req *Request, kind Kind, sc scope, trust Trust, digest []byte) Alias {
	w.message = idMessage(w.message[:0], sc, req, trust, w.parts, digest)
	window := d.windows.ID
	if kind == KindNonce {
		window = d.windows.Nonce
	}
	return Alias{Kind: kind, Key: w.hash(), Trust: trust, Window: window}
}

// addBody adds the body as evidence when the identity might have been chosen by
// whoever replays a capture: the ID found is unsigned, or an unsigned one may
// have been removed.
func (d *Deriver) addBody(w *work, req *Request, k *Keys) {
	if len(req.Body) == 0 || !d.sameBody && (!d.unsigned || k.Strength == Strong) {
		return
	}
	w.message = bodyMessage(w.message[:0], d.body, req, "", k.Digest[:])
	k.Aliases = append(k.Aliases, Alias{Kind: KindBody, Key: w.hash(), Trust: Signed, Window: d.windows.Body})
}

// hash returns the truncated keyed hash of w.message.
func (w *work) hash() (key [16]byte) {
	w.mac.Reset()
	w.mac.Write(w.message)
	w.sum = w.mac.Sum(w.sum[:0])
	copy(key[:], w.sum)
	return key
}

// show returns the ID in w.parts for display.
func (w *work) show() string {
	w.shown = w.shown[:0]
	for i, p := range w.parts {
		if i > 0 {
			w.shown = append(w.shown, '+')
		}
		w.shown = appendShown(w.shown, p.text)
	}
	return shorten(w.shown)
}
