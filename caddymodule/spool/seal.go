// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	keySize       = 32
	nonceSize     = 12
	sealOverhead  = nonceSize + 16
	formatVersion = 1

	flagSealed = 1
)

var fileMagic = [8]byte{'h', 'o', 'o', 'k', 's', 'p', 'l', formatVersion}

// incarnation is one life of a file between two recyclings: its salt and what
// opens its entries.
type incarnation struct {
	salt   [16]byte
	check  [8]byte // tells the right key from a wrong one without opening anything
	sealed bool
	aead   cipher.AEAD // nil: entries are plain, or the key is missing or wrong
}

// tag is what the entries of the incarnation carry.
func (in *incarnation) tag() uint64 { return binary.LittleEndian.Uint64(in.salt[:]) }

// locked reports whether the entries cannot be opened with the configured key.
func (in *incarnation) locked() bool { return in.sealed && in.aead == nil }

// storedSize returns the bytes on disk of n payload bytes.
func (in *incarnation) storedSize(n int) int {
	if in.sealed {
		return n + sealOverhead
	}
	return n
}

// newIncarnation draws a salt and derives the keys for a file to be written.
func newIncarnation(key []byte, rand io.Reader) (incarnation, error) {
	in := incarnation{sealed: len(key) != 0}
	if _, err := io.ReadFull(rand, in.salt[:]); err != nil {
		return in, fmt.Errorf("reading random bytes: %w", err)
	}
	if !in.sealed {
		return in, nil
	}
	aead, check, err := in.derive(key)
	in.aead, in.check = aead, check
	return in, err
}

// derive makes the key of this incarnation alone. With one key for all, 2^32
// random nonces would be the end of it; so the limit counts for each file.
func (in *incarnation) derive(key []byte) (cipher.AEAD, [8]byte, error) {
	var check [8]byte
	b, err := hkdf.Key(sha256.New, key, in.salt[:], "hookonce spool 1", keySize+len(check))
	if err != nil {
		return nil, check, fmt.Errorf("deriving the spool key: %w", err)
	}
	copy(check[:], b[keySize:])
	block, err := aes.NewCipher(b[:keySize])
	if err != nil {
		return nil, check, fmt.Errorf("deriving the spool key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, check, fmt.Errorf("deriving the spool key: %w", err)
	}
	return aead, check, nil
}

// encode writes the file header into the first headerSize bytes of b.
func (in *incarnation) encode(b []byte) {
	clear(b[:headerSize])
	copy(b, fileMagic[:])
	if in.sealed {
		b[8] = flagSealed
	}
	copy(b[12:28], in.salt[:])
	copy(b[28:36], in.check[:])
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
}

// decodeIncarnation reads a file header and derives its keys. It reports false
// when b is no intact header.
func decodeIncarnation(b, key []byte) (incarnation, bool) {
	var in incarnation
	if len(b) < headerSize || [8]byte(b) != fileMagic ||
		binary.LittleEndian.Uint32(b[60:]) != crc32.Checksum(b[:60], castagnoli) {
		return in, false
	}
	in.sealed = b[8]&flagSealed != 0
	copy(in.salt[:], b[12:28])
	copy(in.check[:], b[28:36])
	if in.sealed && len(key) != 0 {
		if aead, check, err := in.derive(key); err == nil && check == in.check {
			in.aead = aead
		}
	}
	return in, true
}

// appendEntry appends a whole entry, an empty mark and padding included, to dst.
func (in *incarnation) appendEntry(dst []byte, h entryHeader, payload []byte, rand io.Reader) ([]byte, error) {
	start := len(dst)
	h.tag, h.length = in.tag(), uint32(in.storedSize(len(payload)))
	dst = append(dst, zeros[:payloadOff]...)
	h.encode(dst[start:]) // the seal needs the identity
	if in.sealed {
		at := len(dst)
		dst = append(dst, zeros[:nonceSize]...)
		if _, err := io.ReadFull(rand, dst[at:]); err != nil {
			return dst[:start], fmt.Errorf("reading random bytes: %w", err)
		}
		dst = in.aead.Seal(dst, dst[at:], payload, identity(dst[start:]))
	} else {
		dst = append(dst, payload...)
	}
	h.sum = crc32.Checksum(dst[start+payloadOff:], castagnoli)
	h.encode(dst[start:])
	pad := int(footprint(int(h.length))) - (len(dst) - start)
	return append(dst, zeros[:pad]...), nil
}

// open checks an entry read from disk and returns its payload. The result may
// share memory with entry.
func (in *incarnation) open(entry []byte, want ref, id ID) ([]byte, error) {
	h, ok := decodeEntry(entry, in.tag())
	if !ok || h.id != id || h.n != want.n || int64(payloadOff)+int64(h.length) > int64(len(entry)) {
		return nil, ErrCorrupt
	}
	stored := entry[payloadOff : payloadOff+int(h.length)]
	if crc32.Checksum(stored, castagnoli) != h.sum {
		return nil, ErrCorrupt
	}
	if !in.sealed {
		return stored, nil
	}
	if in.aead == nil {
		return nil, ErrKey
	}
	if len(stored) < sealOverhead {
		return nil, ErrCorrupt
	}
	ct := stored[nonceSize:]
	payload, err := in.aead.Open(ct[:0], stored[:nonceSize], ct, identity(entry))
	if err != nil {
		return nil, ErrCorrupt
	}
	return payload, nil
}
