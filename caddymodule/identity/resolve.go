// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"hash"
	"net/textproto"
	"slices"
)

// part is one value of an ID: the text and whether it was a JSON number.
type part struct {
	text    []byte
	number  bool
	version bool // of an action, and no ID
}

// leaf is a simple source, compiled.
type leaf struct {
	kind string
	name string // in canonical form for a header
	slot int    // the finding of a JSON pointer

	version bool // any value will do, also a placeholder
}

// alternative is one candidate, compiled.
type alternative struct {
	leaves []leaf
	trust  Trust
	text   string
}

// role is one thing that a route looks for, such as the delivery ID.
type role struct {
	kind  Kind
	scope scope
	alts  []alternative
}

// compileRole turns candidates into a role and adds their pointers to the tree.
//
// Signed candidates come before unsigned ones, whatever the order given. An
// unsigned value can be removed or added by whoever replays a capture; were it
// looked at first, the same signed body would get two identities.
func (d *Deriver) compileRole(cfg *Config, kind Kind, candidates []Candidate) error {
	r := role{kind: kind, scope: newScope(cfg, kind)}
	for _, c := range candidates {
		if err := c.Source.Validate(); err != nil {
			return err
		}
		alt := alternative{text: c.Source.String()}
		if c.Signed {
			alt.trust = Signed
		}
		for _, s := range c.Source.Leaves() {
			l, err := d.compileLeaf(s)
			if err != nil {
				return err
			}
			alt.leaves = append(alt.leaves, l)
		}
		if kind == KindAction && cfg.ActionVersion != nil {
			if err := d.addVersion(&alt, cfg.ActionVersion.Source); err != nil {
				return err
			}
		}
		r.alts = append(r.alts, alt)
	}
	slices.SortStableFunc(r.alts, func(a, b alternative) int { return int(b.trust) - int(a.trust) })
	// A delivery ID may come from the verifier even if none is configured.
	if len(r.alts) > 0 || kind == KindDelivery {
		d.roles = append(d.roles, r)
	}
	return nil
}

// addVersion makes the version of an action its last part.
func (d *Deriver) addVersion(alt *alternative, s Source) error {
	if err := s.Validate(); err != nil {
		return err
	}
	for _, part := range s.Leaves() {
		l, err := d.compileLeaf(part)
		if err != nil {
			return err
		}
		l.version = true
		alt.leaves = append(alt.leaves, l)
	}
	alt.text += " version " + s.String()
	return nil
}

func (d *Deriver) compileLeaf(s Source) (leaf, error) {
	kind, name := s.leaf()
	l := leaf{kind: kind, name: name}
	switch kind {
	case "header":
		l.name = textproto.CanonicalMIMEHeaderKey(name)
	case "json":
		p, err := ParsePointer(name)
		if err != nil {
			return leaf{}, err
		}
		l.slot = d.slots
		d.slots++
		return l, d.tree.add(p, l.slot)
	}
	return l, nil
}

// work holds the scratch buffers of one Derive. They are pooled.
type work struct {
	mac     hash.Hash
	message []byte
	arena   []byte // texts that are not views into the body
	parts   []part
	shown   []byte
	sum     []byte
	scanner scanner
	found   []finding
	scanned bool

	canonizer canonizer
	now, old  content
}

// maxKept is the capacity above which a buffer is not kept for the next request.
const maxKept = 16 << 10

// reset forgets a request, so that the pool keeps no body alive.
func (w *work) reset() {
	if cap(w.arena) > maxKept {
		w.arena = nil
	}
	clear(w.found)
	clear(w.parts[:cap(w.parts)])
	w.arena, w.parts, w.scanned = w.arena[:0], w.parts[:0], false
}

// verified stands for Request.SignedID.
var verified = alternative{trust: Signed, text: "the place that the scheme signs"}

// resolve finds the ID for a role and leaves its parts in w.parts. A nil
// alternative without a reason means that the request carries none.
func (d *Deriver) resolve(w *work, req *Request, r *role) (*alternative, Reason) {
	if r.kind == KindDelivery && req.SignedID != "" {
		p, present, bad := check(part{text: w.keep(req.SignedID)})
		if present || bad != "" {
			w.parts = append(w.parts[:0], p)
			return &verified, bad
		}
	}
	for i := range r.alts {
		alt := &r.alts[i]
		ok, bad := d.read(w, req, alt)
		if bad != "" {
			return alt, bad
		}
		if !ok {
			continue
		}
		if alt.isSignedHeader() {
			if other := d.disagreeing(w, req, r.alts[i+1:]); other != nil {
				return other, ReasonDisagree
			}
		}
		return alt, ""
	}
	return nil, ""
}

