// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"testing"
	"time"
)

// trial is a recorded case from public bug reports: what came, and what should
// become of it.
type trial struct {
	ID       string `json:"id"`
	Requests []struct {
		Headers        map[string]string `json:"headers"`
		Body           string            `json:"body"`
		BodyBase64     []byte            `json:"body_base64"`
		SignatureValid bool              `json:"signature_valid"`
	} `json:"requests"`
}

func loadTrials(t *testing.T) map[string]trial {
	t.Helper()
	text, err := os.ReadFile("testdata/trials.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []trial
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	byID := map[string]trial{}
	for _, c := range all {
		byID[c.ID] = c
	}
	return byID
}

func (c trial) verified() []*Request {
	var out []*Request
	for _, r := range c.Requests {
		if !r.SignatureValid {
			continue
		}
		req := &Request{Header: http.Header{}, Body: r.BodyBase64}
		if req.Body == nil {
			req.Body = []byte(r.Body)
		}
		for name, value := range r.Headers {
			req.Header.Set(name, value)
		}
		out = append(out, req)
	}
	return out
}

// naiveIndex decides from keys alone, by the identity table, as if every effect
// had succeeded: enough to see whether the keys tell deliveries apart.
type naiveIndex struct {
	effects map[[16]byte]int
	digests [][32]byte
}

func (x *naiveIndex) decide(k Keys) string {
	if k.Problem.Code != "" {
		return "held " + string(k.Problem.Code)
	}
	for _, a := range k.Identity() {
		effect, ok := x.effects[a.Key]
		switch {
		case !ok:
		case x.digests[effect] != k.Digest:
			return "held content_mismatch"
		default:
			return "duplicate"
		}
	}
	for _, a := range k.Evidence() {
		if _, ok := x.effects[a.Key]; ok && a.Kind == KindBody {
			return "held same_body"
		}
	}
	for _, a := range k.Aliases {
		x.effects[a.Key] = len(x.digests)
	}
	x.digests = append(x.digests, k.Digest)
	return "forwarded"
}

func decideAll(d *Deriver, requests []*Request) []string {
	x := naiveIndex{effects: map[[16]byte]int{}}
	var out []string
	for _, r := range requests {
		out = append(out, x.decide(d.Derive(r)))
	}
	return out
}

func TestTrials(t *testing.T) {
	github := Config{Provider: "github", DeliveryID: []Candidate{
		unsigned(t, "header X-GitHub-Hook-ID + header X-GitHub-Delivery"), unsigned(t, "header X-GitHub-Delivery"),
	}}
	twilio := Config{DeliveryID: []Candidate{signed(t, "form MessageSid + form MessageStatus")}}
	stripe := Config{EventID: []Candidate{signed(t, "json /id")}}
	rotating := Config{DeliveryID: []Candidate{signed(t, "header webhook-id")}, SameBodyCheck: true}
	const fwd, dup = "forwarded", "duplicate"
	trials := loadTrials(t)
	for _, c := range []struct {
		id   string
		cfg  Config
		want []string
	}{
		{"R-01", github, []string{fwd, dup}},
		{"I-01", github, []string{fwd, fwd, dup}},
		{"I-06", twilio, []string{fwd, fwd, dup, fwd}},
		{"I-07", Config{Windows: Windows{Fallback: 7 * 24 * time.Hour}}, []string{fwd, dup}},
		{"I-07", rotating, []string{fwd, "held same_body"}},
		{"I-12", stripe, []string{fwd, "held content_mismatch"}},
		{"I-16", stripe, []string{fwd, fwd, dup}},
		{"B-02", github, []string{fwd}},
		{"B-14", github, []string{fwd, dup}},
		{"B-15", Config{DeliveryID: []Candidate{signed(t, "form trigger_id")}}, []string{fwd}},
		{"A-01", github, []string{fwd, "held same_body"}},
		{"A-02", github, []string{fwd, dup}},
	} {
		t.Run(c.id, func(t *testing.T) {
			requests := trials[c.id].verified()
			if got := decideAll(newDeriver(t, c.cfg), requests); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// TestTrialI09: a counter in the signed body does not change the key.
func TestTrialI09(t *testing.T) {
	d := newDeriver(t, Config{EventID: []Candidate{signed(t, "json /EventId")}})
	var first [16]byte
	for i, r := range loadTrials(t)["I-09"].verified() {
		k := d.Derive(r)
		if i == 0 {
			first = k.Aliases[0].Key
		}
		if k.Aliases[0].Key != first || k.Strength != Strong {
			t.Errorf("request %d: %s, %s", i+1, k.Aliases[0], k.Strength)
		}
	}
}

// TestTrialI11: without an ID the content is the key, weak and short-lived.
func TestTrialI11(t *testing.T) {
	requests := loadTrials(t)["I-11"].verified()
	d := newDeriver(t, Config{})
	a, b := d.Derive(requests[0]), d.Derive(requests[1])
	if a.Aliases[0] != b.Aliases[0] || a.Strength != Fallback || a.Aliases[0].Window != DefaultFallbackWindow {
		t.Errorf("got %+v and %+v", a, b)
	}
}

// TestReplayCannotBecomeNew: a captured body is never forwarded twice, however
// its unsigned parts are changed (trials A-01, I-20, I-22).
func TestReplayCannotBecomeNew(t *testing.T) {
	mixed := []Candidate{unsigned(t, "header X-Hook + header X-Id"), unsigned(t, "header X-Id"), signed(t, "json /id")}
	requests := func(body string) []*Request {
		return []*Request{
			request(body, "X-Hook", "1", "X-Id", "a"), request(body, "X-Hook", "1", "X-Id", "b"),
			request(body, "X-Id", "a"), request(body), request(body, "X-Id", "null"), request(body, "X-Hook", "1"),
			request(body, "X-Id", "a", "X-Id", "b"), request(body, "X-Id", "\x01"), request(body, "X-Id", longText(400)),
			request(body, "Content-Type", "text/plain"),
		}
	}
	for name, cfg := range map[string]Config{
		"unsigned":          {DeliveryID: mixed[:2]},
		"unsigned event":    {EventID: mixed[:2]},
		"mixed":             {DeliveryID: mixed},
		"with signed event": {DeliveryID: mixed[:2], EventID: mixed[2:]},
	} {
		for _, body := range []string{`{"a":1}`, `{"id":"e"}`} {
			d := newDeriver(t, cfg)
			for first := range requests(body) {
				all := requests(body)
				all = append([]*Request{all[first]}, all...)
				forwards := 0
				for _, got := range decideAll(d, all) {
					if got == "forwarded" {
						forwards++
					}
				}
				if forwards != 1 {
					t.Errorf("%s, %s, request %d first: forwarded %d times", name, body, first, forwards)
				}
			}
		}
	}
}

// TestPoisonedIDDoesNotSwallow: a captured body under the ID of a coming event
// leaves that event alone.
func TestPoisonedIDDoesNotSwallow(t *testing.T) {
	d := newDeriver(t, Config{DeliveryID: []Candidate{unsigned(t, "header X-Id")}})
	poison, genuine := d.Derive(request("old", "X-Id", "next")), d.Derive(request("new", "X-Id", "next"))
	x := naiveIndex{effects: map[[16]byte]int{}}
	x.decide(poison)
	if got := x.decide(genuine); got != "forwarded" {
		t.Errorf("got %s", got)
	}
	reused := func(k Keys) [16]byte { return k.Aliases[len(k.Aliases)-1].Key }
	if reused(poison) != reused(genuine) {
		t.Error("the reuse of the ID cannot be counted")
	}
}
