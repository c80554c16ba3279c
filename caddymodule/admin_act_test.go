// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"net/http"
	"strings"
	"testing"
)

const because = `{"actor": "ada@desk", "reason": "looked into the app"}`

// prepare brings a delivery into a state, and returns its provider's ID.
func (rig *adminRig) prepare(state string) string {
	rig.t.Helper()
	id, body := "msg_"+state, `{"type":"test","state":"`+state+`"}`
	path := "/own"
	switch state {
	case "ready":
		rig.app.does(answerFail)
		rig.expect(rig.deliver(path, id, body), "first")
	case "ready-next":
		path = "/next"
		rig.deliver(path, id, body)
	case "uncertain":
		rig.app.does(answerGone)
		rig.expect(rig.deliver(path, id, body), "held")
	case "confirmed":
		rig.app.does(answerOK)
		rig.expect(rig.deliver(path, id, body), "first")
	case "held":
		rig.app.does(answerOK)
		rig.expect(rig.deliver(path, id+"_peer", body), "first")
		rig.expect(rig.deliver(path, id+"_peer", body+" "), "held")
	}
	rig.app.does(answerOK)
	rig.app.hits.Store(0)
	if state == "held" {
		var list listView
		rig.get("/hookonce/deliveries?state=held", &list)
		if len(list.Deliveries) != 1 {
			rig.t.Fatalf("%d held deliveries, want 1", len(list.Deliveries))
		}
		return list.Deliveries[0].ID
	}
	return id
}

// inState fails the test unless the delivery is in a state, with its bytes kept
// or not.
func (rig *adminRig) inState(id, state string, kept bool) showView {
	rig.t.Helper()
	d := rig.show(id)
	if d.State != state || d.Kept != kept || kept != (d.Request != nil) {
		rig.t.Fatalf("delivery is %s, kept %v, request %v; want %s, %v", d.State, d.Kept, d.Request != nil, state, kept)
	}
	return d
}

// decision is a row of the transition table that a person causes.
type decision struct {
	row, state, action string
	to                 string
	sent               int64  // attempts that reach the app
	then               string // Hookonce-Status of the provider's next delivery
}

func TestOperatorDecides(t *testing.T) {
	rows := []decision{
		{"T6 retry of READY", "ready", actRetry, "confirmed", 1, "duplicate"},
		{"T9 drop of READY", "ready", actDrop, "dropped", 0, "duplicate"},
		{"T10 forget of READY", "ready", actForget, "none", 0, "first"},
		{"T22 confirm of UNCERTAIN", "uncertain", actConfirm, "confirmed", 0, "duplicate"},
		{"T22 retry of UNCERTAIN", "uncertain", actRetry, "confirmed", 1, "duplicate"},
		{"T22 drop of UNCERTAIN", "uncertain", actDrop, "dropped", 0, "duplicate"},
		{"T25 release of HELD", "held", actRelease, "confirmed", 1, ""},
		{"T26 drop of HELD", "held", actDrop, "dropped", 0, ""},
		{"L-02 forget of CONFIRMED", "confirmed", actForget, "none", 0, "first"},
	}
	for _, row := range rows {
		t.Run(row.row, func(t *testing.T) {
			rig := newAdminRig(t)
			id := rig.prepare(row.state)
			before := rig.show(id)
			view := rig.act(id, row.action)
			if view.Delivery.State != row.to || view.Note == "" || view.Sent != (row.sent > 0) {
				t.Errorf("answer %+v, want state %s and a note", view, row.to)
			}
			if got := rig.app.hits.Load(); got != row.sent {
				t.Errorf("the app got %d requests, want %d", got, row.sent)
			}
			if row.to != "none" {
				rig.inState(before.ID, row.to, false)
			} else if status, text := rig.ask(http.MethodGet, deliveryPath(before.ID), ""); status != http.StatusNotFound {
				t.Errorf("a forgotten delivery is shown: %d %s", status, text)
			}
			rig.audited(before.ID, before.State, row)
			var stats statsView
			if rig.get("/hookonce/stats", &stats); stats.KeptItems != 0 {
				t.Errorf("%d requests are still kept", stats.KeptItems)
			}
			if row.then != "" {
				rig.expect(rig.deliver("/own", id, `{"type":"test","state":"`+row.state+`"}`), row.then)
			}
		})
	}
}

