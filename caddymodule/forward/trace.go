// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http/httptrace"
	"net/textproto"
	"sync/atomic"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// maxInformational bounds the 1xx answers of one call. A listener for 1xx
// lifts the bound that net/http has of its own.
const maxInformational = 32

// Recorder listens to all transports below one call and counts what they did,
// over all attempts of the call. Its zero value is ready. It is safe for hooks
// that fire after the call has returned, which net/http does for dials that
// nobody waits for any more.
type Recorder struct {
	asked, got, reused       atomic.Int32
	connected, connectFailed atomic.Int32
	lookupFailed, tlsFailed  atomic.Int32
	writeFailed, firstByte   atomic.Int32
	informational            atomic.Int32

	// conn is set for connections of our own forwarder alone.
	conn atomic.Pointer[countConn]
	base atomic.Int64 // what conn had written before this call got it
}

// Context returns a context that makes the transports report to r. A trace
// that is in ctx already goes on to be called.
func (r *Recorder) Context(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn:              func(string) { r.asked.Add(1) },
		GotConn:              r.gotConn,
		GotFirstResponseByte: func() { r.firstByte.Add(1) },
		Got1xxResponse:       r.got1xx,
		DNSDone: func(i httptrace.DNSDoneInfo) {
			if i.Err != nil {
				r.lookupFailed.Add(1)
			}
		},
		ConnectDone: func(_, _ string, err error) {
			if err != nil {
				r.connectFailed.Add(1)
				return
			}
			r.connected.Add(1)
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			if err != nil {
				r.tlsFailed.Add(1)
			}
		},
		WroteRequest: r.wroteRequest,
	})
}

func (r *Recorder) gotConn(i httptrace.GotConnInfo) {
	r.got.Add(1)
	if i.Reused {
		r.reused.Add(1)
	}
	if c, ok := i.Conn.(*countConn); ok {
		r.base.Store(c.written.Load())
		r.conn.Store(c)
	}
}

func (r *Recorder) got1xx(int, textproto.MIMEHeader) error {
	if r.informational.Add(1) > maxInformational {
		return fmt.Errorf("more than %d informational answers", maxInformational)
	}
	return nil
}

func (r *Recorder) wroteRequest(i httptrace.WroteRequestInfo) {
	if i.Err != nil {
		r.writeFailed.Add(1)
	}
}

// Reused reports whether a request went out on a connection that had been used
// before.
func (r *Recorder) Reused() bool { return r.reused.Load() > 0 }

// Heard reports whether any transport reported anything.
func (r *Recorder) Heard() bool {
	return r.asked.Load()+r.got.Load()+r.connected.Load()+r.connectFailed.Load()+r.lookupFailed.Load() > 0
}

// Evidence returns what was seen so far of the connections. The caller adds
// what it knows about the answer and the end of the call.
func (r *Recorder) Evidence() delivery.Evidence {
	ev := delivery.Evidence{
		AskedPool:   r.asked.Load() > 0,
		Connections: int(r.got.Load()),
		// A connection whose handshake failed never carried a request.
		Connected:   int(max(0, r.connected.Load()-r.tlsFailed.Load())),
		DialFailed:  r.connectFailed.Load()+r.lookupFailed.Load()+r.tlsFailed.Load() > 0,
		WriteFailed: r.writeFailed.Load() > 0,
	}
	if c := r.conn.Load(); c != nil && ev.Connections == 1 {
		ev.CountsBytes = true
		ev.Written = c.written.Load() - r.base.Load()
	}
	return ev
}
