// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// mistake is a configuration that must not run. at is a text of the line that
// the complaint names, say what the complaint says besides.
type mistake struct {
	name   string
	block  string // lines of a hookonce block at /github, or a whole site when it has a <site>
	global string // lines of the hookonce block in the global options
	at     string
	say    []string
	parse  bool // shows when the Caddyfile is adapted
}

const secretLine = "secret {env.SECRET_GITHUB}\n\t\t"

func mistakes(blank string) []mistake {
	route := func(matcher, provider, lines string) string {
		return "<site> {\n\thookonce " + matcher + " " + provider + " {\n\t\t" + lines + "\n\t}\n}"
	}
	return []mistake{
		{name: "unknown subdirective", block: secretLine + "widnow 7d", at: "widnow", say: []string{"did you mean window"}, parse: true},
		{name: "repeated subdirective", block: secretLine + "window 7d\n\t\twindow 8d", at: "window 8d", say: []string{"window is given twice", "write it once"}, parse: true},
		{name: "no secret", block: "window 7d", at: "hookonce /github", say: []string{"no secret", "secret {env."}, parse: true},
		{name: "unset variable", block: "secret {env.NOT_SET}", at: "hookonce /github", say: []string{"github:/github", "{env.NOT_SET} is unset or empty", "set it before"}},
		{name: "empty variable", block: "secret {env.EMPTY}", at: "secret {env.EMPTY}", say: []string{"github:/github", "is unset or empty"}},
		{name: "blank variable", block: "secret {env.BLANK}", at: "secret {env.BLANK}", say: []string{"github:/github", "is unset or empty"}},
		{name: "early variable that is unset", block: "secret {$NOT_SET}", at: "secret", say: []string{"secret without a value", "{env.NAME}"}, parse: true},
		{name: "blank secret file", block: "secret {file." + blank + "}", at: "secret {file.", say: []string{"github:/github", "is unset or empty"}},
		{name: "missing secret file", block: "secret {file./no/such/file}", at: "secret {file.", say: []string{"github:/github", "is unset or empty"}},
		{name: "secret in the open", block: "secret plain-text-canary", at: "secret plain", say: []string{"github:/github", "allow_inline_secret"}},
		{name: "K-02 v1,whsec_ at standard-webhooks", block: route("/sw", "standard-webhooks", "secret {env.PASTED}"), at: "secret {env.PASTED}", say: []string{"standard-webhooks:/sw", "v1,"}},
		{name: "K-02 v1,whsec_ at stripe", block: route("/stripe", "stripe", "secret {env.PASTED}"), at: "secret {env.PASTED}", say: []string{"stripe:/stripe", "v1,"}},
		{name: "invalid base64", block: route("/svix", "svix", "secret {env.NOT_BASE64}"), at: "secret {env.NOT_BASE64}", say: []string{"svix:/svix", "base64"}},
		{name: "unknown provider", block: route("/x", "gihtub", secretLine), at: "hookonce /x", say: []string{"gihtub", "did you mean github"}},
		{name: "no provider and no scheme", block: route("/x", "", secretLine), at: "hookonce /x", say: []string{"no provider and no verify block"}, parse: true},
		{name: "upstream and forward", block: secretLine + "upstream 127.0.0.1:1\n\t\tforward {\n\t\t\trespond ok\n\t\t}", at: "hookonce /github", say: []string{"exclude each other"}, parse: true},
		{name: "empty forward", block: secretLine + "forward {\n\t\t}", say: []string{"empty", "reverse_proxy", "Caddyfile:"}, parse: true},
		{name: "bad address", block: secretLine + "upstream http://", at: "upstream http://", parse: true},
		{name: "two routes of one name", block: "<site> {\n\thookonce /a github {\n\t\tname x\n\t\t" + secretLine + "}\n\thookonce /b github {\n\t\tname x\n\t\twindow 9d\n\t\t" + secretLine + "}\n}",
			at: "hookonce /b", say: []string{"two routes have the name", `"x"`, "name <text>"}},
		{name: "duplicate that is no success", block: secretLine + "duplicate 409", at: "duplicate 409", say: []string{"2xx"}, parse: true},
		{name: "retry_status that ends retries", block: secretLine + "retry_status 410", at: "hookonce /github", say: []string{"github:/github", "retry_status 410", "503"}},
		{name: "unknown word", block: secretLine + "on_uncertain guess", at: "on_uncertain", say: []string{"hold, retry"}, parse: true},
		{name: "bad duration", block: secretLine + "window soon", at: "window soon", say: []string{"want a duration"}, parse: true},
		{name: "bad size", block: secretLine + "max_body much", at: "max_body", say: []string{"want a size"}, parse: true},
		{name: "bad status", block: secretLine + "success maybe", at: "success", parse: true},
		{name: "bad pointer", block: secretLine + "delivery_id json id", at: "delivery_id", parse: true},
		{name: "bad algorithm", block: route("/own", "", secretLine+"verify {\n\t\t\tsignature header X-Sig\n\t\t\talgorithm rot13\n\t\t\tmessage {body}\n\t\t}"), at: "hookonce /own", say: []string{"rot13"}},
		{name: "unknown option", block: secretLine, global: "\t\tbody_memroy 1MiB\n", at: "body_memroy", say: []string{"did you mean body_memory"}, parse: true},
		{name: "bad pepper", block: secretLine, global: "\t\tpepper {env.SECRET_GITHUB}\n", say: []string{"pepper", "openssl rand"}},
	}
}

