// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// Kind says what an alias stands for.
type Kind string

// The kinds, strongest identity first. The texts are part of the hashed bytes
// and therefore of the storage format.
const (
	// KindAction is what the app shall do, such as "charge order 7, version 1".
	// Two events may mean one action.
	KindAction Kind = "action"
	// KindEvent is the event at the sender; it spans endpoints.
	KindEvent Kind = "event"
	// KindDelivery is one delivery to one endpoint, with all of its retries.
	KindDelivery Kind = "delivery"
	// KindFallback is the content of a delivery that carries no ID.
	KindFallback Kind = "fp"
	// KindNonce is a value that the sender signs once only. Evidence.
	KindNonce Kind = "nonce"
	// KindBody is the raw body, whatever ID came with it. Evidence.
	KindBody Kind = "body"
	// KindDeliveryID is an unsigned delivery ID, whatever body came with it, so
	// that its use for another body can be counted. Evidence.
	KindDeliveryID Kind = "delivery_id"
)

// rawRules names the oldest rules for the content of a delivery without ID: the
// SHA-256 of the body as it came. The others are named by canonPrefix.
const rawRules = "raw1"

// Trust says who can choose the value behind an alias.
type Trust uint8

const (
	// Unsigned values can be chosen by anybody who replays a captured request.
	Unsigned Trust = iota
	// Signed values are covered by the verified signature.
	Signed
)

// String returns "signed" or "unsigned".
func (t Trust) String() string {
	if t == Signed {
		return "signed"
	}
	return "unsigned"
}

// Alias is a key that points to an effect in the store.
type Alias struct {
	Kind Kind
	// Key is a keyed hash: it neither reveals the ID nor lets anybody without
	// the pepper confirm a guessed one.
	Key   [16]byte
	Trust Trust
	// Identity tells that the same key means the same effect. The others are
	// evidence, which a decision may weigh.
	Identity bool
	// Window is how long the key is to be remembered after the effect was
	// confirmed.
	Window time.Duration
}

// String returns kind and the first eight hex digits of the key, which is as
// much as logs and metrics show.
func (a Alias) String() string {
	return string(a.Kind) + ":" + hex.EncodeToString(a.Key[:4])
}

// appendField appends bytes with their length in front. Without the lengths
// ("ab", "c") and ("a", "bc") would be one key.
func appendField[T ~string | ~[]byte](dst []byte, field T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(field)))
	return append(dst, field...)
}

// appendID appends the parts of an ID. Text and number are kept apart, as are
// ("a", "b") and ("ab"). IDs count as they are written, versions by value.
func appendID(dst []byte, parts []part) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(parts)))
	for _, p := range parts {
		switch {
		case p.version && p.number:
			dst = appendNumber(dst, 'V', p.text, 0)
		case p.version:
			dst = appendField(append(dst, 'v'), p.text)
		case p.number:
			dst = appendField(append(dst, 'n'), p.text)
		default:
			dst = appendField(append(dst, 's'), p.text)
		}
	}
	return dst
}

// scope is the fixed beginning of all hashed messages of one kind on one route:
// the kind, whose route it is, and for most kinds which endpoint.
type scope []byte

func newScope(cfg *Config, kind Kind) scope {
	s := appendField(nil, kind)
	s = appendField(s, cfg.Namespace)
	s = appendField(s, cfg.Provider)
	if kind != KindEvent && kind != KindAction {
		s = appendField(s, cfg.Endpoint)
	}
	return s
}

// idMessage is what is hashed for an ID. An unsigned ID is bound to the body
// when digest is given.
func idMessage(dst []byte, sc scope, req *Request, trust Trust, parts []part, digest []byte) []byte {
	dst = append(dst, sc...)
	dst = appendField(dst, req.Sender)
	dst = append(dst, mode(req.Test), byte(trust))
	dst = appendID(dst, parts)
	return appendField(dst, digest)
}

// bodyMessage is what is hashed for a body, under rules when it is identity.
func bodyMessage(dst []byte, sc scope, req *Request, rules string, digest []byte) []byte {
	dst = append(dst, sc...)
	dst = appendField(dst, req.Sender)
	dst = appendField(dst, rules)
	return appendField(dst, digest)
}

func mode(test bool) byte {
	if test {
		return 't'
	}
	return 'l'
}

// Interface guards.
var (
	_ fmt.Stringer = Alias{}
	_ fmt.Stringer = Trust(0)
)
