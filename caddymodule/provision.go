// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/modules/caddyhttp"
	"github.com/dustin/go-humanize"
	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/verify"
)

// Defaults of a route.
const (
	defaultMaxBody         = 1 << 20
	defaultBodyTimeout     = 10 * time.Second
	defaultUpstreamTimeout = 60 * time.Second
)

// Provision compiles the route. Everything that can be wrong in a
// configuration is found here, before a listener opens; on a reload the old
// configuration keeps running.
func (h *Handler) Provision(ctx caddy.Context) error {
	if err := h.provision(ctx); err != nil {
		return fmt.Errorf("hookonce route %q%s: %w", h.Name, h.at(), err)
	}
	return nil
}

func (h *Handler) provision(ctx caddy.Context) error {
	h.logger, h.now = ctx.Logger(), time.Now
	if h.Name == "" {
		h.Name, h.DefaultName = h.Provider, true
		if h.Name == "" {
			h.Name = "webhook"
		}
	}
	mod, err := ctx.App("hookonce")
	if err != nil {
		return err
	}
	h.app = mod.(*App)
	if err := h.Fingerprint.Validate(); err != nil {
		return fmt.Errorf("fingerprint: %w", err)
	}
	for _, step := range []func() error{h.loadPreset, h.compileVerifier, h.compilePolicy, h.compileWindows, h.compileBypass} {
		if err := step(); err != nil {
			return err
		}
	}
	if err := h.compileWay(ctx); err != nil {
		return err
	}
	h.metrics = metricsFor(h.Name)
	h.warn()
	return h.app.register(h)
}

// at names the place of the route in a message.
func (c *Config) at() string {
	if c.DeclaredAt == "" {
		return ""
	}
	return " at " + c.DeclaredAt
}

// withoutPlaces is the configuration without what does not change its meaning.
func (c Config) withoutPlaces() Config {
	c.DeclaredAt = ""
	secrets := append([]Secret(nil), c.Secrets...)
	for i := range secrets {
		secrets[i].DeclaredAt = ""
	}
	c.Secrets = secrets
	return c
}

func (h *Handler) loadPreset() error {
	if h.Provider == "" {
		if h.Verify == nil {
			return errors.New("no provider and no verify block: name one, as in \"hookonce /path github { ... }\"")
		}
		p, err := customPreset(*h.Verify)
		if err != nil {
			return err
		}
		h.preset = p
		return nil
	}
	p, err := verify.LookupPreset(h.Provider)
	if err != nil {
		return err
	}
	h.preset, h.Provider = p, p.Name
	return nil
}

// customPreset is a preset around a scheme of the user's own, with the defaults
// of an unknown provider.
func customPreset(scheme verify.Scheme) (*verify.Preset, error) {
	data, err := json.Marshal(verify.Preset{Name: "custom", Title: "custom", Scheme: scheme})
	if err != nil {
		return nil, err
	}
	return verify.ParsePreset(data)
}

// compileVerifier resolves the secrets into unexported fields only: the admin
// API and the autosave file show the configuration as it was written.
func (h *Handler) compileVerifier() error {
	scheme := h.preset.Scheme
	if h.Verify != nil && h.Provider != "" {
		scheme = scheme.Override(*h.Verify)
	}
	if len(h.Secrets) == 0 {
		return errors.New("no secret: add \"secret {env.NAME}\" or \"secret {file./path}\"")
	}
	secrets := make([]verify.Secret, len(h.Secrets))
	for i, s := range h.Secrets {
		value, err := h.resolveSecret(s)
		if err != nil {
			return err
		}
		if s.ID == "" {
			s.ID = strconv.Itoa(i + 1)
		}
		secrets[i] = verify.Secret{ID: s.ID, Value: value}
		if s.Until != nil {
			secrets[i].Until = *s.Until
		}
	}
	if !slices.ContainsFunc(secrets, func(s verify.Secret) bool { return s.Until.IsZero() || s.Until.After(h.now()) }) {
		return fmt.Errorf("no secret counts any more, all of them have an \"until\" in the past: every delivery would be refused%s", h.secretPlaces())
	}
	v, err := scheme.Compile(secrets, verify.Options{PublicURL: h.PublicURL})
	if err != nil {
		return fmt.Errorf("%w%s", err, h.secretPlaces())
	}
	for _, w := range v.Warnings() {
		h.logger.Warn(w, zap.String("route", h.Name), zap.String("declared_at", h.DeclaredAt))
	}
	h.verifier = v
	return nil
}

func (h *Handler) secretPlaces() string {
	var places []string
	for _, s := range h.Secrets {
		if s.DeclaredAt != "" {
			places = append(places, s.DeclaredAt)
		}
	}
	if len(places) == 0 {
		return ""
	}
	return " (secrets at " + strings.Join(places, ", ") + ")"
}

func (h *Handler) resolveSecret(s Secret) (string, error) {
	at := ""
	if s.DeclaredAt != "" {
		at = " at " + s.DeclaredAt
	}
	placeholder := strings.HasPrefix(s.Value, "{") && strings.HasSuffix(s.Value, "}")
	if !placeholder {
		if !h.AllowInlineSecret {
			return "", fmt.Errorf("secret%s is written into the configuration, where the admin API shows it: "+
				"use {env.NAME} or {file./path} (note that {$NAME} is replaced too early), or add allow_inline_secret", at)
		}
		return s.Value, nil
	}
	value, err := caddy.NewReplacer().ReplaceOrErr(s.Value, true, true)
	if err != nil || strings.TrimSpace(value) == "" {
		// The error of the replacer is not repeated: it may hold what a file holds.
		return "", fmt.Errorf("secret%s: %s is unset or empty: set it before the server starts", at, s.Value)
	}
	return value, nil
}

