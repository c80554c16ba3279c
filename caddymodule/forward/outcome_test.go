// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"cmp"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// outcome is one row of the outcome table as a raw HTTP/1.1 script.
type outcome struct {
	row, name string
	script    func(*peer)
	body      int  // bytes of the request's body; 0: 100, negative: none
	overflow  bool // let the deadline pass when the answer has begun
	strict    bool

	class  delivery.Class
	reason []delivery.Reason // any of them
	status int
}

func because(r ...delivery.Reason) []delivery.Reason { return r }

// answer reads the request and says something.
func answer(s string) func(*peer) {
	return func(p *peer) {
		p.request()
		p.say(s)
	}
}

// head is an answer without a body.
func head(status int, extra string) func(*peer) {
	return answer(fmt.Sprintf("HTTP/1.1 %d Status\r\n%sContent-Length: 0\r\n\r\n", status, extra))
}

const long = 8 << 20 // more than the buffers of a connection take

// outcomes are the rows that can happen on a connection, fresh or reused.
func outcomes() []outcome {
	rows := []outcome{
		{row: "O1", name: "length", script: answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), class: delivery.Done, status: 200},
		{row: "O1", name: "chunked", script: answer("HTTP/1.1 202 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), class: delivery.Done, status: 202},
		{row: "O1", name: "no-content", script: answer("HTTP/1.1 204 No Content\r\n\r\n"), class: delivery.Done, status: 204},
		{row: "O1", name: "after-103", script: answer("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + okEmpty), class: delivery.Done, status: 200},
		{row: "O2", name: "http10", script: answer("HTTP/1.0 200 OK\r\n\r\nok"), class: delivery.Done, status: 200},
		{row: "O3", name: "length-cut", script: answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok"), class: delivery.Unknown, reason: because(delivery.ReasonTruncated), status: 200},
		{row: "O3", name: "chunk-cut", script: answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok"), class: delivery.Unknown, reason: because(delivery.ReasonTruncated), status: 200},
		{row: "O3", name: "last-chunk-missing", script: answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"), class: delivery.Unknown, reason: because(delivery.ReasonTruncated), status: 200},
		{row: "O3", name: "silent-in-body", overflow: true, class: delivery.Unknown, reason: because(delivery.ReasonTruncated), status: 200, script: func(p *peer) {
			p.request()
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok")
			p.hang()
		}},
		{row: "O9", name: "contract", script: head(500, ""), class: delivery.NotDoneRetry, status: 500},
		{row: "O9", name: "strict", script: head(500, ""), strict: true, class: delivery.Unknown, status: 500},
		{row: "O10", name: "contract", script: head(502, ""), class: delivery.NotDoneRetry, status: 502},
		{row: "O10", name: "strict", script: head(502, ""), strict: true, class: delivery.Unknown, status: 502},
		{row: "O10", name: "body-cut", script: answer("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 9\r\n\r\nno"), class: delivery.NotDoneRetry, status: 502},
		{row: "O17", name: "reset-in-body", body: long, class: delivery.Unknown, reason: because(delivery.ReasonWriteFailed, delivery.ReasonNoAnswer), script: func(p *peer) {
			p.head()
			p.reset()
		}},
		{row: "O18", name: "closed", script: answer(""), class: delivery.Unknown, reason: because(delivery.ReasonNoAnswer)},
		{row: "O18", name: "reset", class: delivery.Unknown, reason: because(delivery.ReasonNoAnswer), script: func(p *peer) {
			p.request()
			p.reset()
		}},
		{row: "O18", name: "no-body", body: -1, script: answer(""), class: delivery.Unknown, reason: because(delivery.ReasonNoAnswer)},
		{row: "O19", name: "silent", class: delivery.Unknown, reason: because(delivery.ReasonTimeout), script: func(p *peer) {
			p.request()
			p.app.deadline.pass()
			p.hang()
		}},
		{row: "O20", name: "status-line-cut", script: answer("HTTP/1.1 20"), class: delivery.Unknown, reason: because(delivery.ReasonNoAnswer)},
		{row: "O20", name: "header-cut", script: answer("HTTP/1.1 200 OK\r\nContent-Le"), class: delivery.Unknown, reason: because(delivery.ReasonNoAnswer)},
		{row: "O20", name: "103-then-close", script: answer("HTTP/1.1 103 Early Hints\r\n\r\n"), class: delivery.Unknown, reason: because(delivery.ReasonNoAnswer)},
		{row: "O20", name: "not-http", script: answer("SSH-2.0-OpenSSH\r\n"), class: delivery.Unknown, reason: because(delivery.ReasonNoAnswer)},
		{row: "O21", name: "413", body: long, class: delivery.NotDoneFinal, status: 413, script: func(p *peer) {
			p.head()
			p.say("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
			p.hang()
		}},
		{row: "O22", name: "101", script: answer("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"), class: delivery.Unknown, reason: because(delivery.ReasonUpgrade), status: 101},
	}
	for _, s := range []int{301, 302, 304} {
		rows = append(rows, outcome{row: "O4", name: fmt.Sprint(s), script: head(s, "Location: /\r\n"), class: delivery.NotDoneFinal, status: s})
	}
	for _, s := range []int{400, 401, 403, 404, 405, 411, 413, 414, 415, 422} {
		rows = append(rows, outcome{row: "O5", name: fmt.Sprint(s), script: head(s, ""), class: delivery.NotDoneFinal, status: s})
	}
	rows = append(rows, outcome{row: "O6", name: "410", script: head(410, ""), class: delivery.NotDoneFinal, status: 410})
	for _, s := range []int{408, 409, 421, 423, 425} {
		rows = append(rows, outcome{row: "O7", name: fmt.Sprint(s), script: head(s, ""), class: delivery.NotDoneRetry, status: s})
	}
	for _, s := range []int{429, 503} {
		rows = append(rows, outcome{row: "O8", name: fmt.Sprint(s), script: head(s, "Retry-After: 7\r\n"), class: delivery.NotDoneRetry, status: s})
	}
	for _, s := range []int{504, 524} {
		rows = append(rows, outcome{row: "O11", name: fmt.Sprint(s), script: head(s, ""), class: delivery.Unknown, reason: because(delivery.ReasonGatewayUnsure), status: s})
	}
	return rows
}

func TestOutcome(t *testing.T) {
	for _, o := range outcomes() {
		for _, kind := range kinds {
			for _, reused := range []bool{false, true} {
				use := map[bool]string{false: "fresh", true: "reused"}[reused]
				t.Run(o.row+"/"+o.name+"/"+kind+"/"+use, func(t *testing.T) {
					t.Parallel()
					o.run(t, kind, reused)
				})
			}
		}
	}
}

func (o *outcome) run(t *testing.T, kind string, reused bool) {
	a := startApp(t, kind, func(p *peer) {
		if reused {
			p.request()
			p.say(okEmpty)
		}
		o.script(p)
	})
	if o.overflow {
		a.conf.KeepBody = 1
	}
	f := newForwarder(t, a.conf)
	if reused {
		if w := f.Do(t.Context(), post(10)); w.Status != 200 || w.Err != nil {
			t.Fatalf("warm-up: status %d, %v", w.Status, w.Err)
		}
	}
	r := post(max(0, cmp.Or(o.body, 100)))
	if o.overflow {
		r.Overflow = func(*Attempt) io.Writer {
			a.deadline.pass()
			return nil
		}
	}
	got := f.Do(a.deadline, r)
	o.check(t, got)
	if n := a.accepted.Load(); n != 1 {
		t.Errorf("%d connections, want 1: nothing is sent twice", n)
	}
	if ev := got.Evidence; !ev.CountsBytes || ev.Written == 0 || ev.Connections != 1 {
		t.Errorf("evidence %+v: want one connection with counted bytes", ev)
	}
	if o.row == "O8" && got.Evidence.RetryAfter != 7*time.Second {
		t.Errorf("Retry-After %v, want 7s", got.Evidence.RetryAfter)
	}
}

func (o *outcome) check(t *testing.T, got *Attempt) {
	t.Helper()
	out := delivery.Classify(got.Evidence, delivery.Contract{Strict: o.strict})
	if out.Class != o.class {
		t.Errorf("class %v (%s), want %v; evidence %+v, error %v", out.Class, out.Reason, o.class, got.Evidence, got.Err)
	}
	if got.Status != o.status {
		t.Errorf("status %d, want %d; error %v", got.Status, o.status, got.Err)
	}
	for i, r := range o.reason {
		if out.Reason == r {
			break
		}
		if i == len(o.reason)-1 {
			t.Errorf("reason %q, want one of %q", out.Reason, o.reason)
		}
	}
	if (got.Err == nil) != (got.Evidence.Complete) {
		t.Errorf("complete %v with error %v", got.Evidence.Complete, got.Err)
	}
}
