// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package forward sends a kept delivery to the app behind the sidecar and
// collects the evidence of what became of it.
//
// [Forwarder.Do] is one call to the upstream. It runs in the goroutine of its
// caller, hands the bytes over as they were received, never sends them twice,
// and returns an [Attempt] whose Evidence [delivery.Classify] turns into one of
// the three outcome classes:
//
//	f, err := forward.New(forward.Config{Addresses: []string{"127.0.0.1:9000"}})
//	…
//	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
//	defer cancel()
//	a := f.Do(ctx, &forward.Request{Method: r.Method, URI: r.RequestURI, Host: r.Host, Header: r.Header, Body: body, …})
//	out := delivery.Classify(a.Evidence, contract)
//
// A context that runs out marks the attempt as timed out; one that is canceled
// with [ErrShutdown] as its cause marks it as cut off by our own end.
//
// For attempts that other handlers make (a block of directives, or the next
// handler of the route), a [Recorder] listens to what their transports tell
// net/http/httptrace, and [HandlerEvidence] puts that together with what the
// handler returned:
//
//	var rec forward.Recorder
//	ctx = rec.Context(ctx)
//	err := next.ServeHTTP(w, r.WithContext(ctx))
//	ev := forward.HandlerEvidence(ctx, &rec, forward.HandlerResult{…})
//
// Three rules of this package are easy to break:
//
//   - The body is an in-memory reader of a type net/http knows, so that header
//     and body leave in one write. Any wrapper around it costs a second write.
//   - The transport may still read the body after Do has returned (an early
//     answer). The caller must not reuse the buffer.
//   - There is no GetBody, and an empty body is a real, empty reader. Otherwise
//     net/http repeats a POST that carries an Idempotency-Key header by itself.
package forward
