// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// Errors that are told apart.
var (
	// ErrShutdown is the cause with which a context is canceled when we stop.
	ErrShutdown = errors.New("shutting down")
	// ErrAnswerTooLarge ends an answer that is longer than Config.MaxAnswer.
	ErrAnswerTooLarge = errors.New("answer of the upstream is too large")
)

// downFor is how long an address that could not be reached is tried last.
const downFor = 5 * time.Second

// Forwarder sends requests to one app. It is safe for concurrent use.
type Forwarder struct {
	conf    Config
	targets []*target
}

// New returns a forwarder. It opens no connection. Its errors name the address
// or version that is wrong.
func New(c Config) (*Forwarder, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	f := &Forwarder{conf: c}
	for _, text := range c.Addresses {
		addr, err := parseAddress(text)
		if err != nil {
			return nil, err
		}
		f.targets = append(f.targets, newTarget(addr, c))
	}
	return f, nil
}

// CloseIdle closes the connections that are not in use. Attempts that run are
// not disturbed.
func (f *Forwarder) CloseIdle() {
	for _, t := range f.targets {
		t.transport.CloseIdleConnections()
	}
}

// Attempt is what became of one call.
type Attempt struct {
	Evidence delivery.Evidence
	Address  string // the address that was tried last, as configured

	Status  int    // final status, 0: no complete head of an answer
	Proto   string // HTTP/1.1, HTTP/2.0 …
	Header  http.Header
	Body    []byte // at most Config.KeepBody bytes
	Size    int64  // length of the answer as far as it was read
	Trailer http.Header

	// Overflowed says that Body is only the beginning of the answer.
	Overflowed bool

	Err error // why there is no answer, or why it is incomplete
}

// Do makes one call in the goroutine of its caller. The context should have a
// deadline and should not be canceled when the provider hangs up. With several
// addresses the next one is tried only when the one before provably got
// nothing.
func (f *Forwarder) Do(ctx context.Context, r *Request) *Attempt {
	header := r.header()
	r.setEmptyLength(header)
	targets := f.order()
	var before error
	for i, t := range targets {
		a := f.try(ctx, t, r, header)
		if a.Err != nil && before != nil {
			a.Err = errors.Join(before, a.Err)
		}
		if i == len(targets)-1 || ctx.Err() != nil || !gotNothing(a) {
			return a
		}
		before = a.Err
	}
	return nil // not reached: New refuses an empty list
}

// order puts the addresses that could not be reached lately last, so that a
// host that does not answer costs one dial timeout now and then and not with
// every delivery.
func (f *Forwarder) order() []*target {
	if len(f.targets) == 1 {
		return f.targets
	}
	now := f.conf.Now().UnixNano()
	targets := make([]*target, 0, len(f.targets))
	for _, t := range f.targets {
		if t.downUntil.Load() <= now {
			targets = append(targets, t)
		}
	}
	for _, t := range f.targets {
		if !slices.Contains(targets, t) {
			targets = append(targets, t)
		}
	}
	return targets
}

// gotNothing is the same verdict that lets a later attempt run.
func gotNothing(a *Attempt) bool {
	return a.Status == 0 && delivery.Classify(a.Evidence, delivery.Contract{}).Class == delivery.NotDoneRetry
}

// call is the recorder and the trace of one try, in one allocation.
type call struct {
	Recorder
	trace httptrace.ClientTrace
}

// try makes the call at one address.
func (f *Forwarder) try(ctx context.Context, t *target, r *Request, header http.Header) *Attempt {
	a := &Attempt{Address: t.addr.text}
	c := &call{}
	// Our own transport always asks its pool, and only a connection that was
	// handed out can carry anything: two hooks are enough.
	c.trace.GotConn = c.gotConn
	c.trace.WroteRequest = c.wroteRequest

	resp, err := t.transport.RoundTrip(r.build(httptrace.WithClientTrace(ctx, &c.trace), t, header)) //nolint:bodyclose // readAnswer closes it
	if err == nil {
		f.readAnswer(a, resp, r.Overflow)
	} else {
		a.Err = fmt.Errorf("upstream %s: %w", t.addr.text, err)
	}
	a.Evidence = f.evidence(ctx, c, a, err)
	switch {
	case a.Evidence.Connections > 0:
		t.downUntil.Store(0)
	case ctx.Err() == nil:
		t.downUntil.Store(f.conf.Now().Add(downFor).UnixNano())
	}
	return a
}

// evidence adds the answer and the end of the call to what was recorded.
func (f *Forwarder) evidence(ctx context.Context, c *call, a *Attempt, err error) delivery.Evidence {
	ev := c.Evidence()
	ev.AskedPool = true
	ev.DialFailed = err != nil && ev.Connections == 0 && ctx.Err() == nil
	ev.Status = a.Status
	ev.Complete = a.Status != 0 && a.Err == nil
	ev.Upgraded = a.Status == http.StatusSwitchingProtocols
	if v := a.Header["Retry-After"]; len(v) > 0 {
		ev.RetryAfter = ParseRetryAfter(v[0], f.conf.Now())
	}
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) && op.Op == "write" {
			ev.WriteFailed = true // the hook does not see the last flush
		}
		if Unprocessed(err) {
			// A body that cannot be rewound is tried on another connection only
			// when nothing of it was used.
			ev.Unprocessed, ev.Connections = true, min(ev.Connections, 1)
		}
	}
	if a.Err != nil {
		ev.TimedOut, ev.Shutdown = ended(ctx)
	}
	return ev
}

// ended says why a context ended.
func ended(ctx context.Context) (timedOut, shutdown bool) {
	if ctx.Err() == nil {
		return false, false
	}
	return errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(context.Cause(ctx), ErrShutdown)
}
