// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// What counts as the same content is what the body means under the route's
// rules: a provider may change a counter or a time between two attempts.
func TestFingerprint(t *testing.T) {
	now := time.Now().UnixMilli()
	linear := func(stamp int64, title string) Delivery {
		return Delivery{Provider: "linear", ID: "l1", Body: fmt.Sprintf(`{"action":"create","data":{"title":%q},"webhookTimestamp":%d}`, title, stamp)}
	}
	stripe := func(path, body string) Delivery { return Delivery{Provider: "stripe", Path: path, Body: body} }
	rows := []struct {
		name  string
		steps []step
	}{
		{"a retry of Linear has a fresh time in its signed body", []step{
			{linear(now-2000, "a"), "first"}, {linear(now-1000, "a"), "duplicate"}, {linear(now, "a"), "duplicate"}, {linear(now, "b"), "first"},
		}},
		{"I-09 a counter of attempts inside the body", []step{
			{stripe("/ignore", `{"id":"e1","attempts":1,"total":5}`), "first"},
			{stripe("/ignore", `{"id":"e1","attempts":2,"total":5}`), "duplicate"},
			{stripe("/ignore", `{"id":"e1","attempts":2,"total":6}`), "held"},
		}},
		{"reordered fields, other spelling (R16)", []step{
			{stripe("/ignore", `{"id":"e2","total":5,"name":"\u00e4"}`), "first"},
			{stripe("/ignore", "{ \"name\": \"ä\",\n\"total\": 5.0, \"id\": \"e2\" }"), "duplicate"},
		}},
		{"time drift is no difference where the route says so (R16)", []step{
			{stripe("/time", `{"id":"e3","at":"2026-01-02T03:04:05Z"}`), "first"},
			{stripe("/time", `{"id":"e3","at":"2026-01-02T04:04:05+01:00"}`), "duplicate"},
			{stripe("/time", `{"id":"e3","at":"2026-01-02T03:04:06Z"}`), "held"},
		}},
		{"big numbers differ in their last digit (I-16)", []step{
			{stripe("/ignore", `{"id":"e4","n":9123456789654321001}`), "first"},
			{stripe("/ignore", `{"id":"e4","n":9123456789654321002}`), "held"},
		}},
		{"off compares the bytes", []step{
			{stripe("/off", `{"id":"e5","n":1}`), "first"}, {stripe("/off", `{"id":"e5","n": 1}`), "held"},
		}},
	}
	app := NewApp(t, oracle.Config{})
	up := "upstream " + app.Addr()
	s := Start(t, Site(
		Route("/linear", "linear", up),
		Route("/ignore", "stripe", up, "fingerprint {", "ignore /attempts", "}"),
		Route("/time", "stripe", up, "fingerprint {", "time /at", "}"),
		Route("/off", "stripe", up, "fingerprint {", "off", "}"),
	), Options{})
	first := 0
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for n, step := range row.steps {
				s.Deliver(t, step.d).Is(t, fmt.Sprint("delivery ", n+1), 200, step.word)
				if step.word == "first" {
					first++
				}
			}
		})
	}
	if n := int(app.Stats().Requests); n != first {
		t.Errorf("%d requests at the app, want %d", n, first)
	}
}
