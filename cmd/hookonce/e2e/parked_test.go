// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"reflect"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// What is parked has its bytes on the disk and waits for a person, who can
// settle it in each way; a repeat is then answered by what was decided.
func TestParkedIsResolved(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	for _, row := range []struct {
		action, state, next string
		effects             int
	}{
		{"confirm", "confirmed", "duplicate", 1},
		{"drop", "dropped", "duplicate", 1},
		{"retry", "confirmed", "duplicate", 2},
	} {
		t.Run("T22 "+row.action, func(t *testing.T) {
			app.Script(named("close"))
			d := Delivery{Provider: "github", Body: `{"parked":"` + row.action + `"}`}
			s.Deliver(t, d).Is(t, "first", 200, "held")
			item := s.ItemOf(t, d.Body)
			if item.State != "uncertain" || !item.Kept || !item.Owed || item.Request == nil || item.Request.BodySHA256 != digest(d.Body) {
				t.Errorf("parked: %+v", item)
			}
			s.Kill(t)
			s.Restart(t)
			if again := s.Item(t, item.ID); !reflect.DeepEqual(again, item) {
				t.Errorf("after a restart: %+v, before: %+v", again, item)
			}
			s.Act(t, item.ID, row.action)
			if s.Item(t, item.ID).State != row.state {
				t.Errorf("after %s: %+v", row.action, s.Item(t, item.ID))
			}
			s.Deliver(t, d).Is(t, "repeat", 200, row.next)
			if n := app.Effects(t, d.Body); n != row.effects {
				t.Errorf("%d effects, want %d", n, row.effects)
			}
		})
	}
}

// L-02: the app said 200 and lost the work. Redelivery is a duplicate, until the
// operator forgets the delivery.
func TestForget(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	d := Delivery{Provider: "github", Body: `{"lost":"by the app"}`}
	s.Deliver(t, d).Is(t, "first", 200, "first")
	s.Deliver(t, d).Is(t, "redelivery", 200, "duplicate")
	all := s.Items(t, "all=true")
	if len(all) != 1 || all[0].State != "confirmed" {
		t.Fatalf("listed: %+v", all)
	}
	s.Act(t, all[0].ID, "forget")
	s.Deliver(t, d).Is(t, "redelivery of what was forgotten", 200, "first")
	s.Deliver(t, d).Is(t, "once more", 200, "duplicate")
	if n := app.Effects(t, d.Body); n != 2 {
		t.Errorf("%d effects, want 2", n)
	}
}
