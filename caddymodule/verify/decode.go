// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import "encoding/base64"

// maxDigest is the size in bytes of the largest signature of any algorithm.
const maxDigest = 64

// hexDigit maps a byte to its value as a hex digit, or to 0xFF.
var hexDigit = func() (table [256]byte) {
	for i := range table {
		table[i] = 0xFF
	}
	for i, c := range "0123456789abcdef" {
		table[c] = byte(i)
	}
	for i, c := range "ABCDEF" {
		table[c] = byte(10 + i)
	}
	return table
}()

// Two decoders each, because a sender may leave the padding off, and both
// strict: unused bits of the last character must be zero, or one digest would
// have several spellings.
var (
	base64Padded    = base64.StdEncoding.Strict()
	base64Bare      = base64.RawStdEncoding.Strict()
	base64URLPadded = base64.URLEncoding.Strict()
	base64URLBare   = base64.RawURLEncoding.Strict()
)

// decodeDigest decodes text into dst, which has the exact size of the digest,
// and reports whether text was a strict encoding of that many bytes.
func decodeDigest(dst []byte, text, encoding string) bool {
	switch encoding {
	case "hex":
		return decodeHex(dst, text)
	case "base64":
		return decodeBase64(dst, text, base64Padded, base64Bare)
	default:
		return decodeBase64(dst, text, base64URLPadded, base64URLBare)
	}
}

func decodeHex(dst []byte, text string) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	for i := range dst {
		hi, lo := hexDigit[text[2*i]], hexDigit[text[2*i+1]]
		if hi|lo > 15 {
			return false
		}
		dst[i] = hi<<4 | lo
	}
	return true
}

func decodeBase64(dst []byte, text string, padded, bare *base64.Encoding) bool {
	const room = (maxDigest + 2) / 3 * 4
	if len(text) == 0 || len(text) > room {
		return false
	}
	var src [room]byte
	n := copy(src[:], text)
	for _, c := range src[:n] {
		if c == '\r' || c == '\n' { // the decoder would skip them
			return false
		}
	}
	enc := bare
	if src[n-1] == '=' {
		enc = padded
	}
	var out [maxDigest + 3]byte
	got, err := enc.Decode(out[:], src[:n])
	if err != nil || got != len(dst) {
		return false
	}
	copy(dst, out[:got])
	return true
}

// encodeDigest writes digest the way senders usually do: lower-case hex, padded
// base64, base64url without padding.
func encodeDigest(digest []byte, encoding string) string {
	switch encoding {
	case "hex":
		const digits = "0123456789abcdef"
		out := make([]byte, 0, 2*len(digest))
		for _, b := range digest {
			out = append(out, digits[b>>4], digits[b&15])
		}
		return string(out)
	case "base64":
		return base64Padded.EncodeToString(digest)
	default:
		return base64URLBare.EncodeToString(digest)
	}
}
