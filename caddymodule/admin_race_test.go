// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/caddymodule/store"
)

// Between the look at a delivery and the step it may be settled by others. A
// copy that nobody can ever send is not left behind.
func TestRetryOfWhatIsSettledMeanwhile(t *testing.T) {
	rig := newAdminRig(t)
	id := rig.prepare("uncertain")
	app, err := runningApp()
	if err != nil {
		t.Fatal(err)
	}
	l, err := app.acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Release(); err != nil {
			t.Error(err)
		}
	}()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	c := rig.call(app, l, r)
	stale, err := c.find(id)
	if err != nil {
		t.Fatal(err)
	}
	rig.act(id, actConfirm)
	rig.app.does(answerGone)
	rig.expect(rig.deliver("/own", "msg_other", `{"other":true}`), "held")
	other, err := c.find("msg_other")
	if err != nil {
		t.Fatal(err)
	}
	stale.Spool = other.Spool // as if the bytes were still there at the look
	if _, err := c.sendAgain(t.Context(), actRetry, stale, actionRequest{Actor: "ada", Reason: "late"}); err == nil ||
		!strings.Contains(err.Error(), "was settled at this moment") {
		t.Fatalf("error %v", err)
	}
	page, err := c.n.store.List(t.Context(), store.Filter{})
	if err != nil || len(page.Records) != 1 || page.Records[0].ID != other.ID {
		t.Errorf("open deliveries %v, error %v, want the other one alone", page.Records, err)
	}
}

// Who reads the log sees who acted on what, and none of the words.
func TestActionIsLogged(t *testing.T) {
	rig := newAdminRig(t)
	id := rig.prepare("uncertain")
	rig.act(id, actConfirm)
	log, err := os.ReadFile(rig.log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(log), `"operator's action","action":"confirm"`) || strings.Contains(string(log), "looked into the app") {
		t.Errorf("log: %s", log)
	}
}
