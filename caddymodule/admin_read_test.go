// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
)

func TestListFilters(t *testing.T) {
	rig := newAdminRig(t)
	for _, state := range []string{"ready", "uncertain", "held", "confirmed"} {
		rig.prepare(state)
	}
	rig.prepare("ready-next")
	rows := []struct {
		query string
		want  []string // states, in any order
	}{
		{"", []string{"held", "ready", "ready", "uncertain"}},
		{"?state=ready", []string{"ready", "ready"}},
		{"?state=ready,held", []string{"held", "ready", "ready"}},
		{"?state=ready&state=uncertain", []string{"ready", "ready", "uncertain"}},
		{"?state=confirmed", []string{"confirmed", "confirmed"}},
		{"?state=running", nil},
		{"?route=next", []string{"ready"}},
		{"?reason=no_answer", []string{"uncertain"}},
		{"?reason=content_mismatch", []string{"held"}},
		{"?q=msg_ready-n", []string{"ready"}},
		{"?q=nobody", nil},
		{"?all=true", []string{"confirmed", "confirmed", "held", "ready", "ready", "uncertain"}},
		{"?all&q=msg_held", []string{"confirmed", "held"}},
		{"?all=false&route=own", []string{"held", "ready", "uncertain"}},
	}
	for _, row := range rows {
		t.Run(row.query, func(t *testing.T) {
			rig.t = t
			var list listView
			rig.get("/hookonce/deliveries"+row.query, &list)
			got := []string{}
			for _, d := range list.Deliveries {
				got = append(got, d.State)
			}
			slices.Sort(got)
			if !slices.Equal(got, row.want) || list.Cursor != "" {
				t.Errorf("got %v, cursor %q, want %v", got, list.Cursor, row.want)
			}
		})
	}
}

