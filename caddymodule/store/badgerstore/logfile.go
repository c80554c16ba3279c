// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"
)

const (
	logHeader  = 20     // key ID and IV at the start of a memory table's log
	logTxn     = 1 << 6 // meta: the entry is part of a transaction
	logTxnEnd  = 1 << 7 // meta: the transaction is complete
	maxLogPart = 1 << 21
)

var errLogEnd = errors.New("no further entry")

// surveyLog reads the log of a memory table as Badger replays it: whole
// transactions up to the first entry that is not whole. It returns the newest
// commit, and whether there is something but zeros behind.
func surveyLog(path string, keys func(id uint64) (*pb.DataKey, error)) (newest uint64, rest bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, false, fmt.Errorf("store log: %w", err)
	}
	defer f.Close()
	r := &logReader{r: bufio.NewReaderSize(f, 1<<16), at: logHeader}
	var head [logHeader]byte
	if _, err := io.ReadFull(r.r, head[:]); err != nil {
		return 0, false, nil // made by a process that ended just then
	}
	if r.key, err = keys(binary.BigEndian.Uint64(head[:])); err != nil {
		return 0, false, err
	}
	copy(r.iv[:], head[8:])
	for {
		ts, meta, err := r.entry()
		if errors.Is(err, errLogEnd) {
			break
		}
		if err != nil {
			return 0, false, fmt.Errorf("store log: %w", err)
		}
		if meta&logTxn == 0 { // the end of a transaction, or an entry of its own
			newest = max(newest, ts)
		}
	}
	rest, err = r.somethingLeft()
	if err != nil {
		return 0, false, fmt.Errorf("store log: %w", err)
	}
	return newest, rest, nil
}

// logReader reads entries and keeps the bytes of the one it is at.
type logReader struct {
	r    *bufio.Reader
	read []byte
	at   uint32 // where the entry begins, part of its IV
	key  *pb.DataKey
	iv   [aes.BlockSize]byte
}

// ReadByte makes binary.ReadUvarint keep what it reads.
func (l *logReader) ReadByte() (byte, error) {
	b, err := l.r.ReadByte()
	if err == nil {
		l.read = append(l.read, b)
	}
	return b, err
}

// entry reads one: meta, user meta, lengths of key and value, expiry, key, value,
// checksum of all that.
func (l *logReader) entry() (ts uint64, meta byte, err error) {
	l.read = l.read[:0]
	var numbers [3]uint64 // key length, value length, expiry
	if meta, err = l.ReadByte(); err == nil {
		_, err = l.ReadByte()
	}
	for i := range numbers {
		if err == nil {
			numbers[i], err = binary.ReadUvarint(l)
		}
	}
	keyLen, valLen := numbers[0], numbers[1]
	if err != nil || keyLen < 8 || keyLen > math.MaxUint16 || valLen > maxLogPart {
		return 0, 0, logError(err)
	}
	at := len(l.read)
	l.read = append(l.read, make([]byte, keyLen+valLen+4)...)
	if n, err := io.ReadFull(l.r, l.read[at:]); err != nil {
		l.read = l.read[:at+n]
		return 0, 0, logError(err)
	}
	body, sum := l.read[:len(l.read)-4], l.read[len(l.read)-4:]
	if crc32.Checksum(body, castagnoli) != binary.BigEndian.Uint32(sum) {
		return 0, 0, errLogEnd
	}
	plain, err := l.decrypt(body[at:])
	if err != nil {
		return 0, 0, err
	}
	l.at += uint32(len(l.read))
	key, val := plain[:keyLen], plain[keyLen:]
	ts = math.MaxUint64 - binary.BigEndian.Uint64(key[keyLen-8:])
	if meta&logTxnEnd != 0 {
		if n, err := strconv.ParseUint(string(val), 10, 64); err != nil || n != ts {
			return 0, 0, errLogEnd
		}
	}
	return ts, meta, nil
}

func (l *logReader) decrypt(b []byte) ([]byte, error) {
	if l.key == nil {
		return b, nil
	}
	binary.BigEndian.PutUint32(l.iv[12:], l.at)
	return y.XORBlockAllocate(b, l.key.Data, l.iv[:])
}

// logError takes the end of the file, and a number that is none, for the end of
// the entries.
func logError(err error) error {
	if _, ok := errors.AsType[*os.PathError](err); ok {
		return err
	}
	return errLogEnd
}

// somethingLeft reports whether the entry that could not be read, or what follows
// it, has a byte that is not zero.
func (l *logReader) somethingLeft() (bool, error) {
	for _, b := range l.read {
		if b != 0 {
			return true, nil
		}
	}
	var buf, zeros [32 << 10]byte
	for {
		n, err := io.ReadFull(l.r, buf[:])
		switch {
		case !bytes.Equal(buf[:n], zeros[:n]):
			return true, nil
		case err == io.EOF || err == io.ErrUnexpectedEOF:
			return false, nil
		case err != nil:
			return false, err
		}
	}
}
