// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Preset is all that is known about one provider. The presets that come with
// hookonce are files in presets/, with this structure as JSON.
type Preset struct {
	// Name is what a configuration says, such as "github".
	Name string `json:"name"`
	// Title is the name for people.
	Title string `json:"title"`
	// Aliases are further names that a configuration may use.
	Aliases []string `json:"aliases,omitempty"`
	// Docs are the pages and sources that the facts come from.
	Docs []string `json:"docs,omitempty"`
	// Notes tell the operator what to know about this provider.
	Notes []string `json:"notes,omitempty"`
	// Scheme is how deliveries are signed.
	Scheme Scheme `json:"verify"`
	// Identity is how deliveries are told apart.
	Identity Identity `json:"identity,omitzero"`
	// Horizons are how long the same event can come again.
	Horizons Horizons `json:"horizons,omitzero"`
	// Responses are the statuses that the provider understands.
	Responses Responses `json:"responses,omitzero"`
	// Handshakes are requests that are passed to the app and never recorded.
	Handshakes []Handshake `json:"handshakes,omitempty"`
	// MaxBody is the largest body that the provider sends, in bytes, if that is
	// more or less than the usual limit. 0: not known.
	MaxBody int64 `json:"max_body,omitempty"`
	// ProviderTimeout is how long the provider waits for an answer. 0: not known.
	ProviderTimeout Duration `json:"provider_timeout,omitempty"`
}

// Identity says where a delivery carries its identity. Whether a source is
// covered by the signature is told by Result.Covers.
type Identity struct {
	// DeliveryID are the places of the ID that all attempts of one delivery
	// share; the first that is there counts. Result.ID, if it is not empty,
	// comes before them: it is from the header family that was verified.
	DeliveryID []Source `json:"delivery_id,omitempty"`
	// EventID are the places of an ID that spans deliveries of one event.
	EventID []Source `json:"event_id,omitempty"`
	// Nonce is a value that is new in every request, even in a retry.
	Nonce Source `json:"nonce,omitzero"`
	// Required refuses deliveries that carry none of these IDs.
	Required bool `json:"required,omitempty"`
	// Volatile are JSON pointers to parts that differ between attempts.
	Volatile []string `json:"volatile,omitempty"`
	// HashFallback is "ok" (default) if equal bodies mean the same event, and
	// "forbidden" if different events have equal bodies, or attempts of one
	// event different ones.
	HashFallback string `json:"hash_fallback,omitempty"`
}

// Horizons are spans of time in which an event can come again.
type Horizons struct {
	// Retry is how long the provider tries by itself.
	Retry Duration `json:"retry,omitempty"`
	// NeverRetries marks a provider that does not try again by itself at all.
	NeverRetries bool `json:"never_retries,omitempty"`
	// Resend is how long a person can send an event again. 0: not possible, or
	// not known.
	Resend Duration `json:"resend,omitempty"`
	// Window is how long an ID is remembered. Default 7 d.
	Window Duration `json:"window,omitempty"`
	// BodyWindow is how long the digest of a body is remembered. Default 90 d
	// if no signed time makes a captured delivery go stale, else as Window.
	BodyWindow Duration `json:"body_window,omitempty"`
	// FallbackWindow is how long a delivery without ID is remembered by its
	// content. Default 10 min.
	FallbackWindow Duration `json:"fallback_window,omitempty"`
}

// Longest is the longest span in which the same event is known to come again.
func (h Horizons) Longest() Duration { return max(h.Retry, h.Resend) }

// Responses are HTTP statuses by what happened.
type Responses struct {
	// BadSignature answers a delivery that does not verify. Default 401.
	BadSignature int `json:"bad_signature,omitempty"`
	// Duplicate answers a repeat of what is done or kept. Default 200.
	Duplicate int `json:"duplicate,omitempty"`
	// InFlight answers a repeat of what is still running. Default 503: many
	// providers treat every 4xx, and so 409, as final.
	InFlight int `json:"in_flight,omitempty"`
	// Unavailable asks for a later retry when we cannot take the delivery.
	// Default 503.
	Unavailable int `json:"unavailable,omitempty"`
	// Refused answers a verified delivery without the ID that it must have.
	// Default 400.
	Refused int `json:"refused,omitempty"`
}

// ParsePreset reads the JSON of one preset, checks it and fills in defaults.
// Unknown fields are errors.
func ParsePreset(data []byte) (*Preset, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	p := &Preset{}
	if err := dec.Decode(p); err != nil {
		return nil, fmt.Errorf("preset: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("preset: there is more after the JSON object")
	}
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("preset %q: %w", p.Name, err)
	}
	p.fillDefaults()
	return p, nil
}

func (p *Preset) check() error {
	if p.Name == "" {
		return errors.New("has no name")
	}
	if _, err := p.Scheme.methods(Options{PublicURL: "https://example.com/"}); err != nil {
		return err
	}
	sources := append([]Source{}, p.Identity.DeliveryID...)
	sources = append(sources, p.Identity.EventID...)
	if !p.Identity.Nonce.IsZero() {
		sources = append(sources, p.Identity.Nonce)
	}
	for _, s := range sources {
		if _, err := s.locate(); err != nil {
			return fmt.Errorf("identity: %w", err)
		}
	}
	for _, pointer := range p.Identity.Volatile {
		if _, err := parsePointer(pointer); err != nil {
			return fmt.Errorf("identity: %w", err)
		}
	}
	if h := p.Identity.HashFallback; h != "" && h != "ok" && h != "forbidden" {
		return fmt.Errorf("identity: unknown hash_fallback %q; known are ok and forbidden", h)
	}
	for i := range p.Handshakes {
		if err := p.Handshakes[i].check(); err != nil {
			return fmt.Errorf("handshake %q: %w", p.Handshakes[i].Name, err)
		}
	}
	return nil
}

func (p *Preset) fillDefaults() {
	p.Identity.HashFallback = pick(p.Identity.HashFallback, "ok")
	h, r := &p.Horizons, &p.Responses
	h.Window = pick(h.Window, Duration(7*day))
	if p.Scheme.Timestamp.set() {
		h.BodyWindow = pick(h.BodyWindow, h.Window)
	}
	h.BodyWindow = pick(h.BodyWindow, Duration(90*day))
	h.FallbackWindow = pick(h.FallbackWindow, Duration(10*time.Minute))
	r.BadSignature = pick(r.BadSignature, 401)
	r.Duplicate = pick(r.Duplicate, 200)
	r.InFlight = pick(r.InFlight, 503)
	r.Unavailable = pick(r.Unavailable, 503)
	r.Refused = pick(r.Refused, 400)
}

// InflightWait is how long a repeat waits for the first attempt's answer: until
// half a second before the provider gives up, and no more than 10 s.
func (p *Preset) InflightWait() time.Duration {
	const most = 10 * time.Second
	if p.ProviderTimeout <= 0 {
		return most
	}
	return min(max(time.Duration(p.ProviderTimeout)-time.Second/2, 0), most)
}