func TestListRefusesWhatItDoesNotKnow(t *testing.T) {
	rig := newAdminRig(t)
	for _, query := range []string{
		"?state=redy", "?state=none", "?sate=ready", "?reason=because", "?all=perhaps",
		"?limit=0", "?limit=-1", "?limit=1001", "?limit=x", "?cursor=x",
	} {
		t.Run(query, func(t *testing.T) {
			rig.t = t
			if status, text := rig.ask(http.MethodGet, "/hookonce/deliveries"+query, ""); status < 400 || !strings.Contains(string(text), `"error":`) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
	if status, text := rig.ask(http.MethodGet, "/hookonce/audit?limit=x", ""); status != http.StatusBadRequest {
		t.Errorf("audit: %d %s", status, text)
	}
}

func TestListPages(t *testing.T) {
	for _, all := range []string{"", "&all"} {
		rig := newAdminRig(t)
		rig.app.does(answerFail)
		for i := range 7 {
			rig.deliver("/own", fmt.Sprintf("msg_%d", i), fmt.Sprintf(`{"n":%d}`, i))
		}
		seen, cursor, pages := map[string]bool{}, "", 0
		for {
			var list listView
			rig.get("/hookonce/deliveries?limit=3"+all+"&cursor="+url.QueryEscape(cursor), &list)
			for _, d := range list.Deliveries {
				seen[d.DeliveryID] = true
			}
			if pages++; list.Cursor == "" {
				break
			}
			cursor = list.Cursor
		}
		if len(seen) != 7 || pages != 3 {
			t.Errorf("%d deliveries on %d pages, want 7 on 3", len(seen), pages)
		}
	}
}

func TestFind(t *testing.T) {
	rig := newAdminRig(t)
	id := rig.prepare("uncertain")
	full := rig.show(id).ID
	for _, name := range []string{full, full[:8], full[:31], id} {
		if got := rig.show(name).ID; got != full {
			t.Errorf("%q is %s, want %s", name, got, full)
		}
	}
	held := rig.show(rig.prepare("held"))
	refused := map[string]int{
		full[:7]: http.StatusNotFound, "msg_uncertai": http.StatusNotFound, "ffffffffffff": http.StatusNotFound,
		strings.Repeat("0", 32): http.StatusNotFound,
		held.DeliveryID:         http.StatusConflict, // the confirmed one and the held one
	}
	for name, want := range refused {
		status, text := rig.ask(http.MethodGet, deliveryPath(name), "")
		if status != want {
			t.Errorf("%q: %d %s, want %d", name, status, text, want)
		}
		if want == http.StatusConflict && (!strings.Contains(string(text), held.ID) || !strings.Contains(string(text), held.Peer)) {
			t.Errorf("%q: the choices are not named: %s", name, text)
		}
	}
}

// A provider's ID may have any characters in it.
func TestFindOddIDs(t *testing.T) {
	rig := newAdminRig(t)
	rig.app.does(answerFail)
	for _, id := range []string{
		"a/b c?d#e%2F", "grüße", "12345678", `q"uote`, strings.Repeat("ü", 61), strings.Repeat("long-", 40), strings.Repeat("ä", 100),
	} {
		rig.deliver("/own", id, `{"id":"x"}`)
		if got := rig.show(id); !strings.HasPrefix(id, strings.TrimSuffix(got.DeliveryID, "…")) {
			t.Errorf("%q is shown as %q", id, got.DeliveryID)
		}
	}
}

// S17, S21: neither secrets nor signatures nor payloads are shown or logged.
func TestNothingLeaks(t *testing.T) {
	rig := newAdminRig(t)
	rig.app.does(answerGone)
	const body = `{"card":"canary-body"}`
	rig.expect(rig.deliver("/own?access_token=canary-query&plain", "msg_leak", body,
		"Authorization", "Bearer canary-auth", "Cookie", "session=canary-cookie", "X-Api-Key", "canary-key",
		"X-Gitlab-Token", "canary-token", "X-Topic", "orders/paid"), "held")
	rig.app.does(answerFail)
	d := rig.show("msg_leak")
	if d.Request.Headers.Get("X-Topic") != "orders/paid" || d.Request.Headers.Get("Webhook-Signature") != redacted {
		t.Errorf("headers are shown as %v", d.Request.Headers)
	}
	sum := sha256.Sum256([]byte(body))
	if d.Request.BodySize != len(body) || d.Request.BodySHA256 != hex.EncodeToString(sum[:]) || d.BodyDigest != d.Request.BodySHA256[:32] {
		t.Errorf("body is shown as %+v", d.Request)
	}
	if !slices.Equal(d.Request.Query, []string{"access_token", "plain"}) || d.Request.Path != "/own" {
		t.Errorf("path %q, query %q", d.Request.Path, d.Request.Query)
	}
	var all []byte
	for _, path := range []string{deliveryPath("msg_leak"), "/hookonce/deliveries?all", "/hookonce/audit", "/hookonce/stats"} {
		_, text := rig.ask(http.MethodGet, path, "")
		all = append(all, text...)
	}
	rig.act("msg_leak", actRetry)
	log, err := os.ReadFile(rig.log)
	if err != nil || len(log) == 0 {
		t.Fatalf("log of %d bytes, error %v", len(log), err)
	}
	for _, canary := range []string{"canary", rigSecret, rigSecret[len("whsec_"):]} {
		if strings.Contains(string(all), canary) {
			t.Errorf("%q is in an answer of the admin endpoint", canary)
		}
		if strings.Contains(string(log), canary) {
			t.Errorf("%q is in the log", canary)
		}
	}
}

// S25: text of others cannot act on a terminal.
func TestSafeJSON(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü €":            `"plain ü €"`,
		"\x1b[2J\a":            `"\u001b[2J\u0007"`,
		"a\x7fb\u009bc":        `"a\u007fb\u009bc"`,
		"\u202eevil\u2066":     `"\u202eevil\u2066"`,
		"\U000e0041":           `"\udb40\udc41"`,
		"two\nlines":           `"two\nlines"`,
		"bad \xff utf":         `"bad \ufffd utf"`,
		"<script>&\u2028":      `"<script>&\u2028"`,
		"nbsp\u00a0soft\u00ad": `"nbsp\u00a0soft\u00ad"`,
	} {
		got, err := safeJSON(in)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.ReplaceAll(strings.TrimSuffix(string(got), "\n"), "\ufffd", `\ufffd`); text != want {
			t.Errorf("%q is written as %s, want %s", in, text, want)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü": "plain ü", "\x1b[31mred": `\x1b[31mred`, "a\nb\tc": `a\nb\tc`, "\u202etxt": `\u202etxt`,
		`with "quotes"` + "\x07": `with "quotes"\a`, "\xff": `\xff`,
	} {
		if got := visible(in); got != want {
			t.Errorf("%q is shown as %s, want %s", in, got, want)
		}
	}
}

// S18: the routes are on the admin endpoint alone, which checks Host and Origin
// and is guarded by whoever guards that endpoint.
func TestAdminEndpointOnly(t *testing.T) {
	rig := newAdminRig(t)
	id := rig.prepare("uncertain")
	resp, err := http.Get(rig.front + "/hookonce/deliveries")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.Header.Get("Content-Type") == "application/json" {
		t.Error("a site answers for the admin endpoint")
	}
	for name, value := range map[string]string{"Origin": "http://evil.example", "Host": "evil.example"} {
		r, err := http.NewRequest(http.MethodPost, rig.admin+deliveryPath(id, actConfirm), strings.NewReader(because))
		if err != nil {
			t.Fatal(err)
		}
		if name == "Host" {
			r.Host = value
		} else {
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusForbidden {
			t.Errorf("foreign %s: %d, want 403", name, resp.StatusCode)
		}
	}
	if status, _ := rig.ask(http.MethodGet, deliveryPath(id, actConfirm), ""); status != http.StatusMethodNotAllowed {
		t.Errorf("an action by GET: %d, want 405", status)
	}
	rig.inState(id, "uncertain", true)
}

const quietLog = `"logging": {"logs": {"default": {"writer": {"output": "discard"}}}}`

// Without a hookonce route there is nothing to show, and a sentence says so.
func TestAdminWithoutApp(t *testing.T) {
	admin := freeAddress(t)
	if err := caddy.Load(fmt.Appendf(nil, `{"admin": {"listen": %q, "config": {"persist": false}}, `+quietLog+`}`, admin), true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	rig := &adminRig{t: t, admin: "http://" + admin}
	if status, text := rig.ask(http.MethodGet, "/hookonce/deliveries", ""); status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", status, text)
	}
}

// The app may have no settings of its own: then only its routes bring it up.
func TestAdminWithImplicitApp(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	rig := &adminRig{t: t, app: newScriptedApp(t)}
	admin, front := freeAddress(t), freeAddress(t)
	rig.admin, rig.front = "http://"+admin, "http://"+front
	config := fmt.Sprintf(`{"admin": {"listen": %q, "config": {"persist": false}}, `+quietLog+`, "apps": {"http": {"servers": {"s": {
		"listen": [%q], "automatic_https": {"disable": true}, "routes": [%s]}}}}}`,
		admin, front, rig.route("/own", "own", fmt.Sprintf(`"upstream": {"addresses": [%q]},`, rig.app.address())))
	if err := caddy.Load([]byte(config), true); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	rig.expect(rig.deliver("/own", "msg_1", `{}`), "first")
	var list listView
	if rig.get("/hookonce/deliveries?all", &list); len(list.Deliveries) != 1 {
		t.Errorf("%d deliveries, want 1", len(list.Deliveries))
	}
}
