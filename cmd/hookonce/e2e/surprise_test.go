// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// Two sites that import one block stand before two apps: what one has seen must
// not be a duplicate for the other without anybody having said so.
func TestImportedTwice(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	site := func(name string) string {
		return "(hooks) {\n\thookonce /hook github {\n\t\tsecret {env.SECRET_GITHUB}\n" + name + "\t}\n}\n" +
			"<site> {\n\timport hooks\n\treverse_proxy " + app.Addr() + "\n}\n" +
			"http://localhost:1 {\n\timport hooks\n\treverse_proxy 127.0.0.1:1\n}\n"
	}
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	err := s.Reload(t, site(""))
	if err == nil {
		t.Fatal("the second import shares its keys with the first without a word")
	}
	for _, word := range []string{"two routes have the name", "give one of them another", "import 2"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("the error does not say %q: %v", word, err)
		}
	}
	s.Deliver(t, Delivery{Provider: "github", Path: "/github", Body: `{"still":"served"}`}).Is(t, "after the refused reload", 200, "first")
	if err := s.Reload(t, strings.Replace(site("\t\tname both\n"), "http://localhost:1 ", "http://localhost:"+port(freeAddr(t))+" ", 1)); err != nil {
		t.Errorf("one name on purpose: %v", err)
	}
}

func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

// A GET is passed to the app as no delivery only if it can be none: without a
// body and without any signature.
func TestHandshakeCarriesNothing(t *testing.T) {
	app := NewApp(t, oracle.Config{KeepBodies: true})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	for _, row := range []struct {
		name, method, body, signature string
		status                        int
	}{
		{"plain GET", http.MethodGet, "", "", 200},
		{"plain OPTIONS", http.MethodOptions, "", "", 200},
		{"GET with a body", http.MethodGet, `{"forged":1}`, "", 401},
		{"GET with a malformed signature", http.MethodGet, "", "sha256=zz", 401},
		{"GET with a body and a malformed signature", http.MethodGet, `{"forged":2}`, "sha256=zz", 401},
		{"GET with a wrong signature", http.MethodGet, `{"forged":3}`, "sha256=" + strings.Repeat("0", 64), 401},
		{"OPTIONS with a body", http.MethodOptions, `{"forged":4}`, "", 401},
	} {
		t.Run(row.name, func(t *testing.T) {
			before := app.Stats().Requests
			var body io.Reader
			if row.body != "" {
				body = strings.NewReader(row.body)
			}
			r, err := http.NewRequestWithContext(t.Context(), row.method, "http://"+s.Site+"/github", body)
			if err != nil {
				t.Fatal(err)
			}
			if row.signature != "" {
				r.Header.Set("X-Hub-Signature-256", row.signature)
			}
			a, err := s.Send(r)
			if err != nil || a.Status != row.status {
				t.Fatalf("%v, %v, want %d", a, err, row.status)
			}
			if reached := app.Stats().Requests > before; reached != (row.status == 200) {
				t.Errorf("reached the app: %v", reached)
			}
		})
	}
}

// Another pepper would make every delivery new: it is refused, at a reload and
// at a start.
func TestOtherPepper(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	sites := Site(Route("/github", "github", "upstream "+app.Addr()))
	s := Start(t, sites, Options{Env: []string{"PEPPER=" + strings.Repeat("ab", 32)}})
	d := Delivery{Provider: "github", Path: "/github", Body: `{"pepper":1}`}
	s.Deliver(t, d).Is(t, "first", 200, "first")
	other := strings.Replace(s.Caddyfile(sites), "hookonce {\n", "hookonce {\n\t\tpepper {env.PEPPER}\n", 1)
	if err := s.Load(t, other); err == nil || !strings.Contains(err.Error(), "pepper is not the one") {
		t.Errorf("reload with another pepper: %v", err)
	}
	s.Deliver(t, d).Is(t, "after the refused reload", 200, "duplicate")
	s.Stop(t)
	if err := os.WriteFile(filepath.Join(s.Dir, "Caddyfile"), []byte(other), 0o600); err != nil {
		t.Fatal(err)
	}
	s.refuses(t, "pepper is not the one that this store was made with")
}

// What a person sent again and the app refused is ours to do, and nothing sends
// it by itself. A provider that comes back is not told that all is well.
func TestRedeliverAfterFailedRetry(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	d := Delivery{Provider: "github", Path: "/github", ID: "again", Body: `{"again":1}`}
	app.Script(oracle.Behaviour{Then: oracle.Close}, oracle.Behaviour{Status: 404}, oracle.Behaviour{Status: 404})
	s.Deliver(t, d).Is(t, "first attempt", 200, "held")
	s.Act(t, s.ItemOf(t, d.Body).ID, "retry")
	if i := s.ItemOf(t, d.Body); i.State != "ready" || !i.Owed {
		t.Fatalf("after the retry: %+v", i)
	}
	s.Deliver(t, d).Is(t, "Redeliver while the app still refuses", 404, "first-again")
	s.Deliver(t, d).Is(t, "Redeliver when it takes it", 200, "first-again")
	s.Deliver(t, d).Is(t, "a repeat", 200, "duplicate")
}
