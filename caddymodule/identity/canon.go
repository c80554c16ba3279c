// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// The tags that begin every encoded value. Each is followed by what makes the
// end of the value known, so that no two sequences of values have one encoding.
const (
	tagNull      = 'z'
	tagTrue      = 't'
	tagFalse     = 'f'
	tagString    = 's' // length, bytes
	tagNumber    = 'n' // sign, exponent of ten, digits
	tagToken     = 'N' // a number of absurd size, as written
	tagInstant   = 'T' // as tagNumber, seconds since 1970
	tagAbsent    = '-' // an element that does not count
	tagObject    = '{' // count, names and values by name
	tagArray     = '[' // count, values
	tagUnordered = '(' // count, values by encoding
	tagForm      = 'F' // count, names and values by name
	tagMultipart = 'M' // count, names and parts
	tagDigest    = '#' // SHA-256 of an encoded value that is longer than maxInline
)

const (
	// maxTokens bounds the work and the memory for one body.
	maxTokens = 200_000
	// maxInline is the longest encoding of a value, in bytes, that stands inside
	// that of its container. A longer one is replaced by its digest, so that
	// sorting moves little and only what is open takes memory.
	maxInline = 256
)

// canonizer computes WCF-1 digests: the SHA-256 of a typed, length-prefixed
// encoding of what a body means. It is injective on what the rules leave: equal
// digests mean equal content. JCS (RFC 8785) would not do: it reads numbers as
// doubles, so that neighbouring 64-bit IDs get one text.
//
// What a body is follows from its bytes alone. No signature covers Content-Type
// and Content-Encoding: whoever replays a capture could change them to make a
// body new that was seen.
type canonizer struct {
	lexer
	rules  *rules
	buf    []byte // encodings of what is open
	moved  []byte // scratch for sorting
	text   []byte // scratch for texts with escapes
	spans  []span // members and elements of what is open
	tokens int
	values int    // values that count
	hit    places // fields rules that led to a value that counts
	note   Note   // why there is no canonical form
}

// span is one member in buf: its name, with the length in front, then its encoded
// value up to end. A member that is absent has no value. The name of an element
// of an unordered array is its encoding.
type span struct{ start, name, nameEnd, end int }

func (s *span) isAbsent() bool { return s.end == s.nameEnd && s.name > s.start }

// spot says what the rules mean for one value.
type spot struct {
	at     places // how far the paths have matched
	fields places // the fields rules that selected it
	kept   bool   // it counts
}

// digest returns the digest of a body under rules. It is set with an empty note,
// and with a thin one.
func (z *canonizer) digest(c *rules, body []byte) (sum [sha256.Size]byte, note Note) {
	if len(body) == 0 {
		return sum, NoteEmptyBody
	}
	z.rules = c
	if z.encode(body, true); z.note == "" {
		sum = z.seal()
	}
	note = z.note
	if note == "" {
		note = z.thinness()
	}
	z.reset()
	return sum, note
}

// encode leaves the encoding of a body in buf, or says in note why it has none.
func (z *canonizer) encode(body []byte, packed bool) {
	text := bytes.TrimPrefix(body, byteOrderMark)
	switch {
	case looksLikeJSON(text):
		z.document(text)
	case bytes.HasPrefix(body, []byte("--")):
		z.multipart(body)
	case looksLikeForm(body):
		z.form(body)
	case packed:
		var plain []byte
		if plain, z.note = unpack(body); z.note == "" {
			z.encode(plain, false)
		}
	default:
		z.note = NoteUnknownType
	}
}

func (z *canonizer) seal() [sha256.Size]byte {
	z.text = append(z.text[:0], z.rules.prefix...)
	z.text = append(z.text, z.buf...)
	return sha256.Sum256(z.text)
}

// thinness tells whether enough is left to tell bodies apart.
func (z *canonizer) thinness() Note {
	left := z.values
	if z.rules.selects {
		left = z.hit.count()
	}
	switch {
	case left == 0:
		return NoteNothingLeft
	case left < z.rules.min:
		return NoteTooFewFields
	}
	return ""
}

