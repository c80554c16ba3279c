// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// Provider is a sender that the tests can play.
type Provider struct {
	Preset string
	Secret string // as the sidecar is given it, in {env.SECRET_<NAME>}
	Lines  string // further lines that its route needs
	// Body makes the body of an event; id and now stand where this provider has
	// them.
	Body func(id string, now time.Time) string
	// Headers that the provider sends besides those that belong to the signature.
	Headers map[string]string

	seed []byte // of an Ed25519 key
}

// seed is the private key of providers that sign by Ed25519.
var seed = []byte("hookonce-e2e-seed-of-32-bytes-01")

var publicKey = ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)

// squareURL is the URL that Square signs.
const squareURL = "https://hooks.example.test/square"

func plainBody(id string, _ time.Time) string { return fmt.Sprintf(`{"n":%q,"done":false}`, id) }

func idBody(field string) func(string, time.Time) string {
	return func(id string, _ time.Time) string { return fmt.Sprintf(`{%q:%q,"done":false}`, field, id) }
}

func whsec(text string) string { return "whsec_" + base64.StdEncoding.EncodeToString([]byte(text)) }

// providers are all senders by name. A name that differs from the preset is a
// second way of signing of the same provider.
var providers = func() map[string]Provider {
	signed := whsec("hookonce-e2e-key-of-a-good-length")
	all := map[string]Provider{
		"github":                {Headers: map[string]string{"X-GitHub-Event": "push", "X-GitHub-Hook-ID": "5001"}},
		"gitlab":                {Headers: map[string]string{"X-Gitlab-Event": "Push Hook"}},
		"gitlab-signing":        {Preset: "gitlab", Secret: signed},
		"bitbucket":             {Headers: map[string]string{"X-Event-Key": "repo:push"}},
		"gitea":                 {Headers: map[string]string{"X-Gitea-Event": "push"}},
		"stripe":                {Secret: "whsec_e2e0123456789abcdef0123456789", Body: idBody("id")},
		"shopify":               {Headers: map[string]string{"X-Shopify-Topic": "orders/create"}},
		"slack":                 {Body: idBody("event_id")},
		"standard-webhooks":     {Secret: signed},
		"standard-webhooks-v1a": {Preset: "standard-webhooks", Secret: "whpk_" + base64.StdEncoding.EncodeToString(publicKey), seed: seed},
		"svix":                  {Secret: signed},
		"clerk":                 {Secret: signed},
		"resend":                {Secret: signed},
		"openai":                {Secret: signed},
		"linear": {Body: func(id string, now time.Time) string {
			return fmt.Sprintf(`{"action":"update","n":%q,"webhookTimestamp":%d}`, id, now.UnixMilli())
		}},
		"paddle": {Body: idBody("event_id")},
		"square": {Lines: "public_url " + squareURL, Body: idBody("event_id")},
		"zoom":   {},
		"twitch": {Headers: map[string]string{"Twitch-Eventsub-Message-Type": "notification"}},
		"xquik": {Body: func(id string, _ time.Time) string {
			return fmt.Sprintf(`{"deliveryId":%q,"streamEventId":"ev-%s","eventType":"post.created"}`, id, id)
		}},
		"meta":    {},
		"discord": {Secret: hex.EncodeToString(publicKey), Body: func(id string, _ time.Time) string { return fmt.Sprintf(`{"id":%q,"type":2}`, id) }, seed: seed},
	}
	names, err := verify.PresetNames()
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "generic-") {
			all[name] = Provider{}
		}
	}
	for name, p := range all {
		all[name] = p.filled(name)
	}
	return all
}()

func (p Provider) filled(name string) Provider {
	if p.Preset == "" {
		p.Preset = name
	}
	if p.Secret == "" {
		p.Secret = "e2e-secret-of-" + name
	}
	if p.Body == nil {
		p.Body = plainBody
	}
	return p
}

func providerNames() []string { return slices.Sorted(maps.Keys(providers)) }

// secretVariable is the variable of a provider's secret.
func secretVariable(name string) string {
	return "SECRET_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

func secretVariables() []string {
	var env []string
	for _, name := range providerNames() {
		env = append(env, secretVariable(name)+"="+providers[name].Secret)
	}
	return env
}

// Route writes the hookonce block of a provider's route at /name. lines are
// further lines of the block, such as the way to the app.
func Route(matcher, name string, lines ...string) string {
	p := providers[name]
	if p.Lines != "" {
		lines = append(lines, p.Lines)
	}
	return fmt.Sprintf("hookonce %s %s {\n\tsecret {env.%s}\n\t%s\n}\n", matcher, p.Preset, secretVariable(name), strings.Join(lines, "\n\t"))
}

// Site writes the site with these routes.
func Site(routes ...string) string { return "<site> {\n" + strings.Join(routes, "\n") + "\n}\n" }

// verifier signs as the provider does. secret replaces the right one.
func (p Provider) verifier(t testing.TB, secret string) *verify.Verifier {
	t.Helper()
	preset, err := verify.LookupPreset(p.Preset)
	if err != nil {
		t.Fatal(err)
	}
	if secret == "" {
		secret = p.Secret
	}
	v, err := preset.Scheme.Compile([]verify.Secret{{ID: "1", Value: secret}}, verify.Options{PublicURL: squareURL})
	if err != nil {
		t.Fatal(err)
	}
	return v
}
