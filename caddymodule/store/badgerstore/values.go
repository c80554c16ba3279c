// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// The keys. The first byte is the kind, what follows begins with a hash, never
// with a time: with time-ordered keys old tables never overlap with new ones, so
// they are never rewritten and the disk is never given back.
const (
	nsKey    = 'k' // + ID: a record, a pointer to one, or a mark that it is gone
	nsOpen   = 'o' // + ID: the record rests in an open state
	nsSlot   = 'r' // + slot: the IDs claimed by one commit
	nsAudit  = 'u' // + ID + time + number: an action of a person
	nsAnswer = 'p' // + ID: the kept answer of a confirmed effect
	nsMeta   = 'm' // + name
)

// What the value of a nsKey key is; its first byte.
const (
	kindRecord  = 1
	kindPointer = 2
	kindGone    = 3
)

// Kinds of pointers, for people who look at a store.
const (
	pointsIdentity = 'i'
	pointsBody     = 'b'
	pointsPlainID  = 'd'
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// value is a decoded value of a nsKey key.
type value struct {
	kind byte // 0: there is none

	// kindRecord
	rec      delivery.Record
	evidence evidence
	counted  uint32 // duplicates in rec that are not in the stored value yet

	// kindPointer
	points  byte
	target  delivery.ID
	expires int64 // Unix ms; decides for evidence, not for identity
}

// evidence names the evidence keys that a record brought, so that forgetting
// the effect forgets them as well.
type evidence struct {
	body, plain delivery.ID
}

const (
	hasBody = 1 << iota
	hasPlain
)

func dbKey(ns byte, id delivery.ID) []byte {
	k := make([]byte, 1+len(id))
	k[0] = ns
	copy(k[1:], id[:])
	return k
}

func encodeRecord(r *delivery.Record, ev evidence) []byte {
	b := make([]byte, 0, 200+len(r.DeliveryID)+len(r.EventID)+16*len(r.Aliases)+len(r.Rationale))
	flags := byte(0)
	if !ev.body.IsZero() {
		flags |= hasBody
	}
	if !ev.plain.IsZero() {
		flags |= hasPlain
	}
	b = append(b, kindRecord, flags)
	if flags&hasBody != 0 {
		b = append(b, ev.body[:]...)
	}
	if flags&hasPlain != 0 {
		b = append(b, ev.plain[:]...)
	}
	return store.AppendRecord(b, r)
}

func encodePointer(key delivery.ID, points byte, target delivery.ID, expires int64) []byte {
	b := append(make([]byte, 0, 32), kindPointer, points)
	b = append(b, target[:]...)
	b = binary.AppendUvarint(b, uint64(expires))
	return binary.LittleEndian.AppendUint32(b, keyedSum(key, b))
}

// gone is the value of a key that was forgotten. Records are overwritten with it
// instead of being deleted.
var gone = []byte{kindGone}

// decodeValue reads the value of a key. Errors wrap store.ErrCorrupt or
// store.ErrFormat.
func decodeValue(key delivery.ID, b []byte) (value, error) {
	if len(b) == 0 {
		return value{}, fmt.Errorf("key %s: %w: empty value", key.Short(), store.ErrCorrupt)
	}
	switch b[0] {
	case kindGone:
		return value{kind: kindGone}, nil
	case kindPointer:
		return decodePointer(key, b)
	case kindRecord:
		return decodeRecord(key, b)
	default:
		return value{}, fmt.Errorf("key %s: %w: kind %d", key.Short(), store.ErrCorrupt, b[0])
	}
}

func decodePointer(key delivery.ID, b []byte) (value, error) {
	v := value{kind: kindPointer}
	if len(b) < 2+16+1+4 || binary.LittleEndian.Uint32(b[len(b)-4:]) != keyedSum(key, b[:len(b)-4]) {
		return value{}, fmt.Errorf("pointer %s: %w: checksum mismatch", key.Short(), store.ErrCorrupt)
	}
	v.points = b[1]
	copy(v.target[:], b[2:])
	n, k := binary.Uvarint(b[18 : len(b)-4])
	if k != len(b)-4-18 {
		return value{}, fmt.Errorf("pointer %s: %w: malformed", key.Short(), store.ErrCorrupt)
	}
	v.expires = int64(n)
	return v, nil
}

func decodeRecord(key delivery.ID, b []byte) (value, error) {
	v := value{kind: kindRecord}
	if len(b) < 2 || b[1] > hasBody|hasPlain {
		return value{}, fmt.Errorf("record %s: %w: malformed", key.Short(), store.ErrCorrupt)
	}
	flags, rest := b[1], b[2:]
	for _, f := range []struct {
		bit byte
		to  *delivery.ID
	}{{hasBody, &v.evidence.body}, {hasPlain, &v.evidence.plain}} {
		if flags&f.bit == 0 {
			continue
		}
		if len(rest) < len(f.to) {
			return value{}, fmt.Errorf("record %s: %w: malformed", key.Short(), store.ErrCorrupt)
		}
		rest = rest[copy(f.to[:], rest):]
	}
	var err error
	v.rec, err = store.DecodeRecord(key, rest)
	if err != nil {
		return value{}, err
	}
	return v, nil
}

func keyedSum(key delivery.ID, b []byte) uint32 {
	return crc32.Update(crc32.Checksum(key[:], castagnoli), castagnoli, b)
}
