// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// recordVersion is the first byte of an encoded record. A record with a higher
// one was written by a newer hookonce.
const recordVersion = 1

// MaxAliases is how many further keys an encoded record remembers; the pointers
// of older ones stay in the store but are not prolonged any more.
const MaxAliases = 256

const (
	flagOwed = 1 << iota
	flagMayRepeat
	flagKept
	flagPeer
	flagBody
	flagFingerprint
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendRecord appends the encoded form of r to dst. The ID is not part of it,
// as it is the key, but the checksum covers the ID too, so that a value under a
// wrong key does not pass.
func AppendRecord(dst []byte, r *delivery.Record) []byte {
	start := len(dst)
	flags := bit(r.Owed, flagOwed) | bit(r.MayRepeat, flagMayRepeat) | bit(r.Kept, flagKept) |
		bit(!r.Peer.IsZero(), flagPeer) | bit(r.Body != delivery.Digest{}, flagBody) |
		bit(r.Fingerprint != delivery.Digest{}, flagFingerprint)
	dst = append(dst, recordVersion, flags, byte(r.State), byte(r.Strength))
	dst = binary.AppendUvarint(dst, uint64(r.Created))
	for _, t := range [...]int64{r.Changed, r.LastSeen, r.SentAt, r.NextAt, r.ExpiresAt} {
		dst = appendTime(dst, t, r.Created)
	}
	for _, n := range [...]uint64{
		uint64(r.Epoch), r.Owner, uint64(r.Attempts), uint64(r.Seen),
		uint64(r.UpstreamStatus), uint64(r.Window),
	} {
		dst = binary.AppendUvarint(dst, n)
	}
	if flags&flagBody != 0 {
		dst = append(dst, r.Body[:]...)
	}
	if flags&flagFingerprint != 0 {
		dst = append(dst, r.Fingerprint[:]...)
	}
	if flags&flagPeer != 0 {
		dst = append(dst, r.Peer[:]...)
	}
	if r.Kept { // the name means nothing once the bytes are gone
		dst = append(dst, r.Spool[:]...)
	}
	for _, s := range [...]string{
		r.Source, r.Provider, r.Sender, string(r.Reason), r.ExternalRef,
		r.SecretID, r.DeliveryID, r.EventID, r.Rationale,
	} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	aliases := r.Aliases[max(0, len(r.Aliases)-MaxAliases):]
	dst = binary.AppendUvarint(dst, uint64(len(aliases)))
	for i := range aliases {
		dst = append(dst, aliases[i][:]...)
	}
	return binary.LittleEndian.AppendUint32(dst, checksum(r.ID, dst[start:]))
}

// DecodeRecord reads what AppendRecord wrote for the record of that ID. Its
// errors wrap ErrCorrupt, or ErrFormat when a newer version wrote the record.
func DecodeRecord(id delivery.ID, b []byte) (delivery.Record, error) {
	r := delivery.Record{ID: id}
	if len(b) < 8 {
		return r, fmt.Errorf("record %s: %w: %d bytes are too few", id.Short(), ErrCorrupt, len(b))
	}
	body, sum := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if checksum(id, body) != sum {
		return r, fmt.Errorf("record %s: %w: checksum mismatch", id.Short(), ErrCorrupt)
	}
	if body[0] != recordVersion {
		return r, fmt.Errorf("record %s: %w: version %d", id.Short(), ErrFormat, body[0])
	}
	d := decoder{rest: body[4:]}
	d.record(&r, body[1], body[2], body[3])
	if d.bad || len(d.rest) != 0 {
		return delivery.Record{ID: id}, fmt.Errorf("record %s: %w: malformed", id.Short(), ErrCorrupt)
	}
	return r, nil
}

// record reads all fields behind the four fixed bytes.
func (d *decoder) record(r *delivery.Record, flags, state, strength byte) {
	d.bad = state == 0 || state > byte(delivery.Dropped) || strength > byte(delivery.StrengthStrong) || flags >= flagFingerprint<<1
	r.State, r.Strength = delivery.State(state), delivery.Strength(strength)
	r.Owed, r.MayRepeat, r.Kept = flags&flagOwed != 0, flags&flagMayRepeat != 0, flags&flagKept != 0
	r.Created = int64(d.uvarint())
	for _, t := range [...]*int64{&r.Changed, &r.LastSeen, &r.SentAt, &r.NextAt, &r.ExpiresAt} {
		*t = d.time(r.Created)
	}
	r.Epoch = d.uint32()
	r.Owner = d.uvarint()
	r.Attempts = d.uint32()
	r.Seen = d.uint32()
	r.UpstreamStatus = int(d.uint32())
	r.Window = int64(d.uvarint())
	if flags&flagBody != 0 {
		copy(r.Body[:], d.take(16))
	}
	if flags&flagFingerprint != 0 {
		copy(r.Fingerprint[:], d.take(16))
	}
	if flags&flagPeer != 0 {
		copy(r.Peer[:], d.take(16))
	}
	if r.Kept {
		copy(r.Spool[:], d.take(16))
	}
	// One copy of what is left serves all strings.
	d.text = string(d.rest)
	r.Source, r.Provider, r.Sender = d.str(), d.str(), d.str()
	r.Reason = delivery.Reason(d.str())
	r.ExternalRef, r.SecretID, r.DeliveryID, r.EventID, r.Rationale = d.str(), d.str(), d.str(), d.str(), d.str()
	n := d.uvarint()
	if n > MaxAliases || n*16 > uint64(len(d.rest)) {
		d.bad = true
		return
	}
	if n > 0 {
		r.Aliases = make([]delivery.ID, n)
		for i := range r.Aliases {
			copy(r.Aliases[i][:], d.take(16))
		}
	}
}

// decoder reads fields and remembers the first failure instead of returning it
// from each of them.
type decoder struct {
	rest []byte
	text string // rest as it was when the strings began
	bad  bool
}

func (d *decoder) uvarint() uint64 {
	n, k := binary.Uvarint(d.rest)
	if k <= 0 {
		d.bad, d.rest = true, nil
		return 0
	}
	d.rest = d.rest[k:]
	return n
}

func (d *decoder) uint32() uint32 {
	n := d.uvarint()
	if n > 1<<32-1 {
		d.bad = true
	}
	return uint32(n)
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.bad, d.rest = true, nil
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) str() string {
	n := d.uvarint()
	if n > uint64(len(d.rest)) {
		d.bad, d.rest = true, nil
		return ""
	}
	at := len(d.text) - len(d.rest)
	d.rest = d.rest[n:]
	return d.text[at : at+int(n)]
}

// time reads a time written relative to base; 0 stands for "not set".
func (d *decoder) time(base int64) int64 {
	n := d.uvarint()
	if n == 0 {
		return 0
	}
	n--
	return base + (int64(n>>1) ^ -int64(n&1))
}

// appendTime writes a time as its zigzag distance from base plus one, so that
// the usual distances take one to five bytes instead of six.
func appendTime(dst []byte, t, base int64) []byte {
	if t == 0 {
		return append(dst, 0)
	}
	delta := t - base
	return binary.AppendUvarint(dst, (uint64(delta)<<1^uint64(delta>>63))+1)
}

func bit(on bool, flag byte) byte {
	if on {
		return flag
	}
	return 0
}

func checksum(id delivery.ID, b []byte) uint32 {
	return crc32.Update(crc32.Checksum(id[:], castagnoli), castagnoli, b)
}
