// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"crypto/sha256"
	"mime"
	"slices"
	"strings"
)

const (
	maxMultiparts = 1000 // more than any form has fields
	maxBoundary   = 70   // RFC 2046
	maxPartHead   = 8 << 10
)

var crlf = []byte("\r\n")

// multipart encodes a multipart/form-data body: the headers of each part and the
// digest of its content, in their order. The boundary, which clients choose at
// random, is taken from the body and does not count.
//
// It is stricter than RFC 2046, so that there is one reading only: nothing
// before the first and after the last boundary, no white space behind one, no
// folded header lines.
func (z *canonizer) multipart(body []byte) {
	line, rest, ok := bytes.Cut(body, crlf)
	if boundary := len(line) - 2; !ok || boundary < 1 || boundary > maxBoundary {
		z.fail(NoteInvalidMultipart)
		return
	}
	delimiter := append(bytes.Clone(crlf), line...)
	root, start, count := z.root(), z.open(tagMultipart), 0
	for last, n := false, 0; !last; n++ {
		var part []byte
		part, rest, ok = bytes.Cut(rest, delimiter)
		last = bytes.Equal(rest, []byte("--")) || bytes.Equal(rest, []byte("--\r\n"))
		if !ok || !last && !bytes.HasPrefix(rest, crlf) {
			z.fail(NoteInvalidMultipart)
			return
		}
		if n == maxMultiparts {
			z.fail(NoteTooManyTokens)
			return
		}
		if !last {
			rest = rest[len(crlf):]
		}
		present, ok := z.part(root, part)
		if !ok {
			z.fail(NoteInvalidMultipart)
			return
		}
		if present {
			count++
		}
	}
	z.shut(start, count)
}

// part encodes the headers and the content of one part. The headers count as
// they are written: they hold name, filename and type, and whatever else may
// change the meaning of the content.
func (z *canonizer) part(root spot, part []byte) (present, ok bool) {
	head, content, ok := bytes.Cut(part, []byte("\r\n\r\n"))
	if !ok || len(head) > maxPartHead {
		return false, false
	}
	lines, name, ok := partHeaders(string(head))
	if !ok {
		return false, false
	}
	inner := z.under(root, z.rules.member(root.at, []byte(name)))
	if !inner.kept {
		return false, true
	}
	if len(content) > 0 {
		z.count(&inner)
	}
	from := z.open(tagArray)
	for _, line := range lines {
		z.buf = appendField(append(z.buf, tagString), line)
	}
	sum := sha256.Sum256(content)
	z.buf = append(append(z.buf, tagDigest), sum[:]...)
	z.shut(from, len(lines)+1)
	return true, true
}

// partHeaders returns the header lines of a part in one order, with names in
// lower case and without white space around values, and the name of its field.
func partHeaders(head string) (lines []string, name string, ok bool) {
	for line := range strings.SplitSeq(head, "\r\n") {
		key, value, ok := strings.Cut(line, ":")
		if !ok || key == "" || strings.ContainsFunc(key, notTokenRune) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, "", false
		}
		key = strings.ToLower(key)
		lines = append(lines, key+":"+strings.Trim(value, " \t"))
		if key != "content-disposition" {
			continue
		}
		kind, params, err := mime.ParseMediaType(value)
		field, named := params["name"]
		if err != nil || kind != "form-data" || !named || name != "" {
			return nil, "", false
		}
		name = field
	}
	slices.Sort(lines)
	return lines, name, name != ""
}
