// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"time"
)

// minBody holds the fields of every scheme.
const minBody = 512

// seqDigits is the width of the sequence number in bodies and IDs, in hex.
const seqDigits = 16

// scheme says how a provider's delivery looks.
type scheme struct {
	secret string
	// head has the header lines of the provider. In head and body, %s stands
	// for the sequence number; in head, the signature follows signature.
	head      func(seq string, now time.Time) string
	signature string
	body      string // up to the padding
	message   func(now time.Time) string
}

// schemes are the providers that can be driven. GitHub signs the body alone
// and leaves the delivery ID unsigned; Stripe signs time and body, and its ID
// is in the body.
var schemes = map[string]*scheme{
	"github": {
		secret: "hookbench-secret",
		head: func(seq string, _ time.Time) string {
			id := seq[:8] + "-" + seq[8:12] + "-4000-8000-00000000" + seq[12:]
			return "User-Agent: GitHub-Hookshot/hookbench\r\nX-GitHub-Event: push\r\nX-GitHub-Hook-ID: 1\r\n" +
				"X-GitHub-Delivery: " + id + "\r\nX-Hub-Signature-256: sha256="
		},
		signature: "sha256=",
		body: `{"ref":"refs/heads/main","after":"%s","repository":{"id":35129377,"name":"public-repo","full_name":"baxterthehacker/public-repo",` +
			`"private":false,"default_branch":"main"},"pusher":{"name":"baxterthehacker"},"commits":[{"distinct":true,"message":"Update README.md"}],"note":"`,
		message: func(time.Time) string { return "" },
	},
	"stripe": {
		secret: "whsec_hookbench0123456789abcdef",
		head: func(_ string, now time.Time) string {
			return "User-Agent: Stripe/1.0 (hookbench)\r\nStripe-Signature: t=" + strconv.FormatInt(now.Unix(), 10) + ",v1="
		},
		signature: ",v1=",
		body: `{"id":"evt_%s","object":"event","api_version":"2024-06-20","livemode":true,"type":"invoice.paid",` +
			`"data":{"object":{"id":"in_1","object":"invoice","amount_paid":2000,"currency":"eur","status":"paid"}},"note":"`,
		message: func(now time.Time) string { return strconv.FormatInt(now.Unix(), 10) + "." },
	},
}

// writer makes deliveries. It patches one prepared request in place, so that
// the load generator takes little from the machine it shares. Not for
// concurrent use.
type writer struct {
	request   []byte
	seqs      []int // offsets of the sequence number
	idTail    int   // offset of the last 4 digits of a GitHub ID, or 0
	signature int   // offset
	body      int   // offset
	prefix    string
	mac       hash.Hash
	sum       [sha256.Size]byte
}

// newWriter prepares deliveries of the scheme for one connection to host, with
// a body of size bytes, signed with secret and dated now.
func newWriter(s *scheme, secret, host string, size int, now time.Time) *writer {
	const mark = "0123456789abcdef" // an impossible sequence number
	body := fmt.Sprintf(s.body, mark)
	body += strings.Repeat("x", size-len(body)-2) + `"}`
	head := "POST /hook HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\nContent-Length: " +
		strconv.Itoa(size) + "\r\n" + s.head(mark, now)
	w := &writer{
		request:   []byte(head + strings.Repeat("0", 2*sha256.Size) + "\r\n\r\n" + body),
		signature: len(head),
		body:      len(head) + 2*sha256.Size + 4,
		prefix:    s.message(now),
		mac:       hmac.New(sha256.New, []byte(secret)),
	}
	w.seqs = append(w.seqs, w.body+strings.Index(body, mark))
	if i := bytes.Index(w.request, []byte("01234567-89ab-4000-8000-00000000cdef")); i >= 0 {
		w.seqs = append(w.seqs, i)
		w.idTail = i + 32
	}
	return w
}

// delivery returns the signed request of this sequence number. It is valid
// until the next call.
func (w *writer) delivery(seq uint64) []byte {
	var digits [seqDigits]byte
	for i := seqDigits - 1; i >= 0; i, seq = i-1, seq>>4 {
		digits[i] = "0123456789abcdef"[seq&15]
	}
	copy(w.request[w.seqs[0]:], digits[:])
	if w.idTail > 0 { // xxxxxxxx-xxxx-4000-8000-00000000xxxx
		id := w.seqs[1]
		copy(w.request[id:], digits[:8])
		copy(w.request[id+9:], digits[8:12])
		copy(w.request[w.idTail:], digits[12:])
	}
	w.mac.Reset()
	w.mac.Write([]byte(w.prefix))
	w.mac.Write(w.request[w.body:])
	hex.Encode(w.request[w.signature:], w.mac.Sum(w.sum[:0]))
	return w.request
}
