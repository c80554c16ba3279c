// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import "hash"

// message is the signed text of one delivery: a template, the values of its
// parts, and the body. Only the values are copied, never the body.
type message struct {
	parts  []part
	values [maxParts]string
	body   []byte
}

// fill finds the values of the template's parts. A part that is missing or
// occurs twice makes the signature malformed: there is no message to check.
func (m *message) fill(t *template, r *Request, timestamp string) Reason {
	m.parts, m.body = t.parts, r.Body
	for i := range t.parts {
		p := &t.parts[i]
		switch p.kind {
		case partText:
			m.values[i] = p.text
		case partBody:
			continue
		case partTimestamp:
			m.values[i] = timestamp
		case partMethod:
			m.values[i] = r.Method
		case partSource:
			value, n := p.source.get(r)
			if n != once {
				return SignatureMalformed
			}
			m.values[i] = value
		}
		if !p.allows(m.values[i]) {
			return p.misfit()
		}
	}
	return OK
}

// stream writes the message into h, or appends all of it to buf if h is nil.
// The short parts between two bodies are gathered in buf, which is returned for
// further use.
func (m *message) stream(h hash.Hash, buf []byte) []byte {
	for i := range m.parts {
		switch {
		case m.parts[i].kind != partBody:
			buf = append(buf, m.values[i]...)
		case h == nil:
			buf = append(buf, m.body...)
		default:
			h.Write(buf)
			h.Write(m.body)
			buf = buf[:0]
		}
	}
	if h != nil {
		h.Write(buf)
	}
	return buf
}
