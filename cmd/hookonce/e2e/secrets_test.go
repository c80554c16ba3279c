// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// canaries are texts that must show nowhere: secrets of the configuration, and
// what deliveries carry.
var canaries = struct{ env, file, key, pepper, payload, cookie, auth, query string }{
	env: "canary-in-the-environment", file: "canary-in-a-file",
	key: strings.Repeat("c0", 32), pepper: strings.Repeat("d1", 32),
	payload: "canary-in-the-payload", cookie: "canary-in-a-cookie", auth: "canary-in-authorization", query: "canary-in-the-query",
}

// find returns the canaries that text shows.
func find(text string) (found []string) {
	for _, c := range []string{canaries.env, canaries.file, canaries.key, canaries.pepper, canaries.payload, canaries.cookie, canaries.auth, canaries.query} {
		if strings.Contains(text, c) {
			found = append(found, c)
		}
	}
	return found
}

// S17, S19, S21, S27, A-10: neither secrets nor payloads show in logs, metrics,
// the running configuration, its autosave file, the operator's views or, sealed,
// in the store, whatever becomes of a delivery.
func TestNothingShows(t *testing.T) {
	dir := t.TempDir()
	secretFile := filepath.Join(dir, "secret")
	if err := os.WriteFile(secretFile, []byte(canaries.file+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	app := NewApp(t, oracle.Config{})
	site := fmt.Sprintf(`<site> {
	hookonce /env github {
		secret {env.CANARY}
		upstream %[1]s
	}
	hookonce /file github {
		secret {file.%[2]s}
		forward {
			reverse_proxy %[1]s
		}
	}
	hookonce /down github {
		secret {env.CANARY}
		upstream %[3]s
	}
	hookonce /next github {
		secret {env.CANARY}
	}
	reverse_proxy /next %[1]s
}`, app.Addr(), secretFile, freeAddr(t))
	s := Start(t, site, Options{
		Env:      []string{"CANARY=" + canaries.env, "KEY=" + canaries.key, "PEPPER=" + canaries.pepper},
		Hookonce: "\t\tpepper {env.PEPPER}\n", Store: "\t\t\tencryption_key {env.KEY}\n",
	})
	n := 0
	deliver := func(path, secret string, b oracle.Behaviour) Answer {
		n++
		app.Script(b)
		return s.Deliver(t, Delivery{
			Provider: "github", Path: path + "?token=" + canaries.query, Secret: secret,
			Body: fmt.Sprintf(`{"n":%d,"text":"%s {env.CANARY} {file.%s}"}`, n, canaries.payload, secretFile),
			Header: map[string]string{"Cookie": "s=" + canaries.cookie, "Authorization": "Bearer " + canaries.auth,
				"X-Note": "{env.CANARY} {file." + secretFile + "}"},
		})
	}
	for _, path := range []string{"/env", "/file", "/next"} {
		secret := map[string]string{"/env": canaries.env, "/file": canaries.file, "/next": canaries.env}[path]
		deliver(path, secret, oracle.Behaviour{}).Is(t, path, 200, "first")
		deliver(path, secret, named("close")).Is(t, path, 200, "held")
		deliver(path, secret, named("cut-length")).Is(t, path, 200, "held")
		deliver(path, secret, answering(500)).Is(t, path, 500, "first")
		app.ResetScript()
		deliver(path, "a wrong one", oracle.Behaviour{}).Is(t, path, 401, "refused")
		app.ResetScript()
	}
	deliver("/down", canaries.env, oracle.Behaviour{}).Is(t, "down", 503, "not-delivered")
	app.ResetScript()
	adapted := Run(t, nil, "adapt", "--adapter", "caddyfile", "--config", s.file())
	_, config := s.Call(t, http.MethodGet, "/config/", "")
	_, list := s.Call(t, http.MethodGet, "/hookonce/deliveries?all=true", "")
	shown := ""
	for _, i := range s.Items(t, "") {
		_, one := s.Call(t, http.MethodGet, "/hookonce/deliveries/"+i.ID, "")
		shown += string(one)
	}
	autosave, err := os.ReadFile(filepath.Join(s.Dir, "config", "caddy", "autosave.json"))
	if err != nil {
		t.Fatal(err)
	}
	metrics := s.Metrics(t)
	s.Stop(t)
	ours, all := "", s.Logs.Text() // Caddy's own records tell path and query, and no more
	for _, r := range s.Logs.Find(func(r Record) bool { return strings.Contains(r.Str("logger"), "hookonce") }) {
		ours += fmt.Sprintln(r)
	}
	all = strings.ReplaceAll(all, canaries.query, "")
	for where, text := range map[string]string{
		"our log": ours, "whole log": all, "metrics": metrics, "adapt": adapted.Output, "/config/": string(config),
		"autosave.json": string(autosave), "list": string(list), "show": shown, "store": files(t, filepath.Join(s.Dir, "store")),
	} {
		if len(text) < 200 {
			t.Errorf("%s has only %q: not what was meant to be looked at", where, text)
		}
		if found := find(text); found != nil {
			t.Errorf("%s shows %q", where, found)
		}
	}
}

// files returns all bytes of a store, whose files only its user can read.
func files(t *testing.T, dir string) string {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if e.IsDir() {
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return nil
		}
		data, err := os.ReadFile(path)
		all.Write(bytes.Trim(data, "\x00"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// K-01: a stray newline is trimmed, with one warning.
func TestK01_trimmed(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	for name, content := range map[string]string{"LF": "%s\n", "CRLF": "%s\r\n", "blanks": "  %s\t\n"} {
		t.Run(name, func(t *testing.T) {
			secret := providers["github"].Secret
			file := filepath.Join(t.TempDir(), "secret")
			if err := os.WriteFile(file, fmt.Appendf(nil, content, secret), 0o600); err != nil {
				t.Fatal(err)
			}
			s := Start(t, "<site> {\n\thookonce /github github {\n\t\tsecret {file."+file+"}\n\t\tupstream "+app.Addr()+"\n\t}\n}", Options{})
			s.Deliver(t, Delivery{Provider: "github", Body: name}).Is(t, "delivery", 200, "first")
			if name == "blanks" {
				return // Caddy's own replacer trims newlines of files
			}
		})
	}
	s := Start(t, Site("hookonce /github github {\n\tsecret {env.PADDED}\n\tupstream "+app.Addr()+"\n}"),
		Options{Env: []string{"PADDED= " + providers["github"].Secret + " \n"}})
	s.Deliver(t, Delivery{Provider: "github", Body: "padded"}).Is(t, "delivery", 200, "first")
	warnings := s.Logs.Find(func(r Record) bool {
		return r.Str("level") == "warn" && r.Str("route") == "github:/github" && strings.Contains(r.Msg(), "secret")
	})
	if len(warnings) != 1 || strings.Contains(fmt.Sprint(warnings), providers["github"].Secret) {
		t.Errorf("warnings: %v", warnings)
	}
}

// K-05: while a secret is replaced, both count; a metric shows which one still
// matches, and one that is over does not count.
func TestK05_rotation(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(`hookonce /github github {
	secret {env.NEW} {
		id new
	}
	secret {env.OLD} {
		id old
		until `+time.Now().Add(time.Hour).UTC().Format(time.RFC3339)+`
	}
	secret {env.GONE} {
		id gone
		until `+time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)+`
	}
	upstream `+app.Addr()+`
}`), Options{Env: []string{"NEW=the-new-one", "OLD=the-old-one", "GONE=the-one-before"}})
	s.Deliver(t, Delivery{Provider: "github", Secret: "the-new-one", Body: "1"}).Is(t, "new", 200, "first")
	s.Deliver(t, Delivery{Provider: "github", Secret: "the-old-one", Body: "2"}).Is(t, "old", 200, "first")
	s.Deliver(t, Delivery{Provider: "github", Secret: "the-new-one", Body: "2"}).Is(t, "resent under the new one", 200, "duplicate")
	s.Deliver(t, Delivery{Provider: "github", Secret: "the-one-before", Body: "3"}).Is(t, "gone", 401, "refused")
	for id, want := range map[string]float64{"new": 2, "old": 1, "gone": 0} {
		if got := s.metric(t, fmt.Sprintf(`caddy_hookonce_secret_matched_total{route="github:/github",secret=%q}`, id)); got != want {
			t.Errorf("secret %s matched %v times, want %v", id, got, want)
		}
	}
}

// A window below what the provider needs works, with one warning that names both
// figures.
func TestShortWindow(t *testing.T) {
	s := Start(t, Site(Route("/stripe", "stripe", "window 1h", "upstream 127.0.0.1:1")), Options{})
	warnings := s.Logs.Find(func(r Record) bool { return r.Str("level") == "warn" && r.Str("route") == "stripe:/stripe" })
	if len(warnings) != 1 || !strings.Contains(warnings[0].Msg(), "1h") || !strings.Contains(warnings[0].Msg(), "720h") ||
		!strings.HasPrefix(warnings[0].Str("declared_at"), "Caddyfile:") {
		t.Errorf("warnings: %v", warnings)
	}
}
