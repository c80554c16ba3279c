// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// trial is a case made from a public bug report, with the exact requests.
type trial struct {
	ID       string
	Secret   json.RawMessage
	Config   struct{ Provider string }
	Requests []trialRequest
	Upstream []struct {
		Status  int
		Headers map[string]string
		Body    string
		DelayMS int `json:"delay_ms"`
	}
	Expect []trialExpect
}

type trialRequest struct {
	Method, Path    string
	At              int64
	Headers         map[string]string
	Body            string
	BodyBase64      []byte `json:"body_base64"`
	StartMS         int    `json:"start_ms"`
	ClientTimeoutMS int    `json:"client_timeout_ms"`
}

type trialExpect struct {
	Req     int
	Status  []any
	Outcome string
	Headers map[string]string
	Body    string
	SHA256  string `json:"upstream_body_sha256"`
	Final   *struct {
		Calls          oneOf `json:"upstream_calls"`
		Review, Claims oneOf
	}
}

// oneOf is a number, or several of which one is right; nil is none.
type oneOf []int

func (o *oneOf) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*[]int)(o)) == nil {
		return nil
	}
	*o = make(oneOf, 1)
	return json.Unmarshal(data, &(*o)[0])
}

func (o oneOf) check(t *testing.T, what string, got int) {
	t.Helper()
	if o != nil && !slices.Contains(o, got) {
		t.Errorf("%d %s, want %v", got, what, o)
	}
}

// The trials that need something that hookonce cannot do yet.
var later = map[string]string{
	"I-06": "Twilio's form signature",
	"I-11": "a review of equal bodies without an ID",
	"P-05": "an answer of our own to WooCommerce's ping",
	"G-01": "SendGrid's signature and batches",
}

// What a trial's idea of a configuration is in a hookonce block.
var trialLines = map[string][]string{
	"I-07": {"delivery_id header Body-Decides"}, // nobody sends it: the signed body is the identity
	"I-09": {"delivery_id json /EventId", "fingerprint {\n\t\tignore /SendAttempts\n\t}"},
	"I-16": {"delivery_id json /id"},
	"B-15": {"delivery_id form trigger_id", "duplicate replay"},
	"U-05": {"public_url https://hooks.example.test/hooks/square/"},
}

// Times in the trials are real ones of a provider; a quarter shows the same.
const hurry = 4

// quick makes an app ask for a second where the trial says half a minute.
func quick(h map[string]string) map[string]string {
	if h["Retry-After"] != "" {
		h["Retry-After"] = "1"
	}
	return h
}