// audited checks the one entry that an action leaves.
func (rig *adminRig) audited(id, from string, row decision) {
	rig.t.Helper()
	var trail auditView
	rig.get("/hookonce/audit?delivery="+id, &trail)
	if len(trail.Audit) != 1 {
		rig.t.Fatalf("%d audit entries, want 1", len(trail.Audit))
	}
	e, to := trail.Audit[0], row.to
	if row.sent > 0 {
		to = "ready" // the decision is to send; what came of it is an outcome
	}
	if e.ID != id || e.Actor != "ada@desk" || e.Why != "looked into the app" || e.From != from || e.To != to || e.At.IsZero() {
		rig.t.Errorf("audit entry %+v, want %s to %s", e, from, to)
	}
}

func TestRetryThatFails(t *testing.T) {
	t.Run("T22 T12 the app fails again", func(t *testing.T) {
		rig := newAdminRig(t)
		id := rig.prepare("uncertain")
		rig.app.does(answerFail)
		view := rig.act(id, actRetry)
		if !view.Sent || view.Outcome != "not_done_retry" || view.UpstreamStatus != 500 {
			t.Errorf("answer %+v", view)
		}
		d := rig.inState(id, "ready", true)
		if !d.Owed || !d.DeadLetter || !d.MayRepeat || d.Attempts != 2 {
			t.Errorf("delivery %+v, want it owed and visible", d.deliveryView)
		}
		rig.expect(rig.deliver("/own", id, `{"type":"test","state":"uncertain"}`), "first-again")
		if d = rig.inState(id, "ready", true); !d.Owed {
			t.Errorf("after the provider came back: %+v, want it owed still", d.deliveryView)
		}
		rig.app.does(answerOK)
		if view = rig.act(id, actRetry); view.Delivery.State != "confirmed" {
			t.Errorf("second retry: %+v", view)
		}
		if got := rig.app.bodies[len(rig.app.bodies)-1]; got != `{"type":"test","state":"uncertain"}` {
			t.Errorf("the app got %q", got)
		}
	})
	t.Run("T22 T14 nobody knows again", func(t *testing.T) {
		rig := newAdminRig(t)
		id := rig.prepare("uncertain")
		rig.app.does(answerGone)
		if view := rig.act(id, actRetry); !view.Sent || view.Outcome != "unknown" || view.Delivery.State != "uncertain" {
			t.Errorf("answer %+v", view)
		}
	})
	t.Run("T6 before the time the app asked for", func(t *testing.T) {
		rig := newAdminRig(t)
		rig.app.does(answerBusy)
		rig.expect(rig.deliver("/own", "msg_busy", `{}`), "first")
		if view := rig.act("msg_busy", actRetry); !view.Sent || !strings.Contains(view.Note, "asks to wait 1h0m0s") {
			t.Errorf("answer %+v", view)
		}
	})
}

func TestRetryThatCannotBe(t *testing.T) {
	t.Run("no way of its own", func(t *testing.T) {
		rig := newAdminRig(t)
		id := rig.prepare("ready-next")
		why := rig.refused(http.StatusConflict, id, actRetry, because)
		if !strings.Contains(why, "nothing was changed") || !strings.Contains(why, "upstream <address>") {
			t.Errorf("refused with %q", why)
		}
		d := rig.inState(id, "ready", true)
		if len(d.Audit) != 0 || d.Owed || d.Attempts != 1 || !strings.Contains(d.CannotSend, "upstream <address>") {
			t.Errorf("the refused retry changed something: %+v", d)
		}
	})
	for _, action := range []string{actForget, actDrop} {
		t.Run("T32 settled by "+action, func(t *testing.T) {
			rig := newAdminRig(t)
			id := rig.prepare("confirmed")
			if action == actDrop {
				id = rig.prepare("uncertain")
				rig.act(id, actDrop)
			}
			why := rig.refused(http.StatusConflict, id, actRetry, because)
			if !strings.Contains(why, "forget it") || !strings.Contains(why, "possible now: forget") {
				t.Errorf("refused with %q", why)
			}
			rig.act(id, actForget)
			rig.expect(rig.deliver("/own", id, `{"again":true}`), "first")
		})
	}
}

