// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

const testSeed = "0707070707070707070707070707070707070707070707070707070707070707"

// secretFlags are what "send" needs to sign for a provider, and the secret of
// the route that takes it.
func secretFlags(t *testing.T, p *verify.Preset) (flags []string, secret string) {
	t.Helper()
	switch {
	case p.Scheme.Algorithm == "ed25519":
		return []string{"--seed", testSeed}, publicKey(p, bytes.Repeat([]byte{7}, 32))
	case strings.HasPrefix(p.Scheme.SecretEncoding, "whsec"):
		return []string{"--secret", rigSecret}, rigSecret
	}
	return []string{"--secret", "demo-secret"}, "demo-secret"
}

// Every provider's default delivery is correct, new in each run, and one event
// with all its repeats; and every way to spoil it is noticed.
func TestSendEveryProvider(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	names, err := verify.PresetNames()
	if err != nil {
		t.Fatal(err)
	}
	rig := &adminRig{t: t, app: newScriptedApp(t), log: t.TempDir() + "/caddy.log"}
	front := freeAddress(t)
	var routes []string
	for _, name := range names {
		p, err := verify.LookupPreset(name)
		if err != nil {
			t.Fatal(err)
		}
		_, secret := secretFlags(t, p)
		routes = append(routes, fmt.Sprintf(`{"match": [{"path": ["/%s"]}], "handle": [{"handler": "hookonce", "name": %q, "provider": %q,
			"public_url": "http://%s/%s", "upstream": {"addresses": [%q]}, "secrets": [{"value": %q}], "allow_inline_secret": true}]}`,
			name, name, name, front, name, rig.app.address(), secret))
	}
	rig.load(freeAddress(t), front, t.TempDir(), routes...)
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, name := range names {
		t.Run(name, func(t *testing.T) { sendOne(t, rig, name, "http://"+front+"/"+name) })
	}
}

func sendOne(t *testing.T, rig *adminRig, name, target string) {
	p, err := verify.LookupPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	flags, _ := secretFlags(t, p)
	send := func(more ...string) string {
		out, _ := webhook("", append(append([]string{"send", "--provider", name, target}, flags...), more...)...)
		return firstWords(out)
	}
	for _, run := range []string{"first run", "second run"} {
		rig.app.hits.Store(0)
		if got, n := send("--repeat", "3"), rig.app.hits.Load(); got != "first duplicate duplicate" || n != 1 {
			t.Errorf("%s: %s, and the app got %d", run, got, n)
		}
	}
	if got := send("--repeat", "2", "--new-id-each"); got != "first first" {
		t.Errorf("new IDs: %s", got)
	}
	wrong := []string{"signature", "timestamp"}
	if p.Scheme.Algorithm != "static" { // a token covers no body
		wrong = append(wrong, "body")
	}
	rig.app.hits.Store(0)
	for _, what := range wrong {
		want := "refused"
		if what == "timestamp" && (!p.Scheme.Timestamp.IsZero() == (p.Scheme.Timestamp.JSON != "")) {
			want = "error" // the provider signs no time, or has it in the body
		}
		if got := send("--tamper", what); got != want || rig.app.hits.Load() != 0 {
			t.Errorf("tampered %s: %s, and the app got %d", what, got, rig.app.hits.Load())
		}
	}
}

// echo answers what the test sent, in the shape of hookonce.
func echo(t *testing.T, status int) (*httptest.Server, func() []*http.Request) {
	t.Helper()
	var mu sync.Mutex
	var got []*http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		got = append(got, r)
		mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(srv.Close)
	return srv, func() []*http.Request { mu.Lock(); defer mu.Unlock(); return got }
}