func TestTrials(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/requests.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []trial
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, c := range all {
		if later[c.ID] != "" {
			continue
		}
		ran++
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
	if ran+len(later) != len(all) {
		t.Errorf("%d trials ran and %d are for later, but there are %d", ran, len(later), len(all))
	}
}

// secretText is the secret as its owner would paste it.
func (c *trial) secretText(t *testing.T) string {
	t.Helper()
	var key struct {
		Ed25519 string `json:"ed25519_public_key_hex"`
	}
	var text string
	if json.Unmarshal(c.Secret, &text) != nil && (json.Unmarshal(c.Secret, &key) != nil || key.Ed25519 == "") {
		t.Fatalf("no secret in %s", c.Secret)
	}
	return text + key.Ed25519
}

// start runs a sidecar as the trial wants it. The requests are signed at a time
// in the past, so the tolerance of the preset begins there.
func (c *trial) start(t *testing.T, app *App) *Sidecar {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	text := c.secretText(t)
	if c.ID == "K-01" {
		text += "\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := append([]string{"upstream " + app.Addr()}, trialLines[c.ID]...)
	if tolerance := map[string]int64{"stripe": 300, "slack": 300, "standard-webhooks": 300, "linear": 60, "discord": 300}[c.Config.Provider]; tolerance != 0 {
		age := time.Now().Unix() - c.Requests[0].At
		if age < 0 {
			t.Fatal("the clock is before the time at which the trials were signed")
		}
		lines = append(lines, fmt.Sprintf("verify {\n\t\ttimestamp {\n\t\t\ttolerance %ds\n\t\t\tfuture 10d\n\t\t}\n\t}", age+tolerance))
	}
	return Start(t, fmt.Sprintf("<any> {\n\thookonce %s %s {\n\tsecret {file.%s}\n\t%s\n}\n}",
		c.Requests[0].Path, c.Config.Provider, file, strings.Join(lines, "\n\t")), Options{})
}

func (r *trialRequest) build(t *testing.T, s *Sidecar) *http.Request {
	t.Helper()
	body := r.Body + string(r.BodyBase64)
	q, err := http.NewRequestWithContext(t.Context(), r.Method, "http://"+s.Site+r.Path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range r.Headers {
		q.Header.Set(name, value)
	}
	if host := q.Header.Get("Host"); host != "" {
		q.Host = host
		q.Header.Del("Host")
	}
	return q
}

func (c *trial) run(t *testing.T) {
	app := NewApp(t, oracle.Config{Default: answering(599)}) // more calls than the trial has answers for
	for _, u := range c.Upstream {
		app.Script(oracle.Behaviour{Status: u.Status, Header: quick(u.Headers), Body: u.Body, DelayMS: u.DelayMS / hurry})
	}
	s := c.start(t, app)
	answers := c.send(t, s, app)
	calls := 0
	for _, e := range c.Expect {
		if e.Final == nil {
			calls += e.check(t, answers[e.Req-1])
		}
	}
	for _, e := range c.Expect {
		if e.Final != nil {
			e.checkFinal(t, s, app)
		} else if e.SHA256 != "" {
			ledger, err := app.Ledger()
			if err != nil || !slices.ContainsFunc(ledger, func(f oracle.Effect) bool { return f.SHA256 == e.SHA256 }) {
				t.Errorf("no body with digest %s at the app: %v, %v", e.SHA256, ledger, err)
			}
		}
	}
	if got := int(app.Stats().Requests); got != calls {
		t.Errorf("%d calls of the app, the answers speak of %d", got, calls)
	}
}

// outcome of one request of a trial.
type trialAnswer struct {
	Answer
	gone bool // the client closed
}

// send sends all requests, each at its time; those without one follow each other.
func (c *trial) send(t *testing.T, s *Sidecar, app *App) []trialAnswer {
	answers, done := make([]trialAnswer, len(c.Requests)), make([]chan struct{}, len(c.Requests))
	for i := range c.Requests {
		r := &c.Requests[i]
		q, ctx, cancel := r.build(t, s), t.Context(), context.CancelFunc(func() {})
		if r.ClientTimeoutMS != 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(r.ClientTimeoutMS/hurry)*time.Millisecond)
		}
		<-time.After(time.Duration(r.StartMS/hurry) * time.Millisecond)
		done[i] = make(chan struct{})
		go func() {
			defer close(done[i])
			defer cancel()
			a, err := s.Send(q.WithContext(ctx))
			answers[i] = trialAnswer{a, errors.Is(err, context.DeadlineExceeded)}
			if err != nil && !answers[i].gone {
				t.Error(err)
			}
		}()
		if c.ID == "R-01" { // the requests are in parallel: the first is at the app when the second comes
			app.Wait(t, r.Body, 1)
			continue
		}
		<-done[i]
		if answers[i].Header.Get("Retry-After") != "" {
			comeBack(t, answers[i].Answer)
		}
	}
	for i := range done {
		<-done[i]
	}
	return answers
}

// check compares an answer, and returns how often the app was asked for it.
func (e *trialExpect) check(t *testing.T, a trialAnswer) (calls int) {
	t.Helper()
	if !slices.ContainsFunc(e.Status, func(want any) bool {
		status, isNumber := want.(float64)
		return isNumber && int(status) == a.Status || !isNumber && a.gone
	}) {
		t.Errorf("request %d: %v, want status %v", e.Req, a.Answer, e.Status)
	}
	words := map[string][]string{
		"forwarded": {"first", "first-again", "bypass"}, "duplicate": {"duplicate"}, "duplicate-or-wait": {"duplicate", "in-progress"},
		"review": {"held"}, "rejected": {"refused"},
	}
	kind, _, _ := strings.Cut(strings.ReplaceAll(e.Outcome, ",", " "), " ")
	if !a.gone && !slices.Contains(words[kind], a.Word) {
		t.Errorf("request %d: %q, want one of %v (%s)", e.Req, a.Word, words[kind], e.Outcome)
	}
	if e.Body != "" && a.Body != e.Body {
		t.Errorf("request %d: body %q, want %q", e.Req, a.Body, e.Body)
	}
	for name, want := range quick(e.Headers) {
		if got := a.Header.Get(name); got != want {
			t.Errorf("request %d: %s %q, want %q", e.Req, name, got, want)
		}
	}
	if kind == "forwarded" {
		return 1
	}
	return 0
}

func (e *trialExpect) checkFinal(t *testing.T, s *Sidecar, app *App) {
	t.Helper()
	e.Final.Calls.check(t, "calls of the app", int(app.Stats().Requests))
	e.Final.Review.check(t, "in review", len(s.Items(t, "state=held")))
	e.Final.Claims.check(t, "claims", len(s.Items(t, "all=true")))
}
