// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import "strings"

const (
	// maxSignatures bounds how many signatures of one delivery are looked at.
	// Senders put one per live secret; nobody has more than a handful.
	maxSignatures = 16
	// maxSignatureText bounds the text that holds them, in bytes.
	maxSignatureText = 8 << 10
)

// given is what a delivery shows as its proof.
type given struct {
	digest [maxSignatures][maxDigest]byte
	n      int    // decoded digests
	seen   int    // signatures with our label, decodable or not
	token  string // of a static scheme
	time   string // timestamp text within the signature
	times  int
}

// layout is how the text of a signature is taken apart.
type layout struct {
	format    string
	prefix    string
	key       string
	separator string
	encoding  string
	timeKey   string
	size      int // of a digest; 0: static
}

// parse takes text apart into g. Items with other keys or labels, and ones that
// do not decode, are passed over as long as a usable one is left: senders add
// new versions beside the old.
func (l *layout) parse(text string, g *given) Reason {
	if len(text) > maxSignatureText {
		return SignatureMalformed
	}
	ok := true
	switch l.format {
	case "raw":
		ok = l.add(text, g)
	case "prefix":
		var rest string
		if rest, ok = strings.CutPrefix(text, l.prefix); ok {
			ok = l.add(rest, g)
		}
	case "kv":
		ok = l.parseKV(text, g)
	case "list":
		ok = l.parseList(text, g)
	case "tagged":
		ok = l.parseTagged(text, g)
	}
	switch {
	case !ok:
		return SignatureMalformed
	case g.seen == 0:
		return SignatureMissing
	case g.n == 0 && g.token == "":
		return SignatureMalformed
	}
	return OK
}

// add decodes one signature. It fails only when there are too many.
func (l *layout) add(text string, g *given) bool {
	if g.seen == maxSignatures {
		return false
	}
	g.seen++
	if l.size == 0 {
		g.token = text
	} else if decodeDigest(g.digest[g.n][:l.size], text, l.encoding) {
		g.n++
	}
	return true
}

// addTime notes the timestamp. Two of them are an error of their own, found by
// the caller in g.times.
func (g *given) addTime(text string) {
	g.time = text
	g.times++
}

// parseKV reads "t=1,v1=ab,v1=cd". Blanks around items are allowed, because
// proxies that join header lines put them there.
func (l *layout) parseKV(text string, g *given) bool {
	for more := true; more; {
		var item string
		item, text, more = strings.Cut(text, l.separator)
		if item = strings.TrimSpace(item); item == "" {
			continue
		}
		name, value, ok := strings.Cut(item, "=")
		if !ok || name == "" {
			return false
		}
		if name == l.timeKey {
			g.addTime(value)
		}
		if name == l.key && !l.add(value, g) {
			return false
		}
	}
	return true
}

// parseList reads "1,ab,cd": a timestamp if the scheme has one here, then
// signatures.
func (l *layout) parseList(text string, g *given) bool {
	first := l.timeKey != ""
	for more := true; more; first = false {
		var item string
		item, text, more = strings.Cut(text, l.separator)
		if item = strings.TrimSpace(item); first {
			g.addTime(item)
		} else if item == "" || !l.add(item, g) {
			return false
		}
	}
	return true
}

// parseTagged reads "v1,ab v1,cd v1a,ef".
func (l *layout) parseTagged(text string, g *given) bool {
	for more := true; more; {
		var item string
		item, text, more = strings.Cut(text, l.separator)
		label, value, ok := strings.Cut(item, ",")
		if ok && label == l.key && !l.add(value, g) {
			return false
		}
	}
	return true
}

// render writes one signature, and the timestamp where it has its place in the
// same text.
func (l *layout) render(timestamp, signature string) string {
	switch l.format {
	case "prefix":
		return l.prefix + signature
	case "kv":
		if l.timeKey == "" {
			return l.key + "=" + signature
		}
		return l.timeKey + "=" + timestamp + l.separator + l.key + "=" + signature
	case "list":
		if l.timeKey == "" {
			return signature
		}
		return timestamp + l.separator + signature
	case "tagged":
		return l.key + "," + signature
	}
	return signature
}
