// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"
)

const testURL = "https://hooks.example.com/in/"

// signable compiles a preset with a secret that it can sign with. An empty
// secret is replaced by one of the right form.
func signable(t testing.TB, name, secret string) (*Preset, *Verifier, SignOptions) {
	t.Helper()
	p, err := LookupPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	o := SignOptions{Rand: bytes.NewReader(bytes.Repeat([]byte{0xA5}, 1<<10))}
	if secret == "" {
		secret = "a secret of thirty-two characters"
		switch {
		case p.Scheme.Algorithm == edSignature:
			o.Seed = bytes.Repeat([]byte{7}, ed25519.SeedSize)
			secret = hex.EncodeToString(ed25519.NewKeyFromSeed(o.Seed).Public().(ed25519.PublicKey))
		case strings.HasPrefix(p.Scheme.SecretEncoding, "whsec"):
			secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
		}
	}
	v, err := p.Scheme.Compile([]Secret{{Value: secret}}, Options{PublicURL: testURL})
	if err != nil {
		t.Fatal(err)
	}
	return p, v, o
}

// signableCases are every preset, and the further ways in which some sign.
func signableCases(t testing.TB) map[string][2]string {
	t.Helper()
	names, err := PresetNames()
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][2]string{
		"gitlab signing": {"gitlab", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
		"v1a":            {"standard-webhooks", "whsk_" + base64Padded.EncodeToString(bytes.Repeat([]byte{9}, 32))},
		"openai text":    {"openai", "plain text"},
	}
	for _, name := range names {
		cases[name] = [2]string{name, ""}
	}
	return cases
}

func TestSignVerifyRoundTrip(t *testing.T) {
	now := time.Unix(1760000000, 123e6)
	for name, c := range signableCases(t) {
		t.Run(name, func(t *testing.T) {
			p, v, o := signable(t, c[0], c[1])
			r := signed(t, v, o, now)
			if why := v.HeadersPlausible(r, now); why != OK {
				t.Fatalf("headers: %s in %v", why, r.Header)
			}
			got, why := v.Verify(r, now)
			if why != OK {
				t.Fatalf("%s in %v", why, r.Header)
			}
			if got.SecretID != "1" {
				t.Errorf("secret %q", got.SecretID)
			}
			if h := p.Scheme.ID.Header; h != "" && got.ID == "" {
				t.Errorf("no ID although the scheme has one in %s", h)
			}
			if p.Scheme.Timestamp.set() && now.Sub(got.Timestamp).Abs() > time.Second {
				t.Errorf("timestamp %v, want %v", got.Timestamp, now)
			}
		})
	}
}

// signed makes a delivery whose body suits every preset.
func signed(t testing.TB, v *Verifier, o SignOptions, now time.Time) *Request {
	t.Helper()
	r := &Request{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/json"}}}
	r.Body = []byte(`{"id":"evt_1","webhookTimestamp":1760000000123,"n":"ä\u00e4"}`)
	if err := v.Sign(r, now, o); err != nil {
		t.Fatal(err)
	}
	return r
}

// Whatever the signature covers cannot be changed by a single bit.
func TestAnyChangeInvalidates(t *testing.T) {
	now := time.Unix(1760000000, 123e6)
	for name, c := range signableCases(t) {
		t.Run(name, func(t *testing.T) {
			p, v, o := signable(t, c[0], c[1])
			r := signed(t, v, o, now)
			good, why := v.Verify(r, now)
			if why != OK {
				t.Fatal(why)
			}
			if good.Covers.Body {
				changeBody(t, v, r, now)
			} else if p.Scheme.Algorithm != staticToken {
				t.Fatal("the body is not covered")
			}
			for header := range r.Header {
				if strings.EqualFold(header, p.Scheme.Signature.Header) || good.Covers.Signed(Source{Header: header}) {
					changeHeader(t, v, r, header, now)
				}
			}
		})
	}
}

func changeBody(t *testing.T, v *Verifier, r *Request, now time.Time) {
	t.Helper()
	whole := r.Body
	for i := range whole {
		for bit := range 8 {
			body := bytes.Clone(whole)
			body[i] ^= 1 << bit
			r.Body = body
			if _, why := v.Verify(r, now); why == OK {
				t.Fatalf("accepted with bit %d of body byte %d changed", bit, i)
			}
		}
	}
	for i := range whole {
		r.Body = whole[:i]
		if _, why := v.Verify(r, now); why == OK {
			t.Fatalf("accepted with the body cut to %d bytes", i)
		}
	}
	r.Body = whole
}

func changeHeader(t *testing.T, v *Verifier, r *Request, header string, now time.Time) {
	t.Helper()
	value := r.Header.Get(header)
	defer r.Header.Set(header, value)
	for i := range value {
		for bit := range 8 {
			changed := []byte(value)
			changed[i] ^= 1 << bit
			r.Header.Set(header, string(changed))
			_, why := v.Verify(r, now)
			same := strings.EqualFold(value, string(changed)) && changed[i]|0x20 >= 'a' && changed[i]|0x20 <= 'f'
			if why == OK && !(same && sameHex(value, string(changed))) {
				t.Fatalf("accepted with %s %q changed to %q", header, value, changed)
			}
		}
	}
}

// sameHex reports whether two header values differ in the case of hex digits
// of the digest at their end alone.
func sameHex(a, b string) bool {
	cut := func(s string) (string, []byte) {
		i := strings.LastIndexAny(s, "=,") + 1
		digest, err := hex.DecodeString(s[i:])
		if err != nil {
			return s, nil
		}
		return s[:i], digest
	}
	headA, digestA := cut(a)
	headB, digestB := cut(b)
	return headA == headB && digestA != nil && bytes.Equal(digestA, digestB)
}

func TestSignErrors(t *testing.T) {
	now := time.Unix(1760000000, 0)
	_, discord, o := signable(t, "discord", "")
	r := &Request{Method: http.MethodPost, Header: http.Header{}}
	o.Seed = nil
	if err := discord.Sign(r, now, o); err == nil || !strings.Contains(err.Error(), "private key") {
		t.Errorf("signing with a public key: %v", err)
	}
	_, github, o := signable(t, "github", "")
	o.SecretID = "other"
	if err := github.Sign(r, now, o); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("signing with an unknown secret: %v", err)
	}
	o.SecretID, o.Rand = "", bytes.NewReader(nil)
	if err := github.Sign(r, now, o); err == nil {
		t.Error("made an ID without random bytes")
	}
}

func TestSignKeepsAndSetsIDs(t *testing.T) {
	now := time.Unix(1760000000, 0)
	_, v, o := signable(t, "github", "")
	r := &Request{Method: http.MethodPost, Header: http.Header{"X-Github-Delivery": {"mine"}}}
	if err := v.Sign(r, now, o); err != nil || r.Header.Get("X-GitHub-Delivery") != "mine" {
		t.Errorf("%v: the ID of the request became %q", err, r.Header.Get("X-GitHub-Delivery"))
	}
	o.ID = "given"
	if err := v.Sign(r, now, o); err != nil || r.Header.Get("X-GitHub-Delivery") != "given" {
		t.Errorf("%v: the given ID became %q", err, r.Header.Get("X-GitHub-Delivery"))
	}
}