func TestSendFlags(t *testing.T) {
	srv, got := echo(t, http.StatusOK)
	file := filepath.Join(t.TempDir(), "body.json")
	if err := os.WriteFile(file, []byte(`{"from":"file"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("demo-secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOOK_SECRET", "demo-secret")
	rows := []struct {
		args  []string
		stdin string
		body  string // empty: any
		head  map[string]string
	}{
		{[]string{"--secret", "demo-secret", "--data", `{"a":1}`}, "", `{"a":1}`, map[string]string{"Content-Type": "application/json"}},
		{[]string{"--secret-file", secret, "--data", "@" + file}, "", `{"from":"file"}`, nil},
		{[]string{"--secret-env", "HOOK_SECRET", "--data", "-"}, "from stdin", "from stdin", nil},
		{[]string{"--secret", "demo-secret", "--id", "my-id"}, "", "", map[string]string{"X-GitHub-Delivery": "my-id", "X-GitHub-Event": "push"}},
		{[]string{"--secret", "demo-secret", "-H", "X-GitHub-Event: ping", "-H", "Content-Type: text/plain"}, "", "",
			map[string]string{"X-GitHub-Event": "ping", "Content-Type": "text/plain"}},
	}
	for _, row := range rows {
		out, err := webhook(row.stdin, append([]string{"send", "--provider", "github", srv.URL}, row.args...)...)
		if err != nil || !strings.HasPrefix(out, "-  ") {
			t.Fatalf("%v: %v, %q", row.args, err, out)
		}
		all := got()
		r := all[len(all)-1]
		body, _ := io.ReadAll(r.Body)
		if row.body != "" && string(body) != row.body {
			t.Errorf("%v: body %q", row.args, body)
		}
		for name, want := range row.head {
			if r.Header.Get(name) != want {
				t.Errorf("%v: %s is %q, want %q", row.args, name, r.Header.Get(name), want)
			}
		}
		if why := check(t, "github", "demo-secret", r, body, time.Now()); why != verify.OK {
			t.Errorf("%v: the signature is wrong: %s", row.args, why)
		}
	}
}

// check verifies what arrived.
func check(t *testing.T, provider, secret string, r *http.Request, body []byte, at time.Time) verify.Reason {
	t.Helper()
	p, err := verify.LookupPreset(provider)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Scheme.Compile([]verify.Secret{{Value: secret}}, verify.Options{PublicURL: "http://example.com/"})
	if err != nil {
		t.Fatal(err)
	}
	_, why := v.Verify(verify.NewRequest(r, body), at)
	return why
}

func TestSendAt(t *testing.T) {
	srv, got := echo(t, http.StatusOK)
	when := time.Date(2026, 5, 4, 12, 30, 0, 0, time.UTC)
	for _, at := range []string{"2026-05-04T12:30:00Z", "1777897800"} {
		if _, err := webhook("", "send", "--provider", "stripe", "--secret", "s", "--at", at, srv.URL); err != nil {
			t.Fatal(err)
		}
		all := got()
		r := all[len(all)-1]
		body, _ := io.ReadAll(r.Body)
		if why := check(t, "stripe", "s", r, body, when); why != verify.OK {
			t.Errorf("--at %s: %s", at, why)
		}
	}
	now := time.Unix(1_800_000_000, 0)
	for text, want := range map[string]int64{"-10m": 1_799_999_400, "+1h": 1_800_003_600, "-5": -5, "": 1_800_000_000} {
		if got, err := parseAt(text, now); err != nil || got.Unix() != want {
			t.Errorf("--at %q is %d, %v; want %d", text, got.Unix(), err, want)
		}
	}
	if _, err := parseAt("yesterday", now); err == nil {
		t.Error("--at yesterday is taken")
	}
}

func TestSendParallel(t *testing.T) {
	const n = 8
	var arrived sync.WaitGroup
	arrived.Add(n)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		arrived.Done()
		arrived.Wait() // answers only when all are there at once
		w.Header().Set(statusHeader, "in-progress")
	}))
	defer srv.Close()
	out, err := webhook("", "send", "--provider", "github", "--secret", "s", "-n", fmt.Sprint(n), "--parallel", srv.URL)
	if err != nil || strings.Count(out, "in-progress    200") != n {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestSendExitCode(t *testing.T) {
	for status, ok := range map[int]bool{200: true, 204: true, 302: false, 401: false, 503: false} {
		srv, got := echo(t, status)
		out, err := webhook("", "send", "--provider", "github", "--secret", "s", srv.URL)
		if (err == nil) != ok || !strings.Contains(out, fmt.Sprint(status)) || len(got()) != 1 {
			t.Errorf("%d: error %v, %d requests\n%s", status, err, len(got()), out)
		}
	}
	out, err := webhook("", "send", "--provider", "github", "--secret", "s", "http://"+freeAddress(t)+"/")
	if err == nil || !strings.Contains(out, "no-answer      connection refused") {
		t.Errorf("nobody there: %v\n%s", err, out)
	}
}

func TestSendErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"which provider?":                           {"http://127.0.0.1:1/"},
		"did you mean github or gitlab?":            {"-p", "githb", "--secret", "s", "http://127.0.0.1:1/"},
		"exactly one of --secret":                   {"-p", "github", "http://127.0.0.1:1/"},
		"exactly one of --secret,":                  {"-p", "github", "--secret", "s", "--secret-env", "HOME", "http://127.0.0.1:1/"},
		"HOOK_UNSET is unset":                       {"-p", "github", "--secret-env", "HOOK_UNSET", "http://127.0.0.1:1/"},
		"is no address to send to":                  {"-p", "github", "--secret", "s", "127.0.0.1:8080"},
		"--repeat 0":                                {"-p", "github", "--secret", "s", "-n", "0", "http://127.0.0.1:1/"},
		"--tamper \"all\"":                          {"-p", "github", "--secret", "s", "--tamper", "all", "http://127.0.0.1:1/"},
		"stripe has its ID in the body (json:/id)":  {"-p", "stripe", "--secret", "s", "--data", "{}", "--id", "x", "http://127.0.0.1:1/"},
		"meta gives its deliveries no ID":           {"-p", "meta", "--secret", "s", "--id", "x", "http://127.0.0.1:1/"},
		"--new-id-each: stripe has":                 {"-p", "stripe", "--secret", "s", "--data", "{}", "--new-id-each", "http://127.0.0.1:1/"},
		"--new-id-each and --id exclude each other": {"-p", "github", "--secret", "s", "--id", "x", "--new-id-each", "http://127.0.0.1:1/"},
		"want 'Name: value'":                        {"-p", "github", "--secret", "s", "-H", "nonsense", "http://127.0.0.1:1/"},
		"--at \"soon\"":                             {"-p", "github", "--secret", "s", "--at", "soon", "http://127.0.0.1:1/"},
		"--seed: want 64 hex digits":                {"-p", "discord", "--seed", "abc", "http://127.0.0.1:1/"},
		"for Ed25519 the private key":               {"-p", "discord", "--secret", strings.Repeat("ab", 32), "http://127.0.0.1:1/"},
	} {
		out, err := webhook("", append([]string{"send"}, args...)...)
		if text := fmt.Sprint(err, out); err == nil || !strings.Contains(text, want) {
			t.Errorf("%v: %s, want %q", args, text, want)
		}
	}
}

// A sample is valid, has no marks left, and is never the same twice.
func TestSamples(t *testing.T) {
	names, err := verify.PresetNames()
	if err != nil {
		t.Fatal(err)
	}
	for name := range samples {
		if !slices.Contains(names, name) {
			t.Errorf("there is a sample for %s, which is no provider", name)
		}
	}
	for _, name := range names {
		p, err := verify.LookupPreset(name)
		if err != nil {
			t.Fatal(err)
		}
		random := bytes.NewReader(bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxyz"), 8))
		_, one, err1 := sampleOf(p).fill("", time.Now(), random)
		_, two, err2 := sampleOf(p).fill("", time.Now(), random)
		if err1 != nil || err2 != nil || !json.Valid(one) || bytes.Equal(one, two) {
			t.Errorf("%s: %v %v, %s, %s", name, err1, err2, one, two)
		}
		if bytes.Contains(one, []byte("{n}")) || bytes.Contains(one, []byte("{id}")) || bytes.Contains(one, []byte("{time}")) {
			t.Errorf("%s: marks are left in %s", name, one)
		}
	}
}
