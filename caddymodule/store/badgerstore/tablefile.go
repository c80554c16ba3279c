// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"
)

// table is an open table file:
//
//	[blocks][index][length of index][checksum of index][length of checksum]
//
// An encrypted index or block ends in its IV. A block, decrypted, ends in its
// checksum and the length of that. Blocks are not compressed, see Options.badger.
type table struct {
	f     *os.File
	key   *pb.DataKey
	size  int64
	index *fb.TableIndex
}

var errCut = errors.New("it is cut off")

// openTable reads the index of a table and checks it.
func openTable(path string, key *pb.DataKey) (*table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &table{f: f, key: key}
	if err := t.readIndex(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

func (t *table) close() error { return t.f.Close() }

func (t *table) readIndex() error {
	info, err := t.f.Stat()
	if err != nil {
		return err
	}
	t.size = info.Size()
	end := t.size
	take := func(n int64) []byte {
		if err == nil && n > end {
			err = errCut
		}
		if err != nil {
			return make([]byte, 4)
		}
		end -= n
		b := make([]byte, n)
		_, err = t.f.ReadAt(b, end)
		return b
	}
	sum := take(min(int64(binary.BigEndian.Uint32(take(4))), 64))
	index := take(int64(binary.BigEndian.Uint32(take(4))))
	if err != nil {
		return err
	}
	if !sumMatches(index, sum) {
		return errors.New("checksum mismatch of its index")
	}
	if index, err = t.decrypt(index); err != nil {
		return err
	}
	if len(index) < 8 {
		return errCut
	}
	t.index = fb.GetRootAsTableIndex(index, 0)
	return nil
}

// verifyTable reads all blocks of a table.
func verifyTable(path string, key *pb.DataKey) (err error) {
	t, err := openTable(path, key)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	var (
		at  fb.BlockOffset
		raw []byte
	)
	for i := range t.index.OffsetsLength() {
		if !t.index.Offsets(&at, i) || int64(at.Offset())+int64(at.Len()) > t.size {
			return fmt.Errorf("block %d: %w", i, errCut)
		}
		raw = append(raw[:0], make([]byte, at.Len())...)
		if _, err := t.f.ReadAt(raw, int64(at.Offset())); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		plain, err := t.decrypt(raw)
		if err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
		if !blockMatches(plain) {
			return fmt.Errorf("block %d at %d: checksum mismatch", i, at.Offset())
		}
	}
	return nil
}

func blockMatches(block []byte) bool {
	if len(block) < 4 {
		return false
	}
	body, size := block[:len(block)-4], int64(binary.BigEndian.Uint32(block[len(block)-4:]))
	if size > int64(len(body)) {
		return false
	}
	at := int64(len(body)) - size
	return sumMatches(body[:at], body[at:])
}

func (t *table) decrypt(b []byte) ([]byte, error) {
	if t.key == nil {
		return b, nil
	}
	if len(b) < aes.BlockSize {
		return nil, errCut
	}
	at := len(b) - aes.BlockSize
	return y.XORBlockAllocate(b[:at], t.key.Data, b[at:])
}

// sumMatches compares bytes with Badger's Checksum message: algorithm (field 1)
// and sum (field 2).
func sumMatches(body, message []byte) bool {
	algorithm, sum := pb.Checksum_CRC32C, uint64(0)
	for len(message) > 0 {
		tag := message[0]
		n, k := binary.Uvarint(message[1:])
		if k <= 0 {
			return false
		}
		message = message[1+k:]
		switch tag {
		case 1 << 3:
			algorithm = pb.Checksum_Algorithm(n)
		case 2 << 3:
			sum = n
		default:
			return false
		}
	}
	if algorithm != pb.Checksum_CRC32C && algorithm != pb.Checksum_XXHash64 {
		return false
	}
	return y.CalculateChecksum(body, algorithm) == sum
}
