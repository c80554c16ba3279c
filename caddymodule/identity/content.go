// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import "crypto/sha256"

// ruleset is how one version of the rules reads a body.
type ruleset struct {
	print *rules // for the fingerprint; nil: raw bytes only
	// bind is what unsigned IDs are bound to; nil: the raw bytes. An unsigned ID
	// must never make a body look like a repeat that differs in more than an
	// explicit rule says. So it takes rules that ignore something, and never the
	// narrower view of fields, which leaves out what nobody has named.
	bind *rules
}

// compileRuleset returns nil for nil rules. The scope separates the fingerprints
// of routes, which may be seen by people and compared by chance.
func compileRuleset(cfg *Config, r *FingerprintRules) (*ruleset, error) {
	if r == nil {
		return nil, nil
	}
	source := appendField(appendField(nil, cfg.Namespace), cfg.Provider)
	print, err := compileRules(r, source)
	if err != nil {
		return nil, err
	}
	s := &ruleset{print: print}
	switch {
	case len(r.Ignore) == 0:
	case len(r.Fields) == 0:
		s.bind = print
	default:
		all := *r
		all.Fields, all.MinFields = nil, 0
		s.bind, err = compileRules(&all, source)
	}
	return s, err
}

// content is what one version of the rules makes of a body.
type content struct {
	print [sha256.Size]byte
	note  Note // why there is no print
	bind  [sha256.Size]byte
}

// read computes the content. Bodies without a canonical form are bound as they
// came.
func (s *ruleset) read(z *canonizer, body []byte, raw [sha256.Size]byte) content {
	c := content{note: NoteNoRules, bind: raw}
	if s == nil || s.print == nil {
		return c
	}
	c.print, c.note = z.digest(s.print, body)
	bound, note := c.print, c.note
	switch s.bind {
	case nil:
		return c
	case s.print:
	default:
		bound, note = z.digest(s.bind, body)
	}
	if note == "" {
		c.bind = bound
	}
	return c
}

// readContent reads the body under the current and the old rules.
func (d *Deriver) readContent(w *work, req *Request, k *Keys) {
	w.now = d.now.read(&w.canonizer, req.Body, k.Digest)
	k.FingerprintNote = w.now.note
	if k.FingerprintOK = w.now.note == ""; k.FingerprintOK {
		k.Fingerprint = w.now.print
	}
	if d.old == nil {
		return
	}
	w.old = d.old.read(&w.canonizer, req.Body, k.Digest)
	if k.OldFingerprintOK = w.old.note == ""; k.OldFingerprintOK {
		k.OldFingerprint = w.old.print
	}
}

// addContent makes the content the identity, under the old rules as well. It
// returns why it must not be. An empty body has no content: all empty deliveries
// would be one.
func (d *Deriver) addContent(w *work, req *Request, k *Keys) (safe bool, why Reason) {
	switch {
	case len(req.Body) == 0:
		return false, ""
	case d.hashForbidden:
		return false, ReasonHashForbidden
	case w.now.note == NoteNothingLeft:
		return false, ReasonNothingLeft
	case w.now.note == NoteTooFewFields:
		return false, ReasonTooFewFields
	}
	k.Aliases = append(k.Aliases, d.contentAlias(w, req, &w.now, k.Digest))
	if d.old != nil && !w.old.note.thin() {
		if old := d.contentAlias(w, req, &w.old, k.Digest); old.Key != k.Aliases[len(k.Aliases)-1].Key {
			k.Aliases = append(k.Aliases, old)
		}
	}
	return true, ""
}

func (d *Deriver) contentAlias(w *work, req *Request, c *content, raw [sha256.Size]byte) Alias {
	version, digest := rawRules, raw
	if c.note == "" {
		version, digest = canonPrefix, c.print
	}
	w.message = bodyMessage(w.message[:0], d.fallback, req, version, digest[:])
	return Alias{Kind: KindFallback, Key: w.hash(), Trust: Signed, Identity: true, Window: d.windows.Fallback}
}
