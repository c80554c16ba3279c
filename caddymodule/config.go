// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/json"
	"time"

	"github.com/caddyserver/caddy/v2"

	"github.com/hookonce/hookonce/caddymodule/identity"
	"github.com/hookonce/hookonce/caddymodule/verify"
)

// Config is what one route says about its deliveries. All durations accept
// Caddy's notation, such as 10s, 5m or 7d.
type Config struct {
	// Name of the route: it is part of every key and labels metrics and logs. Two
	// routes of one name must be equal, and share their keys. Default: the
	// provider, followed in a Caddyfile by a colon and the matcher.
	Name string `json:"name,omitempty"`

	// DefaultName says that nobody chose Name. Then two routes that have it must
	// be one and the same directive. The Caddyfile adapter sets it.
	DefaultName bool `json:"default_name,omitempty"`

	// Provider names the preset: what signs, identifies, and how the sender
	// behaves. Default: none; then verify must describe the whole scheme.
	Provider string `json:"provider,omitempty"`

	// Verify is a scheme of its own, or single settings over the preset's.
	Verify *verify.Scheme `json:"verify,omitempty"`

	// Secrets that the sender may sign with. At least one is needed.
	Secrets []Secret `json:"secrets,omitempty"`

	// AllowInlineSecret permits secrets that are written in the configuration
	// itself, where the admin API and the autosave file show them. Default: false.
	AllowInlineSecret bool `json:"allow_inline_secret,omitempty"`

	// PublicURL is the URL as the provider knows it, for schemes that sign it.
	PublicURL string `json:"public_url,omitempty"`

	// Sender names the tenant, usually by a placeholder; it is part of every key.
	// Default: empty.
	Sender string `json:"sender,omitempty"`

	// Handshake says what happens to requests that are no deliveries (GET, HEAD,
	// OPTIONS, and the preset's challenges): pass hands them to the app unrecorded,
	// off refuses them with 405. Default: pass.
	Handshake string `json:"handshake,omitempty"`

	// DeliveryID and EventID are the sources of the IDs, the first present one
	// counts. Default: the preset's.
	DeliveryID []identity.Source `json:"delivery_id,omitempty"`
	EventID    []identity.Source `json:"event_id,omitempty"`

	// Fingerprint are the rules by which the bodies of two deliveries are
	// compared: what to ignore, and what counts. Default: what the provider is
	// known to change between attempts is ignored, else the bytes are compared.
	Fingerprint *identity.FingerprintRules `json:"fingerprint,omitempty"`

	// Bypass marks test events: verified, passed to the app, never recorded.
	Bypass []Bypass `json:"bypass,omitempty"`

	// Window is how long a delivery is remembered after it was confirmed. Default:
	// the preset's, else 7d.
	Window caddy.Duration `json:"window,omitempty"`
	// FallbackWindow is the same for deliveries without any ID. Default: 10m.
	FallbackWindow caddy.Duration `json:"fallback_window,omitempty"`
	// BodyWindow is how long a body is remembered where the signature does not
	// cover the ID. Default: the preset's, else 90d.
	BodyWindow caddy.Duration `json:"body_window,omitempty"`

	// OnUncertain says what happens when nobody knows whether the app did the
	// work: hold keeps the delivery for a person, retry lets it be sent again.
	// Default: hold.
	OnUncertain string `json:"on_uncertain,omitempty"`
	// OnMismatch says what happens to other content under a known signed ID: hold
	// or forward. Default: hold.
	OnMismatch string `json:"on_mismatch,omitempty"`
	// SameBody says what happens to a known body under a new ID that the
	// signature does not cover: hold, skip or process. Default: hold.
	SameBody string `json:"same_body,omitempty"`
	// Success lists the statuses that mean the work is done, such as 200, 2xx or
	// 200-299. Default: 2xx.
	Success []string `json:"success,omitempty"`
	// Outcome says what a 5xx of the app means: contract (not done, the receiver
	// asks for another delivery) or strict (nobody knows). Default: contract.
	Outcome string `json:"outcome,omitempty"`
	// DuplicateStatus answers duplicates. Default: the preset's, else 200.
	DuplicateStatus int `json:"duplicate_status,omitempty"`
	// DuplicateBody answers duplicates. Default: empty.
	DuplicateBody string `json:"duplicate_body,omitempty"`
	// DuplicateReplay repeats the first answer to duplicates: its status, the
	// content headers and up to 64 KiB of body. Default: false.
	DuplicateReplay bool `json:"duplicate_replay,omitempty"`
	// RetryStatus asks the provider to come back. Default: the preset's, else 503.
	RetryStatus int `json:"retry_status,omitempty"`
	// InflightWait is how long a repeat waits for the attempt that is running.
	// Default: half a second below the provider's deadline, at most 10s.
	InflightWait caddy.Duration `json:"inflight_wait,omitempty"`

	// Upstream is the way to the app: addresses tried in order, the next one only
	// when the one before surely got nothing.
	Upstream *Upstream `json:"upstream,omitempty"`
	// Forward is the way to the app through other handlers, as routes. Default:
	// none; then the next handler of the route is the app.
	Forward json.RawMessage `json:"forward,omitempty"`
	// UpstreamTimeout is how long an attempt may last. Default: 60s.
	UpstreamTimeout caddy.Duration `json:"upstream_timeout,omitempty"`

	// MaxBody is the largest body in bytes. Default: the preset's, else 1 MiB.
	MaxBody int64 `json:"max_body,omitempty"`
	// BodyTimeout is how long a body may take to arrive. Default: 10s.
	BodyTimeout caddy.Duration `json:"body_timeout,omitempty"`

	// DeclaredAt is where the route was written, for messages. The Caddyfile
	// adapter sets it.
	DeclaredAt string `json:"declared_at,omitempty"`
}

// Secret is one secret of the sender.
type Secret struct {
	// Value is a placeholder, {env.NAME} or {file./path}, or the secret itself
	// when allow_inline_secret is set. The text is used as the provider shows it.
	Value string `json:"value"`
	// ID names the secret in metrics and decision records. Default: its position,
	// counted from 1.
	ID string `json:"id,omitempty"`
	// Until is when the secret stops to count, RFC 3339. Default: never.
	Until *time.Time `json:"until,omitempty"`
	// DeclaredAt is where the secret was written, for messages.
	DeclaredAt string `json:"declared_at,omitempty"`
}

// Bypass matches deliveries that are verified and passed, but never recorded.
type Bypass struct {
	Source identity.Source `json:"source"`
	Values []string        `json:"values"`
}

// Upstream describes our own way to the app.
type Upstream struct {
	// Addresses such as 127.0.0.1:9000, https://app:8443, h2c://app:8080 or
	// unix//run/app.sock.
	Addresses []string `json:"addresses"`
	// DialTimeout bounds connecting. Default: 3s.
	DialTimeout caddy.Duration `json:"dial_timeout,omitempty"`
	// KeepAlive is how long an idle connection is kept. Default: 4s, below the 5s
	// after which Node and Gunicorn close theirs (caddyserver/caddy#6452).
	KeepAlive caddy.Duration `json:"keepalive,omitempty"`
	// TLSServerName overrides the name in the certificate. Default: the address.
	TLSServerName string `json:"tls_server_name,omitempty"`
	// TLSTrustPool is a PEM file of authorities to trust. Default: the system's.
	TLSTrustPool string `json:"tls_trust_pool,omitempty"`
	// TLSInsecureSkipVerify accepts any certificate. For tests. Default: false.
	TLSInsecureSkipVerify bool `json:"tls_insecure_skip_verify,omitempty"`
}
