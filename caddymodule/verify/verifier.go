// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import "time"

// Result is what is known about a delivery whose signature is right.
type Result struct {
	// SecretID names the secret that matched.
	SecretID string
	// Timestamp is the signed time of the attempt; zero if the scheme has none.
	Timestamp time.Time
	// ID is the delivery's ID from the scheme's own place, which belongs to the
	// same header family as the signature; empty if the scheme names no place or
	// the request has no single value there.
	ID string
	// SignedID reports whether the signature covers ID.
	SignedID bool
	// Covers says what else the signature covers.
	Covers *Coverage
}

// family is the methods that read the same places of a request.
type family struct {
	places  string
	headers []string // the signature's first, then the timestamp's, then others
	methods []*method
}

// HeadersPlausible reports whether the headers alone allow a right signature:
// all present, none repeated, well-formed, and the time fresh where it is in a
// header. It needs no body, so that a forged delivery costs no memory.
func (v *Verifier) HeadersPlausible(r *Request, now time.Time) Reason {
	f, why := v.choose(r)
	if why != OK {
		return why
	}
	for _, m := range f.methods {
		reason := m.plausible(r, now)
		if reason == OK {
			return OK
		}
		if reason.rank() > why.rank() || why == OK {
			why = reason
		}
	}
	return why
}

// Verify checks the signature and the freshness of a whole delivery. Every
// secret that is active at now is tried, whichever matches.
func (v *Verifier) Verify(r *Request, now time.Time) (Result, Reason) {
	f, why := v.choose(r)
	if why != OK {
		return Result{}, why
	}
	var result Result
	found := false
	for _, m := range f.methods {
		got, reason := m.verify(r, now)
		switch {
		case found:
		case reason == OK:
			result, found, why = got, true, OK
		case why == OK || reason.rank() > why.rank():
			why = reason
		}
	}
	return result, why
}

// choose returns the first family whose headers are all there. If there is
// none, the family whose signature is there explains what is missing.
func (v *Verifier) choose(r *Request) (*family, Reason) {
	why := SignatureMissing
	for _, f := range v.families {
		reason := f.missing(r)
		if reason == OK {
			return f, OK
		}
		if why == SignatureMissing {
			why = reason
		}
	}
	return nil, why
}

// missing reports the first header that is not there.
func (f *family) missing(r *Request) Reason {
	for _, name := range f.headers {
		if _, n := headerValue(r.Header, name); n != absent {
			continue
		}
		m := f.methods[0]
		switch {
		case m.signature.kind == inHeader && name == m.signature.name:
			return SignatureMissing
		case m.time != nil && m.time.kind == inHeader && name == m.time.name:
			return TimestampMissing
		}
		return SignatureMalformed
	}
	return OK
}

// plausible checks the parts of a request that are in headers.
func (m *method) plausible(r *Request, now time.Time) Reason {
	var g given
	if m.signature.kind == inHeader {
		if why := m.readSignature(r, &g); why != OK {
			return why
		}
	}
	text := g.time
	if m.scheme.Timestamp.set() && (m.time == nil && m.signature.kind == inHeader || m.time != nil && m.time.kind == inHeader) {
		var why Reason
		if text, _, why = m.readTime(r, &g, now); why != OK {
			return why
		}
	}
	return m.checkHeaders(r, text)
}

// checkHeaders checks the headers and the timestamp that the message is made of.
func (m *method) checkHeaders(r *Request, timestamp string) Reason {
	for i := range m.templates {
		for j := range m.templates[i].parts {
			p := &m.templates[i].parts[j]
			value, n := timestamp, once
			switch {
			case p.kind == partSource && p.source.kind == inHeader:
				value, n = p.source.get(r)
			case p.kind != partTimestamp || timestamp == "":
				continue
			}
			if n != once || !p.allows(value) {
				return p.misfit()
			}
		}
	}
	return m.checkPins(r)
}

// checkPins refuses a request that names another version than the scheme's.
func (m *method) checkPins(r *Request) Reason {
	for _, p := range m.pinned {
		if value, _ := headerValue(r.Header, p.name); value != p.value {
			return SignatureMalformed
		}
	}
	return OK
}

// verify checks one delivery in the way of this method.
func (m *method) verify(r *Request, now time.Time) (Result, Reason) {
	var g given
	if why := m.readSignature(r, &g); why != OK {
		return Result{}, why
	}
	result := Result{SignedID: m.signedID}
	var text string
	var why Reason
	if m.scheme.Timestamp.set() && !m.lateTime {
		if text, result.Timestamp, why = m.readTime(r, &g, now); why != OK {
			return Result{}, why
		}
	}
	if why := m.checkPins(r); why != OK {
		return Result{}, why
	}
	t := m.templateFor(r)
	var msg message
	if why := msg.fill(t, r, text); why != OK {
		return Result{}, why
	}
	k := m.match(&msg, &g, now)
	if k == nil {
		return Result{}, SignatureMismatch
	}
	if m.lateTime {
		if _, result.Timestamp, why = m.readTime(r, &g, now); why != OK {
			return Result{}, why
		}
	}
	if m.id != nil {
		if id, n := m.id.get(r); n == once {
			result.ID = id
		}
	}
	result.SecretID, result.Covers = k.id, &t.covers
	return result, OK
}

// match tries every active key and returns the first that fits.
func (m *method) match(msg *message, g *given, now time.Time) *key {
	var found *key
	for i := range m.keys {
		k := &m.keys[i]
		if !k.expired(now) && k.matches(msg, g) && found == nil {
			found = k
		}
	}
	return found
}

// readSignature finds the signature and takes it apart.
func (m *method) readSignature(r *Request, g *given) Reason {
	text, n := m.signature.get(r)
	switch {
	case n == ambiguous:
		return SignatureMalformed
	case text == "":
		return SignatureMissing
	}
	return m.layout.parse(text, g)
}

// readTime finds the timestamp, reads it and checks that it is fresh.
func (m *method) readTime(r *Request, g *given, now time.Time) (string, time.Time, Reason) {
	text, n := g.time, occurs(min(g.times, int(ambiguous)))
	if m.time != nil {
		text, n = m.time.get(r)
	}
	switch {
	case n == ambiguous && m.time != nil && m.time.kind == inHeader:
		return "", time.Time{}, SignatureMalformed
	case n == ambiguous:
		return "", time.Time{}, TimestampMalformed
	case text == "":
		return "", time.Time{}, TimestampMissing
	}
	sent, ok := parseTime(text, m.scheme.Timestamp.Unit)
	if !ok {
		return "", time.Time{}, TimestampMalformed
	}
	return text, sent, m.scheme.Timestamp.fresh(sent, now)
}

// templateFor returns the template for this kind of request; the last one is
// for any.
func (m *method) templateFor(r *Request) *template {
	for _, t := range m.templates[:len(m.templates)-1] {
		if t.fits(r) {
			return t
		}
	}
	return m.templates[len(m.templates)-1]
}