func TestDuplicateOf(t *testing.T) {
	rig := newAdminRig(t)
	id := rig.prepare("held")
	held := rig.show(id)
	body := func(of string) string { return `{"actor":"ada","reason":"the same order","duplicate_of":"` + of + `"}` }
	for of, status := range map[string]int{
		strings.Repeat("ab", 16): http.StatusNotFound, "msg_nobody": http.StatusNotFound, id: http.StatusBadRequest,
	} {
		rig.refused(status, id, actDrop, body(of))
	}
	if status, text := rig.ask(http.MethodPost, deliveryPath(id, actDrop), body(held.Peer)); status != http.StatusOK {
		t.Fatalf("T26: %d %s", status, text)
	}
	d := rig.inState(id, "dropped", false)
	if d.Reason != "duplicate_of" || d.Peer != held.Peer {
		t.Errorf("delivery is dropped for %q, peer %s", d.Reason, d.Peer)
	}
}

// An action that a state does not allow changes nothing, and the answer names
// those that it allows.
func TestImpossibleActions(t *testing.T) {
	rig := newAdminRig(t)
	rows := map[string]map[string]string{
		"ready":     {actConfirm: "retry, drop, forget", actRelease: "retry, drop, forget"},
		"uncertain": {actRelease: "confirm, retry, drop", actForget: "confirm, retry, drop"},
		"held":      {actConfirm: "release, drop", actRetry: "release, drop", actForget: "release, drop"},
		"confirmed": {actConfirm: "forget", actRelease: "forget", actRetry: "forget", actDrop: "forget"},
	}
	for _, state := range []string{"ready", "uncertain", "held", "confirmed"} {
		id := rig.prepare(state)
		for action, can := range rows[state] {
			t.Run(action+" at "+state, func(t *testing.T) {
				why := rig.refused(http.StatusConflict, id, action, because)
				if !strings.HasSuffix(why, "possible now: "+can) {
					t.Errorf("refused with %q, want the possible ones: %s", why, can)
				}
				if d := rig.show(id); d.State != state || len(d.Audit) != 0 {
					t.Errorf("delivery is %s with %d audit entries", d.State, len(d.Audit))
				}
			})
		}
	}
	var stats statsView
	if rig.get("/hookonce/stats", &stats); stats.Impossible != 0 {
		t.Errorf("%d events reached the store without effect", stats.Impossible)
	}
}

func TestActionWithoutReason(t *testing.T) {
	rig := newAdminRig(t)
	id := rig.prepare("uncertain")
	for name, body := range map[string]string{
		"no body": ``, "no reason": `{"actor":"ada"}`, "blank reason": `{"actor":"ada","reason":" \t"}`,
		"no actor": `{"reason":"because"}`, "not JSON": `reason=because`, "another field": `{"actor":"a","reason":"b","why":"c"}`,
		"endless reason": `{"actor":"a","reason":"` + strings.Repeat("x", maxWhy+1) + `"}`,
		"endless body":   `{"actor":"a","reason":"` + strings.Repeat("x", maxActionBody) + `"}`,
	} {
		t.Run(name, func(t *testing.T) { rig.refused(http.StatusBadRequest, id, actConfirm, body) })
	}
	rig.refused(http.StatusNotFound, id, "explode", because)
	rig.refused(http.StatusNotFound, "msg_nobody", actConfirm, because)
	if d := rig.inState(id, "uncertain", true); len(d.Audit) != 0 {
		t.Errorf("audit trail has %+v", d.Audit)
	}
}