// read collects the parts of one alternative. A composite is missing when any
// part is, but a part that is ambiguous counts even then.
func (d *Deriver) read(w *work, req *Request, alt *alternative) (ok bool, bad Reason) {
	w.parts = w.parts[:0]
	for i := range alt.leaves {
		p, present, bad := d.readLeaf(w, req, &alt.leaves[i])
		if bad != "" {
			return false, bad
		}
		if present {
			w.parts = append(w.parts, p)
		}
	}
	return len(w.parts) == len(alt.leaves), ""
}

func (alt *alternative) isSignedHeader() bool {
	return alt.trust == Signed && len(alt.leaves) == 1 && alt.leaves[0].kind == "header"
}

// disagreeing looks for a later signed header with another ID than the one in
// w.parts. Schemes that allow two families of headers cover one of them in each
// delivery, so that the ID header of the other family may be a forger's.
func (d *Deriver) disagreeing(w *work, req *Request, later []alternative) *alternative {
	for i := range later {
		alt := &later[i]
		if !alt.isSignedHeader() {
			continue
		}
		p, present, bad := d.readLeaf(w, req, &alt.leaves[0])
		if bad != "" || present && !bytes.Equal(p.text, w.parts[0].text) {
			return alt
		}
	}
	return nil
}

// readLeaf reads one value of an ID.
func (d *Deriver) readLeaf(w *work, req *Request, l *leaf) (p part, present bool, bad Reason) {
	p, present, bad = d.readRaw(w, req, l)
	switch {
	case !present || bad != "":
		return part{}, false, bad
	case l.version:
		p.version = true
		return p, len(p.text) > 0, checkText(p.text)
	}
	return check(p)
}

// readRaw reads one value, whatever it says.
func (d *Deriver) readRaw(w *work, req *Request, l *leaf) (p part, present bool, bad Reason) {
	switch l.kind {
	case "header":
		p.text, present, bad = w.header(req.Header[l.name])
	case "json":
		p, present, bad = d.readJSON(w, req, l)
	case "form":
		p.text, present, bad = w.form(req.Body, l.name)
	case "query":
		p.text, present, bad = w.form(w.keep(req.RawQuery), l.name)
	}
	return p, present, bad
}

// check tells whether a value is an ID. Blank values and placeholders count as
// missing; control characters, white space or not, are ambiguous before that.
func check(p part) (_ part, present bool, bad Reason) {
	if bad := checkText(p.text); bad != "" {
		return part{}, false, bad
	}
	if p.number {
		return p, !isZero(p.text), ""
	}
	return p, !isPlaceholder(p.text), ""
}

// keep copies a string into the arena.
func (w *work) keep(s string) []byte {
	start := len(w.arena)
	w.arena = append(w.arena, s...)
	return w.arena[start:]
}

func (w *work) header(values []string) (text []byte, present bool, bad Reason) {
	switch {
	case len(values) == 0:
		return nil, false, ""
	case len(values) > 1:
		return nil, true, ReasonRepeated
	case len(values[0]) > MaxIDLen:
		return nil, true, ReasonTooLong
	}
	return w.keep(values[0]), true, ""
}

func (w *work) form(encoded []byte, name string) (text []byte, present bool, bad Reason) {
	raw, present, bad := formField(encoded, name)
	if !present || bad != "" {
		return nil, present, bad
	}
	start := len(w.arena)
	w.arena, bad = formText(w.arena, raw)
	return w.arena[start:], true, bad
}

// readJSON returns what the one scan of the body found for l.
func (d *Deriver) readJSON(w *work, req *Request, l *leaf) (p part, present bool, bad Reason) {
	if !w.scanned {
		w.scanner.run(d.tree, req.Body, w.found)
		w.scanned = true
	}
	f := &w.found[l.slot]
	switch {
	case f.bad != "":
		return part{}, true, f.bad
	case f.escaped:
		start := len(w.arena)
		var odd flaw
		w.arena, odd = unquote(w.arena, f.raw)
		return part{text: w.arena[start:]}, true, odd.why
	}
	return part{text: f.raw, number: f.number}, f.raw != nil, ""
}
