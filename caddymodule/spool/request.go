// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Request is a request as it was received: what is needed to send it again.
type Request struct {
	Method     string
	URI        string // raw path and query, as in the request line
	Proto      string // "HTTP/1.1"
	Host       string
	RemoteAddr string
	TLS        bool
	Received   time.Time // to the nanosecond, in UTC after Decode
	Header     http.Header
	Trailer    http.Header // nil: none
	Body       []byte
}

const (
	requestVersion = 1

	flagTLS  = 1
	flagTime = 2 // Received is set
	allFlags = flagTLS | flagTime
)

var errRequest = errors.New("malformed request record")

// Size returns an upper bound of what AppendTo adds, in bytes.
func (r *Request) Size() int {
	n := 2 + 16*binary.MaxVarintLen32 + len(r.Method) + len(r.URI) + len(r.Proto) + len(r.Host) + len(r.RemoteAddr) + len(r.Body)
	for _, h := range []http.Header{r.Header, r.Trailer} {
		for name, values := range h {
			n += 2*binary.MaxVarintLen32 + len(name)
			for _, v := range values {
				n += binary.MaxVarintLen32 + len(v)
			}
		}
	}
	return n
}

// AppendTo appends the encoded request to dst and returns the result. The form
// is: version, flags, time, then texts and lists with their lengths in front.
// Header names are sorted, so equal requests have equal encodings.
func (r *Request) AppendTo(dst []byte) []byte {
	var flags byte
	if r.TLS {
		flags |= flagTLS
	}
	if !r.Received.IsZero() {
		flags |= flagTime
	}
	dst = append(dst, requestVersion, flags)
	if flags&flagTime != 0 {
		dst = binary.BigEndian.AppendUint64(dst, uint64(r.Received.UnixNano()))
	}
	for _, s := range [...]string{r.Method, r.URI, r.Proto, r.Host, r.RemoteAddr} {
		dst = appendText(dst, s)
	}
	dst = appendHeader(dst, r.Header)
	dst = appendHeader(dst, r.Trailer)
	return append(binary.AppendUvarint(dst, uint64(len(r.Body))), r.Body...)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func appendHeader(dst []byte, h http.Header) []byte {
	var few [32]string // spares an allocation for most requests
	names := few[:0]
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	dst = binary.AppendUvarint(dst, uint64(len(names)))
	for _, name := range names {
		dst = appendText(dst, name)
		dst = binary.AppendUvarint(dst, uint64(len(h[name])))
		for _, v := range h[name] {
			dst = appendText(dst, v)
		}
	}
	return dst
}

// Decode reads what AppendTo wrote. Body shares memory with data; everything else
// is copied. Header is never nil, Trailer is nil when there was none.
func Decode(data []byte) (Request, error) {
	var r Request
	if len(data) < 2 {
		return r, errRequest
	}
	if data[0] != requestVersion {
		return r, fmt.Errorf("request record has version %d, which this program does not know", data[0])
	}
	flags := data[1]
	d := decoder{data: data[2:], bad: flags&^allFlags != 0}
	r.TLS = flags&flagTLS != 0
	if flags&flagTime != 0 {
		r.Received = d.time()
	}
	for _, s := range [...]*string{&r.Method, &r.URI, &r.Proto, &r.Host, &r.RemoteAddr} {
		*s = string(d.bytes())
	}
	r.Header = d.header()
	if r.Trailer = d.header(); len(r.Trailer) == 0 {
		r.Trailer = nil
	}
	r.Body = d.bytes()
	if d.bad || len(d.data) != 0 {
		return Request{}, errRequest
	}
	return r, nil
}

// decoder takes fields from the front of data. After the first error all it
// returns is empty.
type decoder struct {
	data []byte
	bad  bool
}

// count reads a length or number of things, each of which takes at least min bytes.
func (d *decoder) count(min int) int {
	v, n := binary.Uvarint(d.data)
	if d.bad || n <= 0 || n > 1 && d.data[n-1] == 0 || v > uint64((len(d.data)-n)/min) {
		d.bad, d.data = true, nil
		return 0
	}
	d.data = d.data[n:]
	return int(v)
}

func (d *decoder) bytes() []byte {
	n := d.count(1)
	b := d.data[:n:n]
	d.data = d.data[n:]
	return b
}

func (d *decoder) time() time.Time {
	if len(d.data) < 8 {
		d.bad, d.data = true, nil
		return time.Time{}
	}
	ns := int64(binary.BigEndian.Uint64(d.data))
	d.data = d.data[8:]
	t := time.Unix(0, ns).UTC()
	d.bad = d.bad || t.IsZero()
	return t
}

func (d *decoder) header() http.Header {
	n := d.count(2)
	h := make(http.Header, n)
	last := ""
	for i := range n {
		name := string(d.bytes())
		if i > 0 && name <= last {
			d.bad = true // equal requests have equal encodings
		}
		last = name
		values := make([]string, d.count(1))
		for j := range values {
			values[j] = string(d.bytes())
		}
		h[name] = values
		if d.bad {
			break
		}
	}
	return h
}
