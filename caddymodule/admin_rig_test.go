// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	_ "github.com/caddyserver/caddy/v2/modules/logging"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

const rigSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// adminRig is Caddy in this process with a store of its own, an app that does
// what a test says, and the admin endpoint. Two routes are configured: /own has
// its own way to the app, /next passes to a handler that answers 500.
type adminRig struct {
	t     *testing.T
	admin string // base URL of the admin endpoint
	front string // base URL of the routes
	app   *scriptedApp
	log   string
}

// scriptedApp counts what it gets and answers as it is told.
type scriptedApp struct {
	*httptest.Server
	hits   atomic.Int64
	mu     sync.Mutex
	answer func(w http.ResponseWriter, r *http.Request)
	bodies []string
}

// Answers of the scripted app.
var (
	answerOK   = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
	answerFail = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }
	answerBusy = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	// answerGone takes the whole request and ends the connection: nobody knows.
	answerGone = func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
)

func newScriptedApp(t *testing.T) *scriptedApp {
	a := &scriptedApp{answer: answerOK}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.hits.Add(1)
		a.mu.Lock()
		a.bodies = append(a.bodies, string(body))
		answer := a.answer
		a.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func (a *scriptedApp) does(answer func(http.ResponseWriter, *http.Request)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answer = answer
}

func (a *scriptedApp) address() string { return strings.TrimPrefix(a.URL, "http://") }

func newAdminRig(t *testing.T) *adminRig {
	t.Helper()
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	rig := &adminRig{t: t, app: newScriptedApp(t), log: t.TempDir() + "/caddy.log"}
	admin, front := freeAddress(t), freeAddress(t)
	rig.admin, rig.front = "http://"+admin, "http://"+front
	rig.load(admin, front, t.TempDir(), rig.route("/own", "own", fmt.Sprintf(`"upstream": {"addresses": [%q]},`, rig.app.address())),
		rig.route("/next", "next", ""))
	t.Cleanup(func() {
		if err := caddy.Stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return rig
}

func (rig *adminRig) route(path, name, way string) string {
	return fmt.Sprintf(`{"match": [{"path": [%q]}], "handle": [
		{"handler": "hookonce", "name": %q, "provider": "standard-webhooks", %s
		 "secrets": [{"value": %q}], "allow_inline_secret": true},
		{"handler": "static_response", "status_code": 500}]}`, path, name, way, rigSecret)
}

func (rig *adminRig) load(admin, front, dir string, routes ...string) {
	rig.t.Helper()
	config := fmt.Sprintf(`{
		"admin": {"listen": %q, "config": {"persist": false}},
		"logging": {"logs": {"default": {"level": "DEBUG", "writer": {"output": "file", "filename": %q}}}},
		"apps": {
			"hookonce": {"store": {"engine": "badger", "dir": %q, "min_free": 33554432}},
			"http": {"grace_period": "5s", "servers": {"s": {"listen": [%q], "automatic_https": {"disable": true}, "routes": [%s]}}}
		}}`, admin, rig.log, dir, front, strings.Join(routes, ","))
	if err := caddy.Load([]byte(config), true); err != nil {
		rig.t.Fatalf("load: %v", err)
	}
}

// freeAddress is an address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// deliver sends a signed delivery and returns the word of Hookonce-Status.
func (rig *adminRig) deliver(path, id, body string, headers ...string) string {
	rig.t.Helper()
	p, err := verify.LookupPreset("standard-webhooks")
	if err != nil {
		rig.t.Fatal(err)
	}
	v, err := p.Scheme.Compile([]verify.Secret{{Value: rigSecret}}, verify.Options{})
	if err != nil {
		rig.t.Fatal(err)
	}
	req := &verify.Request{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte(body)}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	if err := v.Sign(req, time.Now(), verify.SignOptions{ID: id}); err != nil {
		rig.t.Fatal(err)
	}
	r, err := http.NewRequest(http.MethodPost, rig.front+path, strings.NewReader(body))
	if err != nil {
		rig.t.Fatal(err)
	}
	r.Header = req.Header
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		rig.t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.Header.Get(statusHeader)
}

// ask calls the admin endpoint and returns the status and the body.
func (rig *adminRig) ask(method, path, body string) (int, []byte) {
	rig.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequest(method, rig.admin+path, in)
	if err != nil {
		rig.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		rig.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		rig.t.Fatal(err)
	}
	return resp.StatusCode, text
}

// get asks for what must succeed.
func (rig *adminRig) get(path string, out any) {
	rig.t.Helper()
	status, text := rig.ask(http.MethodGet, path, "")
	if status != http.StatusOK {
		rig.t.Fatalf("GET %s: %d %s", path, status, text)
	}
	rig.decode(text, out)
}

func (rig *adminRig) decode(text []byte, out any) {
	rig.t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(out); err != nil {
		rig.t.Fatalf("%v in %s", err, text)
	}
}

// act takes an action that must succeed.
func (rig *adminRig) act(id, action string) actionView {
	rig.t.Helper()
	status, text := rig.ask(http.MethodPost, deliveryPath(id, action), `{"actor": "ada@desk", "reason": "looked into the app"}`)
	if status != http.StatusOK {
		rig.t.Fatalf("%s %s: %d %s", action, id, status, text)
	}
	var view actionView
	rig.decode(text, &view)
	return view
}

// refused takes an action that must be refused, and returns the sentence.
func (rig *adminRig) refused(status int, id, action, body string) string {
	rig.t.Helper()
	got, text := rig.ask(http.MethodPost, deliveryPath(id, action), body)
	if got != status {
		rig.t.Fatalf("%s %s: %d %s, want %d", action, id, got, text, status)
	}
	var e struct{ Error string }
	if err := json.Unmarshal(text, &e); err != nil || e.Error == "" {
		rig.t.Fatalf("%s %s: no sentence in %q", action, id, text)
	}
	return e.Error
}

func (rig *adminRig) show(id string) showView {
	rig.t.Helper()
	var d showView
	rig.get(deliveryPath(id), &d)
	return d
}

// expect fails the test unless the word is the one that was to come.
func (rig *adminRig) expect(got, want string) {
	rig.t.Helper()
	if got != want {
		rig.t.Fatalf("Hookonce-Status is %q, want %q", got, want)
	}
}

// call is a call of the admin endpoint without a connection.
func (rig *adminRig) call(app *App, l nodeLease, r *http.Request) *adminCall {
	return &adminCall{app: app, n: l.Value(), r: r, now: time.Now(), logger: app.logger}
}
