// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import "unicode/utf8"

// looksLikeJSON tells whether text begins as an object or an array. A bare
// number or string is not treated as JSON: no provider sends one, and plain
// texts such as 1.0 and 1 are not the same.
func looksLikeJSON(text []byte) bool {
	l := lexer{body: text}
	l.space()
	return l.pos < len(text) && (text[l.pos] == '{' || text[l.pos] == '[')
}

// document encodes exactly one JSON value.
func (z *canonizer) document(text []byte) {
	if !utf8.Valid(text) {
		z.fail(NoteInvalidText)
		return
	}
	z.body, z.pos = text, 0
	z.space()
	_, ok := z.value(z.root(), 0)
	z.space()
	if !ok || z.pos != len(z.body) {
		z.fail(NoteInvalidJSON)
	}
}

// value encodes one value. It is present if anything of it counts. If not, what
// it left in buf is to be cut off. It is read all the same: whether a document
// has a canonical form does not depend on the rules.
func (z *canonizer) value(s spot, depth int) (present, ok bool) {
	if z.pos >= len(z.body) || !z.spend(1) {
		return false, false
	}
	start := len(z.buf)
	switch c := z.body[z.pos]; {
	case c == '{':
		return z.object(s, depth+1)
	case c == '[':
		return z.array(s, depth+1)
	case c == '"':
		ok = z.string(&s)
		z.fold(start)
	case c == '-' || isDigit(c):
		ok = z.numeral(&s)
		z.fold(start)
	case c == 't':
		ok = z.word("true", tagTrue)
		z.count(&s)
	case c == 'f':
		ok = z.word("false", tagFalse)
		z.count(&s)
	default:
		ok = z.word("null", tagNull)
	}
	return s.kept, ok
}

func (z *canonizer) word(text string, tag byte) bool {
	z.buf = append(z.buf, tag)
	return z.literal(text)
}

func (z *canonizer) numeral(s *spot) bool {
	from := z.pos
	if !z.number() {
		return false
	}
	token := z.body[from:z.pos]
	z.count(s)
	if s.at.meets(z.rules.time) {
		if buf, ok := appendUnixTime(z.buf, token); ok {
			z.buf = buf
			return true
		}
	}
	z.buf = appendNumber(z.buf, tagNumber, token, 0)
	return true
}

func (z *canonizer) string(s *spot) bool {
	raw, ok := z.plain()
	if !ok {
		return false
	}
	z.appendText(s, raw)
	return true
}

// appendText encodes a text that is a value.
func (z *canonizer) appendText(s *spot, text []byte) {
	if len(text) > 0 {
		z.count(s)
	}
	if s.at.meets(z.rules.time) {
		if buf, ok := appendTime(z.buf, text); ok {
			z.buf = buf
			return
		}
	}
	z.buf = appendField(append(z.buf, tagString), text)
}

// plain reads a string and resolves its escapes. The result is valid until the
// next call.
func (z *canonizer) plain() (text []byte, ok bool) {
	raw, escaped, ok := z.str(false)
	if !ok || !escaped {
		return raw, ok
	}
	z.text = z.text[:0]
	for len(raw) > 0 {
		end := plainEnd(raw, 0)
		z.text, raw = append(z.text, raw[:end]...), raw[end:]
		if len(raw) == 0 {
			break
		}
		r, size := unescape(raw)
		if size == 0 {
			return nil, z.fail(NoteInvalidText)
		}
		z.text, raw = utf8.AppendRune(z.text, r), raw[size:]
	}
	return z.text, true
}

// unescape returns the character of the valid escape at the front of raw. The
// size is 0 for half of a surrogate pair.
func unescape(raw []byte) (r rune, size int) {
	switch raw[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, size, why := nextRune(raw)
	if why != "" {
		return 0, 0
	}
	return r, size
}

func (z *canonizer) object(s spot, depth int) (present, ok bool) {
	if depth > maxDepth {
		return false, z.fail(NoteTooDeep)
	}
	start, base := z.open(tagObject), len(z.spans)
	z.pos++
	z.space()
	for more := !z.take('}'); more; {
		has, ok := z.member(s, depth)
		if !ok {
			return false, false
		}
		present = present || has
		z.space()
		if more = z.take(','); !more && !z.take('}') {
			return false, false
		}
		z.space()
	}
	return present || s.kept, z.spend(1) && z.sort(start, base, true)
}

// member encodes a name and its value. The name stays when the value is absent,
// so that a second one is found.
func (z *canonizer) member(s spot, depth int) (present, ok bool) {
	if z.pos >= len(z.body) || z.body[z.pos] != '"' || !z.spend(1) {
		return false, false
	}
	name, ok := z.plain()
	if !ok {
		return false, false
	}
	m := span{start: len(z.buf)}
	z.buf = appendField(z.buf, name)
	m.name, m.nameEnd = len(z.buf)-len(name), len(z.buf)
	inner := z.under(s, z.rules.member(s.at, name))
	z.space()
	if !z.take(':') {
		return false, false
	}
	z.space()
	present, ok = z.value(inner, depth)
	if !present {
		z.buf = z.buf[:m.nameEnd]
	}
	m.end = len(z.buf)
	z.spans = append(z.spans, m)
	return present, ok
}

// array encodes the elements that count. Another one leaves a mark where order
// matters, so that all keep their places, but not behind the last that counts.
func (z *canonizer) array(s spot, depth int) (present, ok bool) {
	if depth > maxDepth {
		return false, z.fail(NoteTooDeep)
	}
	tag, unordered := byte(tagArray), s.at.meets(z.rules.unordered)
	if unordered {
		tag = tagUnordered
	}
	start, base := z.open(tag), len(z.spans)
	z.pos++
	z.space()
	count, marks := 0, 0
	for i, more := 0, !z.take(']'); more; i++ {
		from := len(z.buf)
		inner := z.under(s, z.rules.element(s.at, i))
		has, ok := z.value(inner, depth)
		if !ok {
			return false, false
		}
		switch {
		case has && unordered:
			z.spans = append(z.spans, span{start: from, name: from, nameEnd: len(z.buf), end: len(z.buf)})
			fallthrough
		case has:
			present, count, marks = true, count+marks+1, 0
		default:
			z.buf = z.buf[:from]
			if !unordered {
				z.buf, marks = append(z.buf, tagAbsent), marks+1
			}
		}
		z.space()
		if more = z.take(','); !more && !z.take(']') {
			return false, false
		}
		z.space()
	}
	present, ok = present || s.kept, z.spend(1)
	if unordered {
		return present, ok && z.sort(start, base, false)
	}
	z.buf = z.buf[:len(z.buf)-marks]
	z.shut(start, count)
	return present, ok
}
