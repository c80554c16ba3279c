// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// The main job, for every provider and every way to the app: a first-seen
// delivery reaches the app once, each repeat gets 200.
func TestMainJob(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	var routes []string
	for _, name := range providerNames() {
		for _, w := range ways {
			routes = append(routes, w.route("/"+name+"-"+w.name, name, app.Addr()))
		}
	}
	s := Start(t, Site(routes...), Options{})
	for _, name := range providerNames() {
		for _, w := range ways {
			t.Run(name+"/"+w.name, func(t *testing.T) {
				d := Delivery{Provider: name, Path: "/" + name + "-" + w.name, Body: providers[name].Body("main-job-"+name+w.name, time.Now())}
				duplicate := 200
				if name == "discord" { // an interaction's 200 would need a body
					duplicate = 204
				}
				s.Deliver(t, d).Is(t, "first", 200, "first")
				s.Deliver(t, d).Is(t, "second", duplicate, "duplicate")
				s.Deliver(t, d).Is(t, "third", duplicate, "duplicate")
				if n := app.Effects(t, d.Body); n != 1 {
					t.Errorf("%d effects, want 1", n)
				}
			})
		}
	}
}
