// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp/reverseproxy"

	"github.com/hookonce/hookonce/caddymodule/forward"
)

// emptyHandler ends a forward block: nobody took the request.
var emptyHandler caddyhttp.Handler = caddyhttp.HandlerFunc(func(http.ResponseWriter, *http.Request) error { return nil })

// keepAnswer is how much of an app's answer is kept in memory, in bytes.
const keepAnswer = 1 << 20

// sendHandler makes the attempt through other handlers: the forward block, or
// the next handler of the route. They run in this goroutine, because a panic or
// a write to the request's variables in another one would take the server down
// (caddyserver/cache-handler#44, darkweak/souin#337).
func (c *call) sendHandler(next caddyhttp.Handler, word string) *sent {
	ctx, cancel := c.detached()
	defer cancel()
	s := new(sent)
	w := &recorder{limit: keepAnswer, overflow: func(r *recorder) http.ResponseWriter {
		c.write(&answer{status: r.status, header: r.header, body: r.body}, word)
		s.streamed = true
		return c.w
	}}
	run := runHandler(ctx, next, w, c.r, c.body)
	s.evidence = forward.HandlerEvidence(run.ctx, run.seen, run.result)
	s.cause = run.err
	if run.local {
		s.err = run.err
	}
	if w.status != 0 && s.evidence.Status != 0 {
		s.answer = &answer{status: w.status, header: w.header, body: w.body, cut: w.live != nil}
	}
	return s
}

// handlerRun is one call of a handler, and all that it let us see.
type handlerRun struct {
	ctx    context.Context
	seen   *forward.Recorder
	result forward.HandlerResult
	err    error
	local  bool // a handler of our own server refused; nothing went to the app
}

// runHandler calls a handler once.
func runHandler(ctx context.Context, next caddyhttp.Handler, w *recorder, r *http.Request, body []byte) *handlerRun {
	run := &handlerRun{seen: new(forward.Recorder)}
	run.ctx = run.seen.Context(ctx)
	out := r.WithContext(run.ctx)
	setBody(out, body)
	func() {
		defer func() {
			if p := recover(); p != nil {
				run.result.Panicked = p != http.ErrAbortHandler
				run.err = fmt.Errorf("handler panicked: %s", panicText(p))
				w.aborted = true
			}
		}()
		run.err = next.ServeHTTP(w, out)
	}()
	res := &run.result
	res.Status, res.Complete = w.status, run.err == nil && w.complete()
	res.Unhandled = run.err == nil && w.status == 0
	res.RetryAfter = forward.ParseRetryAfter(w.Header().Get("Retry-After"), time.Now())
	if w.status == 499 { // reverse_proxy: the call was cancelled, nobody answered
		res.Status = 0
	}
	run.readError()
	return run
}

// readError understands Caddy's errors.
func (run *handlerRun) readError() {
	var he caddyhttp.HandlerError
	if run.err == nil || !errors.As(run.err, &he) {
		return
	}
	res := &run.result
	// The text is all there is: the error is not exported (reverseproxy.go).
	res.NoUpstream = he.StatusCode == http.StatusServiceUnavailable && strings.Contains(run.err.Error(), "no upstreams available")
	ev := run.seen.Evidence()
	untouched := ev.Connections == 0 && ev.Connected == 0 && !ev.DialFailed
	var dial reverseproxy.DialError
	if untouched && errors.As(run.err, &dial) {
		res.NoUpstream = true // a transport that reports no hooks says that it could not connect
		return
	}
	if untouched && res.Status == 0 && he.StatusCode >= 400 && he.StatusCode < 499 {
		res.Status, res.Complete, run.local = he.StatusCode, true, true
	}
}

// panicText keeps payloads out of the log: an error is repeated, any other
// value only by its type.
func panicText(p any) string {
	if err, ok := p.(error); ok {
		return err.Error()
	}
	return fmt.Sprintf("a value of type %T", p)
}