func (h *Handler) compilePolicy() (err error) {
	word := func(name, value string, options ...string) {
		if value != "" && err == nil {
			err = oneOf(name, value, options...)
		}
	}
	word("on_uncertain", h.OnUncertain, "hold", "retry")
	word("on_mismatch", h.OnMismatch, "hold", "forward")
	word("same_body", h.SameBody, "hold", "skip", "process")
	word("outcome", h.Outcome, "contract", "strict")
	word("handshake", h.Handshake, "pass", "off")
	if err != nil {
		return err
	}
	h.policy.RetryUncertain = h.OnUncertain == "retry"
	if h.OnMismatch == "forward" {
		h.policy.Mismatch = delivery.RuleForward
	}
	switch h.SameBody {
	case "skip":
		h.policy.SameBody = delivery.RuleSkip
	case "process":
		h.policy.SameBody = delivery.RuleForward
	}
	h.contract.Strict = h.Outcome == "strict"
	if h.contract.Success, err = parseStatuses(h.Success); err != nil {
		return err
	}
	res := h.preset.Responses
	h.DuplicateStatus = orDefault(h.DuplicateStatus, res.Duplicate)
	h.RetryStatus = orDefault(h.RetryStatus, res.Unavailable)
	h.MaxBody = orDefault(h.MaxBody, orDefault(h.preset.MaxBody, defaultMaxBody))
	h.bodyTimeout = orDefault(time.Duration(h.BodyTimeout), defaultBodyTimeout)
	h.upstreamTimeout = orDefault(time.Duration(h.UpstreamTimeout), defaultUpstreamTimeout)
	h.inflightWait = orDefault(time.Duration(h.InflightWait), h.preset.InflightWait())
	if h.DuplicateStatus < 200 || h.DuplicateStatus > 299 {
		return fmt.Errorf("duplicate %d: a duplicate is answered with a 2xx status, otherwise the provider keeps sending it", h.DuplicateStatus)
	}
	if h.RetryStatus < 400 || h.RetryStatus > 599 || h.RetryStatus == http.StatusGone {
		return fmt.Errorf("retry_status %d: use a 4xx or 5xx that makes the provider come back, such as 503", h.RetryStatus)
	}
	return nil
}

// inflightStatus asks a repeat to come back after the running attempt.
func (h *Handler) inflightStatus() int {
	if h.RetryStatus != h.preset.Responses.Unavailable {
		return h.RetryStatus
	}
	return h.preset.Responses.InFlight
}

// warn reports what works, but not as its owner may think.
func (h *Handler) warn() {
	if h.chain == nil && h.forwarder == nil && h.preset.Horizons.NeverRetries {
		h.logger.Warn("this provider does not retry by itself, and this route has no way of its own to the app: "+
			"an event that arrives while the app is down is lost unless somebody sends it again; "+
			"add \"upstream <address>\" or a forward block",
			zap.String("route", h.Name), zap.String("provider", h.Provider), zap.String("declared_at", h.DeclaredAt))
	}
	if h.MaxBody > min(h.app.BodyMemory, h.app.SpoolSize) {
		h.logger.Warn("body_memory or spool_size holds less than the largest body of this route, so deliveries of that size get the retry status for ever: "+
			"raise those, or lower max_body",
			zap.String("route", h.Name), zap.String("max_body", humanize.IBytes(uint64(h.MaxBody))), zap.String("declared_at", h.DeclaredAt))
	}
	if strings.Contains(string(h.Forward), `"retry_match"`) {
		h.logger.Warn("lb_retry_match inside the forward block may send a delivery twice by itself (caddyserver/caddy#6259); remove it",
			zap.String("route", h.Name), zap.String("declared_at", h.DeclaredAt))
	}
}

// compileWay prepares the way to the app.
func (h *Handler) compileWay(ctx caddy.Context) error {
	if h.Upstream != nil && h.Forward != nil {
		return errors.New("upstream and forward exclude each other: both are the way to the app")
	}
	if h.Upstream != nil {
		f, err := h.Upstream.forwarder()
		h.forwarder = f
		return err
	}
	if h.Forward == nil {
		return nil
	}
	var routes caddyhttp.RouteList
	if err := json.Unmarshal(h.Forward, &routes); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	if len(routes) == 0 {
		return errors.New("forward: the block is empty; put the way to the app into it, such as \"reverse_proxy 127.0.0.1:9000\"")
	}
	if err := routes.Provision(ctx); err != nil {
		return fmt.Errorf("forward: %w", err)
	}
	h.routes = routes
	h.chain = routes.Compile(emptyHandler)
	return nil
}

func orDefault[T int | int64 | time.Duration](v, def T) T {
	if v == 0 {
		return def
	}
	return v
}

func oneOf(name, value string, options ...string) error {
	if slices.Contains(options, value) {
		return nil
	}
	return fmt.Errorf("%s %q: must be one of %s", name, value, strings.Join(options, ", "))
}