// complaint checks what a mistake is answered with.
func (m *mistake) complaint(t *testing.T, caddyfile, said string) {
	t.Helper()
	for i, line := range strings.Split(caddyfile, "\n") {
		if m.at != "" && strings.Contains(line, m.at) {
			if place := fmt.Sprintf("Caddyfile:%d", i+1); !strings.Contains(said, place) {
				t.Errorf("the complaint does not name %s (%q):\n%s", place, m.at, said)
			}
			break
		}
	}
	plain := strings.NewReplacer(`\"`, `"`, `\u003c`, "<", `\u003e`, ">").Replace(said) // it comes in JSON
	for _, text := range m.say {
		if !strings.Contains(plain, text) {
			t.Errorf("the complaint does not say %q:\n%s", text, said)
		}
	}
	for _, canary := range []string{"pasted-canary", "plain-text-canary", "not-base64-canary"} {
		if strings.Contains(said, canary) {
			t.Errorf("the complaint shows the secret:\n%s", said)
		}
	}
}

var badEnv = []string{"EMPTY=", "BLANK= \t\n", "PASTED=v1,whsec_pasted-canary", "NOT_BASE64=whsec_not-base64-canary!"}

func (m *mistake) sites() string {
	if strings.Contains(m.block, "<site>") {
		return m.block
	}
	return "<site> {\n\thookonce /github github {\n\t\t" + m.block + "\n\t}\n}"
}

// Each mistake ends validate, adapt and run with the place, the route and the
// cure, before a listener opens.
func TestMistakes(t *testing.T) {
	blank := filepath.Join(t.TempDir(), "blank")
	if err := os.WriteFile(blank, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, m := range mistakes(blank) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			s := Prepare(t, m.sites(), Options{Hookonce: m.global, Level: "INFO"})
			text, err := os.ReadFile(s.file())
			if err != nil {
				t.Fatal(err)
			}
			for _, command := range []string{"validate", "adapt", "run"} {
				r := Run(t, badEnv, command, "--adapter", "caddyfile", "--config", s.file())
				if command == "adapt" && !m.parse {
					if r.Code != 0 {
						t.Errorf("adapt needs secrets: %s", r.Output)
					}
					continue
				}
				if r.Code == 0 || strings.Contains(r.Output, "server running") || strings.Contains(r.Output, "goroutine ") {
					t.Errorf("%s ended with %d:\n%s", command, r.Code, r.Output)
				}
				m.complaint(t, string(text), r.Output)
			}
			if entries, err := os.ReadDir(filepath.Join(s.Dir, "store")); err == nil {
				t.Errorf("the store was made: %v", entries)
			}
		})
	}
}

// On a reload each mistake is refused with the same words, and the configuration
// that ran before goes on.
func TestMistakesOnReload(t *testing.T) {
	blank := filepath.Join(t.TempDir(), "blank")
	if err := os.WriteFile(blank, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{Env: badEnv})
	known := Delivery{Provider: "github", Body: `{"known":true}`}
	s.Deliver(t, known).Is(t, "before", 200, "first")
	for i, m := range mistakes(blank) {
		t.Run(m.name, func(t *testing.T) {
			s.opts.Hookonce = m.global
			text := s.Caddyfile(m.sites())
			s.opts.Hookonce = ""
			err := s.Load(t, text)
			if err == nil {
				t.Fatal("the mistake was loaded")
			}
			m.complaint(t, text, err.Error())
			s.Deliver(t, known).Is(t, "known", 200, "duplicate")
			s.Deliver(t, Delivery{Provider: "github", Body: fmt.Sprint("new ", i)}).Is(t, "new", 200, "first")
		})
	}
}

// A store that cannot be written to ends the start before a listener opens, and
// a reload without harm.
func TestUnwritableStore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	app := NewApp(t, oracle.Config{})
	site := Site(Route("/github", "github", "upstream "+app.Addr()))
	s := Prepare(t, site, Options{})
	bad := strings.Replace(s.Caddyfile(site), "store badger "+s.Dir+"/store", "store badger "+file+"/store", 1)
	s.writeWhole(t, bad)
	for range 5 { // apps start in any order
		r := Run(t, nil, "run", "--adapter", "caddyfile", "--config", s.file())
		if r.Code == 0 || !strings.Contains(r.Output, file) || !strings.Contains(r.Output, "Caddyfile:") || strings.Contains(r.Output, "server running") {
			t.Fatalf("run ended with %d:\n%s", r.Code, r.Output)
		}
	}
	s.write(t, site)
	s.Restart(t)
	if err := s.Load(t, bad); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("reload: %v", err)
	}
	s.Deliver(t, Delivery{Provider: "github", Body: "{}"}).Is(t, "after the reload", 200, "first")
}
