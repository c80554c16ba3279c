// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// FuzzOpenEntry gives arbitrary bytes to the decoder of entries. Whatever passes
// has to be what the encoder makes of the same fields.
func FuzzOpenEntry(f *testing.F) {
	for _, key := range [][]byte{nil, testKey} {
		in := fuzzIncarnation(f, key)
		b, err := in.appendEntry(nil, entryHeader{id: testID(1), n: 9, epoch: 1}, []byte("payload"), rand.Reader)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, key != nil, false)
		f.Add(b, key != nil, true)
		f.Add(b[:headerSize], key != nil, true)
	}
	f.Fuzz(func(t *testing.T, b []byte, sealed, mend bool) {
		var key []byte
		if sealed {
			key = testKey
		}
		in := fuzzIncarnation(t, key)
		if mend {
			mendSums(b, in.tag())
		}
		h, ok := decodeEntry(b, in.tag())
		payload, err := in.open(bytes.Clone(b), ref{n: h.n}, h.id)
		if err != nil {
			return
		}
		if !ok {
			t.Fatal("opened what has no header")
		}
		if m, ok := decodeMark(b[headerSize:], &h); ok {
			again := make([]byte, markSize)
			encodeMark(again, m, &h)
			if !bytes.Equal(again[:20], b[headerSize:headerSize+20]) {
				t.Fatalf("mark %+v is encoded as %x, was %x", m, again, b[headerSize:payloadOff])
			}
		}
		again, err := in.appendEntry(nil, h, payload, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := in.open(again, ref{n: h.n}, h.id); err != nil || !bytes.Equal(back, payload) {
			t.Fatalf("second round: %v", err)
		}
	})
}

// mendSums makes the checksums right, so that what is behind them is reached.
func mendSums(b []byte, tag uint64) {
	if len(b) < headerSize {
		return
	}
	le := binary.LittleEndian
	le.PutUint32(b, entryMagic)
	le.PutUint16(b[4:], formatVersion)
	le.PutUint64(b[8:], tag)
	if end := int64(payloadOff) + int64(le.Uint32(b[52:])); end <= int64(len(b)) {
		le.PutUint32(b[56:], crc32.Checksum(b[payloadOff:end], castagnoli))
	}
	le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
}

// fuzzIncarnation is the same in every process, so that found inputs stay valid.
func fuzzIncarnation(t testing.TB, key []byte) incarnation {
	t.Helper()
	in, err := newIncarnation(key, bytes.NewReader(make([]byte, 16)))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// FuzzLoad reads a directory that holds one arbitrary segment and one arbitrary
// large file. It has to load, and Scan and Get have to agree about every entry.
func FuzzLoad(f *testing.F) {
	segment := fuzzFile(f, testID(1), testID(2))
	single := fuzzFile(f, testID(3))
	f.Add(segment, single)
	f.Add(segment[:250], single[:100])
	f.Add(segment[:headerSize], append(single[:headerSize:headerSize], segment[headerSize:]...))
	f.Add([]byte{}, []byte{})
	f.Fuzz(func(t *testing.T, segment, single []byte) {
		o := Options{Dir: t.TempDir()}
		if err := o.complete(); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"00000001" + segmentExt: segment, singleName(testID(3), 3): single}
		for name, b := range files {
			if err := os.WriteFile(filepath.Join(o.Dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := newSpool(o) // without its goroutines, so that coverage depends on the input alone
		if err := s.load(); err != nil {
			t.Fatal(err)
		}
		if err := s.Scan(func(e Entry) {
			if _, err := s.Get(e.ID); (err == nil) != (e.Err == nil) {
				t.Errorf("get says %v, scan said %v", err, e.Err)
			}
		}); err != nil {
			t.Fatal(err)
		}
		s.Retain(func(ID) bool { return false })
		if st := s.Stats(); st.Items != 0 || st.Bytes != 0 || st.Files != 0 {
			t.Errorf("after dropping all: %+v", st)
		}
		if err := s.closeFiles(); err != nil {
			t.Fatal(err)
		}
	})
}

// fuzzFile makes the bytes of a file with one small entry for each ID.
func fuzzFile(t testing.TB, ids ...ID) []byte {
	in := fuzzIncarnation(t, nil)
	b := make([]byte, headerSize)
	in.encode(b)
	for i, id := range ids {
		var err error
		h := entryHeader{id: id, n: uint64(3 - i), epoch: 1, at: 5}
		if b, err = in.appendEntry(b, h, []byte("payload"), rand.Reader); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// FuzzDecodeRequest decodes arbitrary bytes. What decodes is encoded as it was.
func FuzzDecodeRequest(f *testing.F) {
	for _, r := range requests() {
		f.Add(r.AppendTo(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		if again := r.AppendTo(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x\nis encoded again as\n%x", b, again)
		}
	})
}
