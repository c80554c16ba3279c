// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// Delivery is one request of a provider. The zero values mean the usual.
type Delivery struct {
	Provider string // of the catalogue; empty sends the request unsigned
	Method   string // POST
	Path     string // with the query; default: / and the provider
	Body     string
	// ID is the delivery ID of schemes that have one in a header. Default: made of
	// the body, so that the same body is the same delivery.
	ID     string
	At     time.Time // of the signature; default: now
	Secret string    // default: the right one
	Header map[string]string
	// Change edits the request after it was signed.
	Change func(*http.Request)
	// Context ends the request early. Default: the test's.
	Context context.Context
}

// Answer is what the provider got.
type Answer struct {
	Status  int
	Word    string // of Hookonce-Status
	Header  http.Header
	Trailer http.Header
	Body    string
}

func (a Answer) String() string { return fmt.Sprintf("%d %q body %q", a.Status, a.Word, a.Body) }

// Is fails the test unless the answer has this status and word.
func (a Answer) Is(t testing.TB, what string, status int, word string) {
	t.Helper()
	if a.Status != status || a.Word != word {
		t.Errorf("%s: got %v, want %d %q", what, a, status, word)
	}
}

// Request builds the signed request to base, such as http://host:port.
func (d Delivery) Request(t testing.TB, base string) *http.Request {
	t.Helper()
	if d.Method == "" {
		d.Method = http.MethodPost
	}
	if d.Path == "" {
		d.Path = "/" + d.Provider
	}
	if d.At.IsZero() {
		d.At = time.Now()
	}
	ctx := d.Context
	if ctx == nil {
		ctx = t.Context()
	}
	r, err := http.NewRequestWithContext(ctx, d.Method, base+d.Path, strings.NewReader(d.Body))
	if err != nil {
		t.Fatal(err)
	}
	if d.Body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("User-Agent", "hookonce-e2e")
	p := providers[d.Provider]
	for name, value := range p.Headers {
		r.Header.Set(name, value)
	}
	for name, value := range d.Header {
		r.Header.Set(name, value)
	}
	if d.Provider != "" {
		d.sign(t, p, r)
	}
	if d.Change != nil {
		d.Change(r)
	}
	return r
}

func (d Delivery) sign(t testing.TB, p Provider, r *http.Request) {
	t.Helper()
	if p.Preset == "" {
		t.Fatalf("unknown provider %q", d.Provider)
	}
	id := d.ID
	if id == "" {
		sum := sha256.Sum256([]byte(d.Body))
		id = fmt.Sprintf("%x-%x-4%x-8%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])[:36]
	}
	vr := &verify.Request{Method: r.Method, Header: r.Header, RawQuery: r.URL.RawQuery, Body: []byte(d.Body)}
	if err := p.verifier(t, d.Secret).Sign(vr, d.At, verify.SignOptions{ID: id, Seed: p.seed}); err != nil {
		t.Fatalf("signing as %s: %v", d.Provider, err)
	}
}

// Deliver sends one delivery.
func (s *Sidecar) Deliver(t testing.TB, d Delivery) Answer {
	t.Helper()
	a, err := s.Send(d.Request(t, "http://"+s.Site))
	if err != nil {
		t.Fatalf("deliver %s: %v\n%s", d.Path, err, s.Logs.Tail(40))
	}
	return a
}

// Send sends a request that is ready, and may fail.
func (s *Sidecar) Send(r *http.Request) (Answer, error) { return exchange(s.client, r) }

func exchange(client *http.Client, r *http.Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	resp, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	_, err = io.Copy(&body, resp.Body)
	a := Answer{
		Status: resp.StatusCode, Word: resp.Header.Get("Hookonce-Status"),
		Header: resp.Header, Trailer: resp.Trailer, Body: body.String(),
	}
	return a, err
}

// Pending is a delivery in the background.
type Pending struct {
	answer Answer
	err    error
	done   chan struct{}
}

// Go sends one delivery in the background.
func (s *Sidecar) Go(t testing.TB, d Delivery) *Pending {
	t.Helper()
	r, p := d.Request(t, "http://"+s.Site), &Pending{done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.answer, p.err = s.Send(r)
	}()
	return p
}

// Answer waits for the answer.
func (p *Pending) Answer(t testing.TB) Answer {
	t.Helper()
	<-p.done
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.answer
}

// Err waits for the end and returns what went wrong with the connection.
func (p *Pending) Err() error {
	<-p.done
	return p.err
}

// Done is closed when the answer is there.
func (p *Pending) Done() <-chan struct{} { return p.done }
