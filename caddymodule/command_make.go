// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// makeFlags say which delivery is to be made, and with which secret.
type makeFlags struct {
	provider                      string
	secret, secretFile, secretEnv string
	seed                          string
	data, id, at, url             string
	headers                       []string
}

func (f *makeFlags) add(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVarP(&f.provider, "provider", "p", "", "Whose deliveries to make; \"webhook providers\" lists them (required)")
	fl.StringVar(&f.secret, "secret", "", "The secret as the provider shows it; others on this machine can see it in the list of processes")
	fl.StringVar(&f.secretFile, "secret-file", "", "File with the secret")
	fl.StringVar(&f.secretEnv, "secret-env", "", "Environment variable with the secret")
	fl.StringVar(&f.seed, "seed", "", "Ed25519 only: 64 hex digits to make the key pair from, instead of a secret; \"webhook sign\" prints its public key, for the route")
	fl.StringVarP(&f.data, "data", "d", "", "Body: a text, @file, or - for standard input (default: a realistic one with a new ID)")
	fl.StringVar(&f.id, "id", "", "ID of the delivery (default: a new one)")
	fl.StringVar(&f.at, "at", "", "Time to sign at: RFC 3339, Unix seconds, or relative such as -10m (default: now)")
	fl.StringArrayVarP(&f.headers, "header", "H", nil, "A further header 'Name: value'; repeatable")
}

// maker makes deliveries of one provider.
type maker struct {
	preset   *verify.Preset
	verifier *verify.Verifier
	seed     []byte
	public   string // the public key, when it was made from the seed
	at       func() (time.Time, error)
	header   http.Header
	data     []byte // nil: the provider's sample
	id       string // empty: a new one for each event
	rand     io.Reader
}

// maker reads the flags. publicURL is where the delivery goes, for schemes that
// sign it.
func (f *makeFlags) maker(stdin io.Reader, publicURL string) (*maker, error) {
	if f.provider == "" {
		return nil, fmt.Errorf("which provider? Add --provider <name>; \"%s webhook providers\" lists them", programName())
	}
	preset, err := verify.LookupPreset(f.provider)
	if err != nil {
		return nil, err
	}
	m := &maker{preset: preset, id: f.id, rand: rand.Reader, header: make(http.Header)}
	secret, err := f.readSecret(m)
	if err != nil {
		return nil, err
	}
	m.verifier, err = preset.Scheme.Compile([]verify.Secret{{Value: secret}}, verify.Options{PublicURL: publicURL})
	if err != nil {
		return nil, err
	}
	if m.data, err = readData(f.data, stdin); err != nil {
		return nil, err
	}
	if m.id != "" && preset.Scheme.ID.IsZero() && (m.data != nil || sampleOf(preset).idForm == "") {
		return nil, fmt.Errorf("--id: %s", idPlace(preset))
	}
	for _, line := range f.headers {
		name, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("--header %q: want 'Name: value'", line)
		}
		m.header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	m.at = func() (time.Time, error) { return parseAt(f.at, time.Now()) }
	_, err = m.at()
	return m, err
}

func idPlace(p *verify.Preset) string {
	if len(p.Identity.DeliveryID) == 0 {
		return p.Name + " gives its deliveries no ID"
	}
	return fmt.Sprintf("%s has its ID in the body (%s): write it into --data", p.Name, p.Identity.DeliveryID[0])
}

// readSecret returns the one secret that was given.
func (f *makeFlags) readSecret(m *maker) (string, error) {
	given := 0
	for _, s := range []string{f.secret, f.secretFile, f.secretEnv} {
		if s != "" {
			given++
		}
	}
	if f.seed != "" {
		seed, err := hex.DecodeString(f.seed)
		if err != nil || len(seed) != ed25519.SeedSize {
			return "", errors.New("--seed: want 64 hex digits, for example from: openssl rand -hex 32")
		}
		if m.seed = seed; given == 0 {
			m.public = publicKey(m.preset, seed)
			return m.public, nil
		}
	}
	if given != 1 {
		return "", errors.New("give the secret by exactly one of --secret, --secret-file and --secret-env")
	}
	switch {
	case f.secretFile != "":
		text, err := os.ReadFile(f.secretFile)
		if err != nil {
			return "", fmt.Errorf("--secret-file: %w", err)
		}
		return string(text), nil
	case f.secretEnv != "":
		text, ok := os.LookupEnv(f.secretEnv)
		if !ok || strings.TrimSpace(text) == "" {
			return "", fmt.Errorf("--secret-env: the environment variable %s is unset or empty", f.secretEnv)
		}
		return text, nil
	}
	return f.secret, nil
}

// publicKey is the key pair's public half in the form in which a route of this
// provider takes it.
func publicKey(p *verify.Preset, seed []byte) string {
	public := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
	if p.Scheme.Algorithm == "ed25519" && p.Scheme.SecretEncoding == "hex" {
		return hex.EncodeToString(public)
	}
	return "whpk_" + base64.StdEncoding.EncodeToString(public)
}

// readData returns the body that was given, or nil.
func readData(arg string, stdin io.Reader) ([]byte, error) {
	name, isFile := strings.CutPrefix(arg, "@")
	switch {
	case arg == "":
		return nil, nil
	case arg == "-":
		body, err := io.ReadAll(stdin)
		if err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
		return append([]byte{}, body...), nil
	case isFile:
		body, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
		return append([]byte{}, body...), nil
	}
	return []byte(arg), nil
}

// parseAt reads a time, absolute or relative to now.
func parseAt(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return now, nil
	}
	if text[0] == '-' || text[0] == '+' {
		if d, err := time.ParseDuration(text); err == nil {
			return now.Add(d), nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return time.Unix(n, 0), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	return now, fmt.Errorf("--at %q: want a time such as 2026-05-04T12:30:00Z, 1777897800 or -10m", text)
}

// event is what all deliveries of one event share.
type event struct {
	id     string
	body   []byte
	header http.Header
}

// newEvent makes an event that nobody has seen, unless ID and body were given.
func (m *maker) newEvent() (*event, error) {
	now, err := m.at()
	if err != nil {
		return nil, err
	}
	e := &event{id: m.id, body: m.data, header: http.Header{"Content-Type": {"application/json"}}}
	if e.body == nil {
		s := sampleOf(m.preset)
		if e.id, e.body, err = s.fill(e.id, now, m.rand); err != nil {
			return nil, err
		}
		for name, value := range s.header {
			e.header.Set(name, value)
		}
	}
	maps.Copy(e.header, m.header)
	if m.preset.Scheme.ID.IsZero() {
		return e, nil
	}
	// The ID of the first delivery serves all repeats.
	r := e.request()
	if err := m.verifier.Sign(r, now, verify.SignOptions{ID: m.id, Seed: m.seed, Rand: m.rand}); err != nil {
		return nil, err
	}
	for _, s := range append([]verify.Source{m.preset.Scheme.ID}, m.preset.Identity.DeliveryID...) {
		if value := r.Header.Get(s.Header); s.Header != "" && value != "" {
			e.header.Set(s.Header, value)
			e.id = value
		}
	}
	return e, nil
}

func (e *event) request() *verify.Request {
	return &verify.Request{Method: http.MethodPost, Header: e.header.Clone(), Body: e.body}
}

// sign makes one delivery of an event, stamped and signed anew as a provider
// does for each attempt.
func (m *maker) sign(e *event) (*verify.Request, error) {
	now, err := m.at()
	if err != nil {
		return nil, err
	}
	r := e.request()
	return r, m.verifier.Sign(r, now, verify.SignOptions{Seed: m.seed, Rand: m.rand})
}
