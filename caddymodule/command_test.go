// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// webhook runs a subcommand in this process.
func webhook(stdin string, args ...string) (string, error) {
	cmd := &cobra.Command{Use: "webhook", SilenceUsage: true, SilenceErrors: true}
	webhookCommand(cmd)
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

// cli runs a subcommand that talks to the rig's server.
func (rig *adminRig) cli(args ...string) string {
	rig.t.Helper()
	out, err := webhook("", append(args, "--address", strings.TrimPrefix(rig.admin, "http://"))...)
	if err != nil {
		rig.t.Fatalf("webhook %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// has fails the test unless the text has all parts, each in one line.
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in:\n%s", p, text)
		}
	}
}

// The whole way of an operator: he sees what waits, looks at it, and types the
// command that is printed.
func TestOperatorsWay(t *testing.T) {
	rig := newAdminRig(t)
	has(t, rig.cli("list"), "nothing waits for you")
	id := rig.prepare("uncertain")
	list := rig.cli("list")
	full := strings.TrimSpace(rig.cli("list", "--state", "uncertain", "--quiet"))
	has(t, list, "ID ", full[:8]+"  uncertain", "msg_uncertain", "the connection ended before the app answered",
		"1 uncertain", "show "+full[:8])
	page := rig.cli("show", full[:8])
	has(t, page, "Delivery "+full, "is uncertain since", "owed", "Webhook-Signature: (redacted)", "first seen", "attempt 1 sent",
		"confirm "+full[:8], "retry "+full[:8], "drop "+full[:8], "--address "+strings.TrimPrefix(rig.admin, "http://"))
	has(t, rig.cli("confirm", id, "--reason", "the order is there", "--actor", "ada"), full[:8]+"  confirmed")
	has(t, rig.cli("audit"), full[:8], "confirm", "uncertain to confirmed", "ada", "the order is there")
	has(t, rig.cli("list"), "nothing waits for you")
	has(t, rig.cli("list", "--all"), full[:8]+"  confirmed")
	has(t, rig.cli("show", id), "not kept any more", "forget "+full[:8], "confirm by ada, uncertain to confirmed: the order is there")
	has(t, rig.cli("forget", id, "--reason", "again, please"), "counts as the first")
	has(t, rig.cli("audit", full), "forget", "again, please", "confirm")
	rig.expect(rig.deliver("/own", id, `{"type":"test","state":"uncertain"}`), "first")
}

func TestOperatorsActor(t *testing.T) {
	rig := newAdminRig(t)
	rig.cli("drop", rig.prepare("ready"), "--reason", "no longer needed")
	var trail auditView
	rig.get("/hookonce/audit", &trail)
	if host, err := os.Hostname(); err != nil || !strings.HasSuffix(trail.Audit[0].Actor, "@"+host) {
		t.Errorf("actor is %q, want user@%s", trail.Audit[0].Actor, host)
	}
}

func TestRetryByCommand(t *testing.T) {
	rig := newAdminRig(t)
	rig.cli("retry", rig.prepare("uncertain"), "--reason", "it was not done")
	if n := rig.app.hits.Load(); n != 1 {
		t.Errorf("the app got %d requests, want 1", n)
	}
	next := rig.prepare("ready-next")
	page := rig.cli("show", next)
	has(t, page, "not possible now: this route has no way of its own", "drop")
	if strings.Contains(page, "retry "+rig.show(next).ID[:8]) {
		t.Errorf("a command is offered that cannot work:\n%s", page)
	}
}

// What cannot be done to one delivery does not keep the others waiting.
func TestManyAtOnce(t *testing.T) {
	rig := newAdminRig(t)
	one, two := rig.prepare("ready"), rig.prepare("uncertain")
	out, err := webhook("", "confirm", one, two, "--reason", "seen", "--address", strings.TrimPrefix(rig.admin, "http://"))
	if err == nil || err.Error() != "1 of 2 failed" {
		t.Errorf("error %v", err)
	}
	has(t, out, one+": cannot confirm delivery", "confirmed: a further delivery")
	rig.inState(two, "confirmed", false)
}

func TestCommandJSON(t *testing.T) {
	rig := newAdminRig(t)
	id := rig.prepare("held")
	var list listView
	rig.decode([]byte(rig.cli("list", "--json")), &list)
	var d showView
	rig.decode([]byte(rig.cli("show", id, "--json")), &d)
	var done []actionView
	rig.decode([]byte(rig.cli("drop", id, "--reason", "same", "--duplicate-of", d.Peer, "--json")), &done)
	var trail auditView
	rig.decode([]byte(rig.cli("audit", "--json")), &trail)
	if len(list.Deliveries) != 1 || d.ID != id || done[0].Delivery.Peer != d.Peer || trail.Audit[0].ID != id {
		t.Errorf("list %+v, show %+v, drop %+v, audit %+v", list, d, done, trail)
	}
}

// S25: text of the sender, and of other operators, acts on no terminal.
func TestTerminalInjection(t *testing.T) {
	rig := newAdminRig(t)
	rig.app.does(answerFail)
	rig.deliver("/own?%1b%5b2J=1", "a\u202eb", `{}`, "X-Evil", "a\u009b2J\u2066b")
	id := strings.TrimSpace(rig.cli("list", "--quiet"))
	has(t, rig.cli("show", id), `a\u202eb`, `a\u009b2J\u2066b`, `\x1b[2J`)
	rig.cli("drop", id, "--reason", "bad\x1b[2J\nline", "--actor", "ada\x07")
	for _, args := range [][]string{{"list", "--all"}, {"list", "--all", "--json"}, {"show", id}, {"show", id, "--json"}, {"audit"}, {"audit", "--json"}} {
		if out := rig.cli(args...); strings.ContainsFunc(out, hidden) {
			t.Errorf("%v prints control characters: %q", args, out)
		}
	}
}

// Each error says what to do about it.
func TestCommandErrors(t *testing.T) {
	rig := newAdminRig(t)
	at := strings.TrimPrefix(rig.admin, "http://")
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	nobody := freeAddress(t)
	config := filepath.Join(t.TempDir(), "caddy.json")
	text, err := json.Marshal(map[string]any{"admin": map[string]string{"listen": nobody}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, text, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"no server answers at " + nobody + ": start it, or say where its admin endpoint is with --address": {"list", "--address", nobody},
		"no server answers at " + nobody:        {"audit", "--config", config},
		"has no hookonce in it":                 {"list", "--address", strings.TrimPrefix(other.URL, "http://")},
		"no delivery has the ID":                {"show", "msg_nobody", "--address", at},
		"want one ID":                           {"show"},
		"which delivery?":                       {"retry", "--reason", "x"},
		"an action needs a reason":              {"retry", "12345678"},
		"unknown state \"redy\"":                {"list", "--state", "redy", "--address", at},
		"--limit 0":                             {"list", "--limit", "0", "--address", at},
		"invalid admin address":                 {"list", "--address", "127.0.0.1:1-9"},
		"cannot be read from the configuration": {"list", "--config", config + ".none"},
		"unknown command \"lst\"":               {"lst"},
	} {
		out, err := webhook("", args...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q; output %s", args, err, want, out)
		}
	}
}

// The commands as people run them: the real binary against a running server.
func TestBinary(t *testing.T) {
	bin := filepath.Join(t.TempDir(), "hookonce")
	if out, err := exec.Command("go", "build", "-o", bin, "github.com/hookonce/hookonce/cmd/hookonce").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	rig := newAdminRig(t)
	admin := strings.TrimPrefix(rig.admin, "http://")
	run := func(code int, args ...string) string {
		t.Helper()
		cmd := exec.Command(bin, append([]string{"webhook"}, args...)...)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	send := []string{"send", "--provider", "standard-webhooks", "--secret", rigSecret, "--repeat", "3", rig.front + "/own"}
	if got := firstWords(run(0, send...)); got != "first duplicate duplicate" {
		t.Errorf("send prints %q", got)
	}
	run(1, "send", "--provider", "standard-webhooks", "--secret", rigSecret, "--tamper", "body", rig.front+"/own")
	id := rig.prepare("uncertain")
	has(t, run(0, "list", "--address", admin), "hookonce webhook show")
	has(t, run(1, "confirm", id, "--address", admin), `Error: an action needs a reason`)
	has(t, run(0, "confirm", id, "--reason", "seen", "--address", admin), "confirmed")
	has(t, run(1, "show", "msg_nobody", "--address", admin), "Error: no delivery has the ID")
	has(t, run(0, "providers"), "github", "X-GitHub-Delivery")
}

// firstWords are the words that the lines begin with.
func firstWords(text string) string {
	var words []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 0 {
			words = append(words, f[0])
		}
	}
	return strings.Join(words, " ")
}
