// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// What is parked fills the room for kept requests. Then new deliveries are asked
// to come back, what is parked stays as it is, repeats of what is done get their
// 200, and a decision of a person makes room.
func TestSpoolIsFull(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{Hookonce: "spool_size 2MiB"})
	filling := strings.Repeat("x", 40<<10)
	delivery := func(n int) Delivery {
		return Delivery{Provider: "github", Body: fmt.Sprintf(`{"n":%d,"effectd":"close","fill":%q}`, n, filling)}
	}
	known := Delivery{Provider: "github", Body: `{"known":"before"}`}
	s.Deliver(t, known).Is(t, "known", 200, "first")
	parked := 0
	a := s.Deliver(t, delivery(parked))
	for ; a.Word == "held" && parked < 100; a = s.Deliver(t, delivery(parked)) {
		parked++
	}
	a.Is(t, "when it is full", 503, "refused; reason=no_capacity")
	if a.Header.Get("Retry-After") == "" {
		t.Error("the refusal has no Retry-After")
	}
	if parked < 30 || parked > 52 {
		t.Errorf("%d deliveries of 40 KiB were parked in 2 MiB", parked)
	}
	check := func() {
		t.Helper()
		s.Deliver(t, known).Is(t, "known, repeated", 200, "duplicate")
		for n := range parked {
			s.Deliver(t, delivery(n)).Is(t, "parked, repeated", 200, "held")
			if i := s.ItemOf(t, delivery(n).Body); i.Request == nil || i.Request.BodySHA256 != digest(delivery(n).Body) {
				t.Fatalf("parked delivery %d is not readable: %+v", n, i)
			}
		}
		s.Deliver(t, delivery(parked)).Is(t, "new", 503, "refused; reason=no_capacity")
	}
	check()
	s.Kill(t)
	s.Restart(t)
	check()
	s.Act(t, s.ItemOf(t, delivery(0).Body).ID, "confirm")
	s.Deliver(t, delivery(0)).Is(t, "decided", 200, "duplicate")
	next := Delivery{Provider: "github", Body: strings.Replace(delivery(parked).Body, `"close"`, `"ok"`, 1)}
	s.Deliver(t, next).Is(t, "in the room that this made", 200, "first")
}

// A disk that turns read-only, as ext4 does after an error, refuses new
// deliveries. Nothing that was answered is lost when it can be written again.
func TestReadOnlyDisk(t *testing.T) {
	v := mountExt4(t, 192)
	app := NewApp(t, oracle.Config{})
	sites := Site(Route("/github", "github", "upstream "+app.Addr()))
	s := Prepare(t, sites, Options{Hookonce: "spool_size 32MiB"})
	s.writeWhole(t, s.inDir(sites, v.dir+"/store"))
	s.Restart(t)
	known := Delivery{Provider: "github", Body: `{"known":"before"}`}
	s.Deliver(t, known).Is(t, "known", 200, "first")
	held := Delivery{Provider: "github", Body: `{"held":"over the change"}`}
	pending := running(t, s, app, held)

	v.breakDisk(t)
	app.Release()
	pending.Answer(t).Is(t, "under way (I10)", 200, "first")
	for n := range 5 {
		d := Delivery{Provider: "github", Body: fmt.Sprintf(`{"new":%d}`, n)}
		a := s.Deliver(t, d)
		if a.Status != 503 || a.Header.Get("Retry-After") == "" || !strings.HasPrefix(a.Word, "refused; reason=") {
			t.Errorf("new: %v, Retry-After %q", a, a.Header.Get("Retry-After"))
		}
		if len(app.Arrivals(d.Body)) > 0 {
			t.Error("sent without a record")
		}
	}
	if a := s.Deliver(t, known); a.Word != "duplicate" && a.Status != 503 {
		t.Errorf("known, repeated: %v", a)
	}
	if !s.running() {
		t.Fatalf("the process died of it:\n%s", s.trouble())
	}
	s.Kill(t)
	s.refuses(t, "read-only")

	v.remount(t)
	s.Restart(t)
	s.Deliver(t, known).Is(t, "known, after the repair", 200, "duplicate")
	if a := s.Deliver(t, held); a.Status != 200 || a.Word != "duplicate" && a.Word != "held" {
		t.Errorf("answered while nothing could be written, after the repair: %v", a)
	}
	if n := len(app.Arrivals(held.Body)); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	s.Deliver(t, Delivery{Provider: "github", Body: `{"new":0}`}).Is(t, "new, after the repair", 200, "first")
}
