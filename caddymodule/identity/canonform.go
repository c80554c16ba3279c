// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import "bytes"

// formBytes are the bytes that encoders leave in a form. None of them occurs in
// a form without being one of these, and other kinds of text (XML, CSV, YAML)
// contain further ones.
var formBytes = func() (set [256]bool) {
	for c := range set {
		set[c] = c > ' ' && c < 0x7f && !bytes.ContainsRune([]byte("\"<>\\^`{|}"), rune(c))
	}
	return set
}()

// looksLikeForm tells whether a body is an application/x-www-form-urlencoded
// text: its first pair has a name and a value, and there is no other byte than
// encoders leave.
func looksLikeForm(body []byte) bool {
	first, _, _ := bytes.Cut(body, []byte{'&'})
	if bytes.IndexByte(first, '=') < 1 {
		return false
	}
	for _, c := range body {
		if !formBytes[c] {
			return false
		}
	}
	return true
}

// form encodes a form: pairs by name, in their order where a name is repeated.
func (z *canonizer) form(body []byte) {
	root := z.root()
	start, base := z.open(tagForm), len(z.spans)
	for len(body) > 0 {
		var pair []byte
		pair, body, _ = bytes.Cut(body, []byte{'&'})
		if len(pair) == 0 {
			continue
		}
		if !z.spend(2) || !z.pair(root, pair) {
			z.fail(NoteInvalidForm)
			return
		}
	}
	z.sort(start, base, false)
}

func (z *canonizer) pair(root spot, pair []byte) bool {
	key, value, _ := bytes.Cut(pair, []byte{'='})
	name, ok := z.decoded(key)
	if !ok {
		return false
	}
	m := span{start: len(z.buf)}
	z.buf = appendField(z.buf, name)
	m.name, m.nameEnd = len(z.buf)-len(name), len(z.buf)
	inner := z.under(root, z.rules.member(root.at, name))
	text, ok := z.decoded(value)
	if !ok {
		return false
	}
	if inner.kept {
		from := len(z.buf)
		z.appendText(&inner, text)
		z.fold(from)
	}
	m.end = len(z.buf)
	z.spans = append(z.spans, m)
	return true
}

// decoded resolves the escapes of a form. The result is valid until the next
// call.
func (z *canonizer) decoded(raw []byte) (text []byte, ok bool) {
	z.text = z.text[:0]
	for len(raw) > 0 {
		c, size := formByte(raw)
		if size == 0 {
			return nil, false
		}
		z.text, raw = append(z.text, c), raw[size:]
	}
	return z.text, true
}
