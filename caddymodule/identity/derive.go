// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"sync"
)

// PepperLen is the length in bytes of the secret that keys all aliases.
const PepperLen = 32

// Config describes how one route identifies its deliveries.
type Config struct {
	// Pepper is the secret of the installation, PepperLen bytes, the same on all
	// nodes of a fleet. Changing it forgets every delivery.
	Pepper []byte
	// Namespace names the route. Routes of one name share their keys.
	Namespace string
	// Provider names the sending system, such as github.
	Provider string
	// Endpoint narrows all keys but those of events and actions. May be empty.
	Endpoint string

	// Alternatives for each ID: the first one present counts, those that the
	// signature covers before the others. All may be empty.
	DeliveryID []Candidate
	EventID    []Candidate
	// Action identifies what the app shall do. All candidates must be signed.
	Action []Candidate
	// Nonce is a value that is signed once only. All candidates must be signed.
	Nonce []Candidate

	// SameBodyCheck also remembers the body of deliveries with a signed ID, for
	// senders that make a new ID for each retry.
	SameBodyCheck bool
	// Windows are how long keys are remembered. A zero one takes its default.
	Windows Windows
}

// Request is what identity needs of a verified request. It is only read.
type Request struct {
	Header   http.Header
	RawQuery string
	Body     []byte
	// SignedID is the delivery ID that the verifier took from the place its
	// scheme signs; empty if there is none. It comes before Config.DeliveryID.
	// Where one route accepts several schemes, only the verifier knows which ID
	// header the signature of this very request covers.
	SignedID string
	// Sender is the tenant, part of every key. May be empty. It must follow from
	// the secret that verified, or from what the signature covers: a value that
	// a replayed capture can change makes all of its keys new.
	Sender string
	// Test tells that the delivery belongs to the test mode of the provider,
	// which keeps its IDs apart from those of the live mode. The rule for Sender
	// holds for it too.
	Test bool
}

// Keys is the identity of one delivery.
type Keys struct {
	// Aliases holds those with Identity set, strongest first (action, event,
	// delivery, fallback), then the evidence (nonce, body, unsigned delivery
	// ID). Whenever a body alias is present, a body already seen under another
	// identity must not be processed as new without asking.
	//
	// It is empty when nothing can be hashed. With an ambiguous ID it holds the
	// content alone, so that repeats of the held delivery are recognised.
	Aliases []Alias
	// Digest is the SHA-256 of the raw body, also of an empty one.
	Digest   [sha256.Size]byte
	Strength Strength
	// DeliveryID and EventID are for display: cut at 128 bytes, unprintable
	// characters escaped, parts joined by a plus sign. Empty when missing.
	DeliveryID string
	EventID    string
	// Problem is zero, or why the delivery must wait for a person.
	Problem Problem
}

// Identity returns the aliases that mean the same effect, strongest first.
func (k *Keys) Identity() []Alias { return k.Aliases[:k.split()] }

// Evidence returns the other aliases.
func (k *Keys) Evidence() []Alias { return k.Aliases[k.split():] }

func (k *Keys) split() int {
	for i := range k.Aliases {
		if !k.Aliases[i].Identity {
			return i
		}
	}
	return len(k.Aliases)
}

// Strength says how good the strongest identity is.
type Strength uint8

const (
	// Fallback means that there is no ID, only content.
	Fallback Strength = iota
	// Medium means an unsigned ID, bound to the body.
	Medium
	// Strong means a signed ID.
	Strong
)

// String returns "fallback", "medium" or "strong".
func (s Strength) String() string { return [...]string{"fallback", "medium", "strong"}[s] }

// Confidence returns "low", "medium" or "high", as decision records show it.
func (s Strength) Confidence() string { return [...]string{"low", "medium", "high"}[s] }

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
	}
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
				return nil, fmt.Errorf("%s: %s is not covered by the signature", r.kind, c.Source)
			}
			d.unsigned = d.unsigned || !c.Signed
		}
		if err := d.compileRole(&cfg, r.kind, r.candidates); err != nil {
			return nil, fmt.Errorf("%s: %w", r.kind, err)
		}
	}
	pepper := append([]byte(nil), cfg.Pepper...)
	d.pool.New = func() any {
		return &work{mac: hmac.New(sha256.New, pepper), found: make([]finding, d.slots)}
	}
	return d, nil
}

// Derive returns the keys of a verified request. It never fails: what it cannot
// tell for sure is reported as Keys.Problem.
func (d *Deriver) Derive(req *Request) Keys {
	w := d.pool.Get().(*work)
	defer func() { w.reset(); d.pool.Put(w) }()

	k := Keys{Digest: sha256.Sum256(req.Body), Aliases: make([]Alias, 0, len(d.roles)+2)}
	var nonce, plainID Alias
	for i := range d.roles {
		r := &d.roles[i]
		alt, bad := d.resolve(w, req, r)
		switch {
		case bad != "":
			return d.ambiguous(w, req, k.Digest, Problem{ProblemAmbiguousID, alt.text, bad})
		case alt == nil:
		case r.kind == KindNonce:
			nonce = d.idAlias(w, req, r.kind, r.scope, Signed, nil)
		default:
			k.Aliases = append(k.Aliases, d.identityAlias(w, req, r, alt.trust, &k))
			if r.kind == KindDelivery && alt.trust == Unsigned {
				plainID = d.idAlias(w, req, KindDeliveryID, d.id, Unsigned, nil)
			}
		}
	}
	if len(k.Aliases) == 0 && !d.addContent(w, req, &k) {
		k.Problem = Problem{Code: ProblemNoSafeKey}
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
func (d *Deriver) ambiguous(w *work, req *Request, digest [sha256.Size]byte, p Problem) Keys {
	k := Keys{Digest: digest, Problem: p}
	d.addContent(w, req, &k)
	d.addBody(w, req, &k)
	return k
}

// identityAlias makes the alias for the ID in w.parts and notes in k how strong
// it is and how it is shown.
func (d *Deriver) identityAlias(w *work, req *Request, r *role, trust Trust, k *Keys) Alias {
	strength, digest := Strong, []byte(nil)
	if trust == Unsigned {
		strength, digest = Medium, k.Digest[:]
	}
	k.Strength = max(k.Strength, strength)
	switch r.kind {
	case KindEvent:
		k.EventID = w.show()
	case KindDelivery:
		k.DeliveryID = w.show()
	}
	a := d.idAlias(w, req, r.kind, r.scope, trust, digest)
	a.Identity = true
	return a
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

// addContent makes the content the identity. An empty body has none: all empty
// deliveries would be one.
func (d *Deriver) addContent(w *work, req *Request, k *Keys) bool {
	if len(req.Body) == 0 {
		return false
	}
	w.message = bodyMessage(w.message[:0], d.fallback, req, rulesVersion, k.Digest[:])
	k.Aliases = append(k.Aliases, Alias{
		Kind: KindFallback, Key: w.hash(), Trust: Signed, Identity: true, Window: d.windows.Fallback,
	})
	return true
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

// Interface guard.
var _ fmt.Stringer = Strength(0)