// maxScratch is the capacity in bytes above which scratch is not kept.
const maxScratch = 512 << 10

// reset forgets the body, but keeps scratch of ordinary size.
func (z *canonizer) reset() {
	keep := func(b []byte) []byte {
		if cap(b) > maxScratch {
			return nil
		}
		return b[:0]
	}
	spans := z.spans[:0]
	if cap(spans) > maxScratch/32 {
		spans = nil
	}
	*z = canonizer{buf: keep(z.buf), moved: keep(z.moved), text: keep(z.text), spans: spans}
}

// fail notes why there is no canonical form, and returns false.
func (z *canonizer) fail(why Note) bool {
	if z.note == "" {
		z.note = why
	}
	return false
}

// spend takes n tokens from the budget of the body.
func (z *canonizer) spend(n int) bool {
	z.tokens += n
	return z.tokens <= maxTokens || z.fail(NoteTooManyTokens)
}

func (z *canonizer) root() spot {
	return spot{at: z.rules.root(), kept: !z.rules.selects}
}

// under returns the spot at which the paths have matched at, inside s. A value
// that is ignored has the empty spot, as all below it.
func (z *canonizer) under(s spot, at places) spot {
	switch {
	case at.isEmpty():
	case at.meets(z.rules.ignore):
		return spot{}
	case at.meets(z.rules.fields):
		s.kept, s.fields = true, s.fields.or(at.and(z.rules.fields))
	}
	s.at = at
	return s
}

// count takes in a value that is neither null nor empty.
func (z *canonizer) count(s *spot) {
	if s.kept {
		z.values++
		z.hit = z.hit.or(s.fields)
	}
}

// open begins a container; the count is filled in by shut.
func (z *canonizer) open(tag byte) (start int) {
	start = len(z.buf)
	z.buf = append(z.buf, tag, 0, 0, 0, 0)
	return start
}

func (z *canonizer) shut(start, count int) {
	binary.BigEndian.PutUint32(z.buf[start+1:], uint32(count))
	z.fold(start)
}

// fold replaces a long encoding that begins at start by its digest.
func (z *canonizer) fold(start int) {
	if len(z.buf)-start > maxInline {
		sum := sha256.Sum256(z.buf[start:])
		z.buf = append(append(z.buf[:start], tagDigest), sum[:]...)
	}
}

// name returns the bytes that a span is sorted by.
func (z *canonizer) name(s *span) []byte { return z.buf[s.name:s.nameEnd] }

// sort puts the spans from base on in the order of their names, without those
// that are absent, and shuts their container. Equal names keep their order,
// unless they must be unique.
func (z *canonizer) sort(start, base int, unique bool) bool {
	spans := z.spans[base:]
	defer func() { z.spans = z.spans[:base] }()
	byName := func(a, b span) int {
		if order := bytes.Compare(z.name(&a), z.name(&b)); order != 0 {
			return order
		}
		return cmp.Compare(a.start, b.start)
	}
	inPlace := slices.IsSortedFunc(spans, byName)
	if !inPlace {
		slices.SortFunc(spans, byName)
	}
	count := 0
	for i := range spans {
		if unique && i > 0 && bytes.Equal(z.name(&spans[i-1]), z.name(&spans[i])) {
			return z.fail(NoteDuplicateName)
		}
		if !spans[i].isAbsent() {
			count++
		}
	}
	if !inPlace || count < len(spans) {
		z.moved = z.moved[:0]
		for _, s := range spans {
			if !s.isAbsent() {
				z.moved = append(z.moved, z.buf[s.start:s.end]...)
			}
		}
		z.buf = append(z.buf[:start+containerHead], z.moved...)
	}
	z.shut(start, count)
	return true
}

// containerHead is the length of what open appends.
const containerHead = 5
