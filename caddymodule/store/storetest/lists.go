// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package storetest

import (
	"reflect"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// sameRecord compares records as what they say.
func sameRecord(a, b delivery.Record) bool {
	if len(a.Aliases) == 0 && len(b.Aliases) == 0 {
		a.Aliases, b.Aliases = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// all returns the records of all pages.
func (e *env) all(f store.Filter) []delivery.Record {
	e.Helper()
	var out []delivery.Record
	for range 100 {
		page, err := e.s.List(e.ctx, f)
		if err != nil {
			e.Fatalf("list: %v", err)
		}
		out = append(out, page.Records...)
		if page.Cursor == "" {
			return out
		}
		f.Cursor = page.Cursor
	}
	e.Fatal("the list has no end")
	return nil
}

// mixed makes ten effects in several states, a second after each other.
func (e *env) mixed() {
	e.Helper()
	for k := range uint64(10) {
		a := e.signed(k + 1)
		a.DeliveryID = "delivery-" + string(rune('a'+k))
		if k >= 8 {
			a.Source = "other"
		}
		e.reserve(a, delivery.First)
		switch k % 4 {
		case 1:
			e.apply(key(k+1), delivery.Event{Kind: delivery.Done, Epoch: 1})
		case 2:
			e.apply(key(k+1), delivery.Event{Kind: delivery.Unknown, Epoch: 1, Reason: delivery.ReasonTimeout})
		case 3:
			e.apply(key(k+1), delivery.Event{Kind: delivery.NotDoneFinal, Epoch: 1, Reason: delivery.ReasonRefused})
		}
		e.h.Clock.Advance(time.Second)
	}
}

var listTests = []testCase{
	{"list shows what is open, oldest first, in pages", func(e *env) {
		e.mixed()
		for range 2 { // as it was made, and as it was read at the start
			for _, limit := range []int{0, 1, 3, 7} {
				got := e.all(store.Filter{Limit: limit})
				if len(got) != 7 {
					e.Fatalf("limit %d: %d records", limit, len(got))
				}
				for i := range got {
					if !got[i].State.Open() || i > 0 && got[i].Created < got[i-1].Created {
						e.Fatalf("limit %d: %+v", limit, got[i])
					}
				}
			}
			e.restart()
		}
	}},
	{"list filters", func(e *env) {
		e.mixed()
		for _, c := range []struct {
			name string
			f    store.Filter
			want int
		}{
			{"state", store.Filter{States: []delivery.State{delivery.Uncertain}}, 2},
			{"two states", store.Filter{States: []delivery.State{delivery.Uncertain, delivery.Ready}}, 4},
			{"source", store.Filter{Source: "other"}, 1},
			{"reason", store.Filter{Reason: delivery.ReasonRefused}, 2},
			{"delivery ID", store.Filter{Text: "delivery-c"}, 1},
			{"effect ID", store.Filter{Text: key(1).String()}, 1},
			{"event ID", store.Filter{Text: "e-1"}, 7},
			{"nothing", store.Filter{Text: "zzz"}, 0},
			{"all", store.Filter{All: true, Limit: 3}, 10},
			{"all of a state", store.Filter{All: true, States: []delivery.State{delivery.Confirmed}}, 3},
			{"all of a source", store.Filter{All: true, Source: "other", Limit: 1}, 2},
		} {
			if got := e.all(c.f); len(got) != c.want {
				e.Errorf("%s: %d records, want %d", c.name, len(got), c.want)
			}
		}
	}},
	{"list refuses a foreign cursor", func(e *env) {
		if _, err := e.s.List(e.ctx, store.Filter{Cursor: "not a cursor"}); err == nil {
			e.Fatal("no error")
		}
	}},
	{"stats are exact, before and after a restart", func(e *env) {
		e.mixed()
		want := store.Stats{Ready: 2, Running: 3, Uncertain: 2}
		for range 2 {
			st := e.s.Stats()
			got := store.Stats{
				Ready: st.Ready, Running: st.Running, Uncertain: st.Uncertain,
				Held: st.Held, DeadLetters: st.DeadLetters,
			}
			if got != want {
				e.Fatalf("%+v, want %+v", got, want)
			}
			e.restart()
		}
	}},
	{"dead letters are counted", func(e *env) {
		a := e.signed(1)
		a.Policy.Accept = true
		e.reserve(a, delivery.Accepted)
		e.apply(key(1), delivery.Event{Kind: delivery.Timer, Exhausted: true})
		if n := e.s.Stats().DeadLetters; n != 1 {
			e.Fatalf("%d dead letters", n)
		}
		e.crash()
		if n := e.s.Stats().DeadLetters; n != 1 {
			e.Fatalf("%d dead letters after a crash", n)
		}
		e.apply(key(1), person(delivery.OperatorSend))
		if n := e.s.Stats().DeadLetters; n != 0 {
			e.Fatalf("%d dead letters after sending", n)
		}
	}},
}
