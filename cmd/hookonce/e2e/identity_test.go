// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// step is one delivery of a story and what its provider is told.
type step struct {
	d    Delivery
	word string
}

// The identity table, row by row: what is the same event, what is a new one, and
// what nobody may decide but a person.
func TestIdentity(t *testing.T) {
	gh := func(id, body string) Delivery { return Delivery{Provider: "github", ID: id, Body: body} }
	sw := func(id, body string) Delivery { return Delivery{Provider: "standard-webhooks", ID: id, Body: body} }
	stripe := func(id, rest string) Delivery {
		return Delivery{Provider: "stripe", Body: fmt.Sprintf(`{"id":%q,"rest":%q}`, id, rest)}
	}
	noID := func(body string) Delivery {
		return Delivery{Provider: "generic-hmac-sha256-hex", Path: "/plain", ID: "null", Body: body}
	}
	xq := func(delivery, event string) Delivery {
		return Delivery{Provider: "xquik", Body: fmt.Sprintf(`{"deliveryId":%q,"streamEventId":%q,"eventType":"post"}`, delivery, event)}
	}
	at := func(path string, d Delivery) Delivery { d.Path = path; return d }
	rows := []struct {
		name   string
		steps  []step
		reason string // of what is held
	}{
		{"signed new", []step{{stripe("evt_1", "a"), "first"}, {stripe("evt_2", "a"), "first"}}, ""},
		{"signed new, body seen", []step{{sw("msg_1", "{}"), "first"}, {sw("msg_2", "{}"), "first"}}, ""},
		{"signed seen, same content", []step{{stripe("evt_3", "a"), "first"}, {stripe("evt_3", "a"), "duplicate"}}, ""},
		{"signed seen, other content", []step{{stripe("evt_4", "a"), "first"}, {stripe("evt_4", "b"), "held"}, {stripe("evt_4", "b"), "held"}, {stripe("evt_4", "a"), "duplicate"}}, "content_mismatch"},
		{"signed seen, other content, forward", []step{{at("/lax", stripe("evt_5", "a")), "first"}, {at("/lax", stripe("evt_5", "b")), "first"}, {at("/lax", stripe("evt_5", "b")), "duplicate"}, {at("/lax", stripe("evt_5", "a")), "duplicate"}}, ""},
		{"unsigned new, body new", []step{{gh("u1", "1"), "first"}, {gh("u2", "2"), "first"}}, ""},
		{"unsigned seen, same body", []step{{gh("u3", "3"), "first"}, {gh("u3", "3"), "duplicate"}}, ""},
		{"unsigned seen, body new (I-01)", []step{{gh("u4", "4"), "first"}, {gh("u4", "4b"), "first"}, {gh("u4", "4"), "duplicate"}, {gh("u4", "4b"), "duplicate"}}, ""},
		{"unsigned new, body seen: hold (A-01)", []step{{gh("u5", "5"), "first"}, {gh("u6", "5"), "held"}, {gh("u6", "5"), "held"}, {gh("u7", "5"), "held"}, {gh("u5", "5"), "duplicate"}}, "same_body_new_id"},
		{"unsigned new, body seen: skip", []step{{at("/skip", gh("u8", "8")), "first"}, {at("/skip", gh("u9", "8")), "duplicate"}}, ""},
		{"unsigned new, body seen: process", []step{{at("/process", gh("v1", "9")), "first"}, {at("/process", gh("v2", "9")), "first"}, {at("/process", gh("v2", "9")), "duplicate"}}, ""},
		{"unsigned seen, body seen under another ID", []step{{gh("v3", "10"), "first"}, {gh("v4", "11"), "first"}, {gh("v3", "11"), "held"}}, "same_body_new_id"},
		{"I-20 ID taken off", []step{{gh("v5", "12"), "first"}, {gh("null", "12"), "held"}}, "same_body_new_id"},
		{"none, content new and seen", []step{{noID("13"), "first"}, {noID("13"), "duplicate"}, {noID("14"), "first"}}, ""},
		{"none, nothing to go by", []step{{noID(""), "held"}, {noID(""), "held"}}, "no_safe_key"},
		{"aliases point to two effects", []step{{xq("d1", "e1"), "first"}, {xq("d2", "e2"), "first"}, {xq("d1", "e2"), "held"}}, "alias_conflict"},
		{"event ID spans deliveries", []step{{at("/event", stripe("evt_6", "a")), "first"}, {at("/event", stripe("evt_6", "a")), "duplicate"}}, ""},
		{"I-03 one ID on two routes", []step{{gh("1001", "15"), "first"}, {at("/process", gh("1001", "15")), "first"}}, ""},
	}
	for i := range rows {
		t.Run(rows[i].name, func(t *testing.T) {
			t.Parallel()
			app := NewApp(t, oracle.Config{})
			up := "upstream " + app.Addr()
			s := Start(t, Site(
				Route("/github", "github", up), Route("/stripe", "stripe", up), Route("/xquik", "xquik", up),
				Route("/standard-webhooks", "standard-webhooks", up), Route("/plain", "generic-hmac-sha256-hex", up),
				Route("/lax", "stripe", up, "on_mismatch forward"), Route("/skip", "github", up, "same_body skip"),
				Route("/process", "github", up, "same_body process"), Route("/event", "stripe", up, "event_id json /id"),
			), Options{})
			words := map[string]int{}
			for n, step := range rows[i].steps {
				s.Deliver(t, step.d).Is(t, fmt.Sprint("delivery ", n+1), 200, step.word)
				words[step.word]++
			}
			if n := int(app.Stats().Requests); n != words["first"] {
				t.Errorf("%d requests at the app, want %d", n, words["first"])
			}
			held := s.Items(t, "state=held")
			switch {
			case rows[i].reason == "" && len(held) != 0:
				t.Errorf("held: %+v", held)
			case rows[i].reason != "" && (len(held) != 1 || held[0].Reason != rows[i].reason || !held[0].Kept || held[0].Seen != words["held"]): // T28
				t.Errorf("held: %+v, want one %s with its bytes, seen %d times", held, rows[i].reason, words["held"])
			}
		})
	}
}

// A sender that has no IDs at all is told apart by content, for a short time
// only. Where an ID might have been taken off a captured delivery, its body is
// remembered for longer.
func TestFallbackWindow(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	up := "upstream " + app.Addr()
	s := Start(t, Site(Route("/zoom", "zoom", "fallback_window 1s", up), Route("/github", "github", "fallback_window 1s", up)), Options{})
	for _, row := range []struct {
		d    Delivery
		next string
	}{
		{Delivery{Provider: "zoom", Body: `{"event":"tick"}`}, "first"},
		{Delivery{Provider: "github", ID: "null", Body: `{"event":"tick again"}`}, "held"},
	} {
		t.Run(row.d.Provider, func(t *testing.T) {
			t.Parallel()
			s.Deliver(t, row.d).Is(t, "first", 200, "first")
			s.Deliver(t, row.d).Is(t, "at once", 200, "duplicate")
			<-time.After(1100 * time.Millisecond)
			s.Deliver(t, row.d).Is(t, "after the window", 200, row.next)
		})
	}
}
