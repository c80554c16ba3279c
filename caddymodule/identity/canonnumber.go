// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"encoding/binary"
)

// maxExponent is the largest written exponent, up or down, that is computed
// with. A number with a larger one is compared as it is written.
const maxExponent = 10_000

// appendNumber encodes the value of a valid JSON number times ten to the power
// of shift, exactly: 1, 1.0 and 10e-1 are equal, as are 0 and -0. Nothing is
// expanded, so that 1e9999 takes no more than its digits.
func appendNumber(dst []byte, tag byte, token []byte, shift int) []byte {
	mantissa, exponent, ok := splitNumber(token)
	if !ok {
		return appendField(append(dst, tagToken), token)
	}
	exponent += shift
	sign := byte('+')
	if mantissa[0] == '-' {
		sign, mantissa = '-', mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	fraction = bytes.TrimRight(fraction, "0")
	if exponent -= len(fraction); len(fraction) == 0 {
		trimmed := bytes.TrimRight(whole, "0")
		exponent += len(whole) - len(trimmed)
		whole = trimmed
	}
	if whole = bytes.TrimLeft(whole, "0"); len(whole) == 0 {
		fraction = bytes.TrimLeft(fraction, "0")
	}
	if len(whole)+len(fraction) == 0 {
		sign, exponent = '+', 0
	}
	dst = append(dst, tag, sign)
	dst = binary.AppendVarint(dst, int64(exponent))
	dst = binary.AppendUvarint(dst, uint64(len(whole)+len(fraction)))
	return append(append(dst, whole...), fraction...)
}

// splitNumber cuts a number at its exponent, which is 0 if there is none. It is
// not ok if the exponent is beyond maxExponent.
func splitNumber(token []byte) (mantissa []byte, exponent int, ok bool) {
	i := bytes.IndexAny(token, "eE")
	if i < 0 {
		return token, 0, true
	}
	digits := token[i+1:]
	negative := digits[0] == '-'
	digits = bytes.TrimLeft(digits, "+-0")
	if len(digits) > 5 {
		return nil, 0, false
	}
	for _, c := range digits {
		exponent = exponent*10 + int(c-'0')
	}
	if negative {
		exponent = -exponent
	}
	return token[:i], exponent, exponent >= -maxExponent && exponent <= maxExponent
}
