// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"errors"
	"io"
	"sync/atomic"
)

// errNoBodyMemory says that the bodies of all routes together fill body_memory.
var errNoBodyMemory = errors.New("request bodies use all of body_memory")

// bodyBudget bounds the bytes of request bodies in memory. It is charged as
// bytes arrive, not by what a sender announces, so that idle connections with a
// large Content-Length cannot shut out anybody.
type bodyBudget struct {
	limit int64
	used  atomic.Int64
}

func (b *bodyBudget) acquire(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

func (b *bodyBudget) release(n int64) { b.used.Add(-n) }

// bodyStep is the smallest amount by which a body buffer grows, in bytes.
const bodyStep = 4 << 10

// read reads a whole body of at most limit bytes. It returns what it charged, to
// be released when the body is not needed any more, also beside an error.
// announced is the Content-Length, or -1.
func (b *bodyBudget) read(r io.Reader, announced, limit int64) (body []byte, charged int64, err error) {
	size := int64(bodyStep)
	if announced >= 0 && announced < 64<<10 {
		size = announced + 1 // one more, so that EOF is seen without growing
	}
	if !b.acquire(size) {
		return nil, 0, errNoBodyMemory
	}
	charged = size
	body = make([]byte, 0, size)
	for {
		if len(body) == cap(body) {
			more := min(int64(cap(body)), max(limit+1-int64(cap(body)), bodyStep))
			if !b.acquire(more) {
				return nil, charged, errNoBodyMemory
			}
			charged += more
			grown := make([]byte, len(body), int64(cap(body))+more)
			copy(grown, body)
			body = grown
		}
		n, err := r.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if int64(len(body)) > limit {
			return nil, charged, errBodyTooLarge
		}
		if err == io.EOF {
			return body, charged, nil
		}
		if err != nil {
			return nil, charged, err
		}
	}
}

// errBodyTooLarge says that a body is over max_body.
var errBodyTooLarge = errors.New("request body is larger than max_body")
