// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// A configuration that cannot be used is refused, and the old one goes on: with
// the attempt that runs, with the deliveries that it knows, and with nothing held
// that a later change of the directory could not let go.
func TestReloadFails(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	app := NewApp(t, oracle.Config{})
	route := func(lines ...string) string {
		return Route("/github", "github", append(lines, "upstream "+app.Addr())...)
	}
	good := Site(route())
	s := Start(t, good, Options{Env: []string{"EMPTY="}})
	known := Delivery{Provider: "github", Body: `{"known":"before"}`}
	s.insist(t, known).Is(t, "first", 200, "first")
	held := Delivery{Provider: "github", Body: `{"held":"all the time"}`}
	pending := running(t, s, app, held)

	elsewhere := strings.ReplaceAll(s.inDir(Site(route("secret {env.NOT_THERE}")), s.Dir+"/elsewhere"), "secret {env.SECRET_GITHUB}", "")
	for what, c := range map[string]struct{ caddyfile, says string }{
		"unset secret":              {s.Caddyfile(strings.ReplaceAll(good, "SECRET_GITHUB", "NOT_THERE")), "NOT_THERE"},
		"empty secret":              {s.Caddyfile(strings.ReplaceAll(good, "SECRET_GITHUB", "EMPTY")), "EMPTY"},
		"unknown subdirective":      {s.Caddyfile(Site(route("upstreem x"))), "upstreem"},
		"unset secret, other store": {elsewhere, "NOT_THERE"},
		"a later handler fails":     {s.Caddyfile(Site(route(), "reverse_proxy https://127.0.0.1:1 {\n\ttransport http {\n\t\ttls_trust_pool file /nonexistent.pem\n\t}\n}")), "nonexistent.pem"},
		"a port is taken":           {s.Caddyfile(good + "http://" + taken.Addr().String() + " {\n\trespond ok\n}\n"), "address already in use"},
		"a port is taken, other store": {
			s.inDir(good+"http://"+taken.Addr().String()+" {\n\trespond ok\n}\n", s.Dir+"/elsewhere"), "address already in use"},
		"a store that cannot be": {s.inDir(good, "/proc/hookonce"), "/proc/hookonce"},
	} {
		t.Run(what, func(t *testing.T) {
			for range 5 {
				if err := s.Load(t, c.caddyfile); err == nil || !strings.Contains(err.Error(), c.says) {
					t.Fatalf("got %v, want an error about %s", err, c.says)
				}
				s.insist(t, known).Is(t, "known", 200, "duplicate")
			}
			fresh := Delivery{Provider: "github", Body: `{"fresh":"` + what + `"}`}
			s.insist(t, fresh).Is(t, "fresh", 200, "first")
		})
	}
	app.Release()
	pending.Answer(t).Is(t, "held", 200, "first")
	s.insist(t, held).Is(t, "held, repeated", 200, "duplicate")

	if err := s.Load(t, s.inDir(good, s.Dir+"/new")); err != nil {
		t.Fatal(err)
	}
	for _, left := range []string{"/store", "/elsewhere"} {
		other := Prepare(t, good, Options{})
		other.writeWhole(t, other.inDir(good, s.Dir+left))
		other.Restart(t)
		if left == "/store" {
			other.Deliver(t, known).Is(t, "known in another process", 200, "duplicate")
		}
	}
}
