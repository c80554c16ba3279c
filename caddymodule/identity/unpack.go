// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// Limits of a compressed body, which a sender could make expand without end.
const (
	maxUnpacked = 8 << 20 // bytes
	maxRatio    = 100
)

// unpack returns the content of a body that gzip, zlib (which HTTP calls
// deflate) or zstd compressed, as its first bytes say. Brotli has no such mark.
// Only one layer is removed.
func unpack(body []byte) (plain []byte, note Note) {
	in := bytes.NewReader(body)
	var out io.Reader
	var err error
	switch {
	case bytes.HasPrefix(body, []byte("\x1f\x8b\x08")):
		out, err = gzip.NewReader(in)
	case isZlib(body):
		out, err = zlib.NewReader(in)
	case bytes.HasPrefix(body, []byte("\x28\xb5\x2f\xfd")):
		var d *zstd.Decoder
		d, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(maxUnpacked))
		if err == nil {
			defer d.Close()
		}
		out = d
	default:
		return nil, NoteUnknownType
	}
	if err != nil {
		return nil, NoteInvalidCompression
	}
	limit := min(maxUnpacked, maxRatio*len(body))
	plain, err = io.ReadAll(io.LimitReader(out, int64(limit)+1))
	switch {
	case len(plain) > limit:
		return nil, NoteTooLarge
	case err != nil || in.Len() > 0:
		return nil, NoteInvalidCompression
	}
	return plain, ""
}

// isZlib tells whether a body begins with the header of a zlib stream with the
// usual window and without a dictionary.
func isZlib(body []byte) bool {
	return len(body) > 2 && body[0] == 0x78 && body[1]&0x20 == 0 && (0x7800+int(body[1]))%31 == 0
}
