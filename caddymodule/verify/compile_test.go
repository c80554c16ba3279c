// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"strings"
	"testing"
	"time"
)

// canary stands for a secret that must not show up in any error.
const canary = "canary-0f3a!"

func TestSecretErrors(t *testing.T) {
	for _, c := range []struct {
		name, preset string
		secrets      []Secret
		want         []string
	}{
		{"no secret", "github", nil, []string{"no secret"}},
		{"K-04 empty", "github", []Secret{{Value: ""}}, []string{"secret 1", "empty", "environment variable"}},
		{"K-04 blanks", "github", []Secret{{ID: "old", Value: " \t\r\n"}}, []string{"secret old", "empty"}},
		{"K-04 second one empty", "github", []Secret{{Value: "a"}, {Value: ""}}, []string{"secret 2", "empty"}},
		{"K-04 prefix alone", "standard-webhooks", []Secret{{Value: "whsec_"}}, []string{"secret 1", "empty after its prefix"}},
		{"K-02 v1, pasted along", "standard-webhooks", []Secret{{Value: "v1,whsec_" + canary}}, []string{"secret 1", `"v1,"`, "remove it"}},
		{"K-02 v1, pasted along for Stripe", "stripe", []Secret{{Value: "v1,whsec_" + canary}}, []string{`"v1,"`}},
		{"invalid base64", "standard-webhooks", []Secret{{Value: "whsec_" + canary}}, []string{"not valid base64", "copy it again"}},
		{"unused bits in base64", "svix", []Secret{{Value: "whsec_QUJ="}}, []string{"not valid base64"}},
		{"newline within base64", "svix", []Secret{{Value: "whsec_QUJD\nQUJD"}}, []string{"not valid base64"}},
		{"invalid hex", "discord", []Secret{{Value: canary}}, []string{"not valid hex"}},
		{"short public key", "discord", []Secret{{Value: "abcd"}}, []string{"Ed25519 public key", "32 bytes"}},
		{"short whpk_", "standard-webhooks", []Secret{{Value: "whpk_QUJD"}}, []string{"Ed25519 public key"}},
		{"short whsk_", "standard-webhooks", []Secret{{Value: "whsk_QUJD"}}, []string{"Ed25519 private key"}},
		{"public key for HMAC", "clerk", []Secret{{Value: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="}}, []string{"no Ed25519 signatures", "whsec_"}},
		{"public key for an HMAC of text", "github", []Secret{{Value: "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="}}, []string{"no Ed25519 signatures"}},
		{"two of one name", "github", []Secret{{ID: "a", Value: "x"}, {ID: "a", Value: "y"}}, []string{"secret a", "two secrets"}},
		{"unknown reading", "github", []Secret{{Value: canary, Encoding: "rot13"}}, []string{"secret 1", `"rot13"`, "base64"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := LookupPreset(c.preset)
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Scheme.Compile(c.secrets, Options{})
			wantError(t, err, c.want...)
		})
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("error %q shows the secret", err)
	}
}

func TestK01TrimmedSecret(t *testing.T) {
	for _, value := range []string{testSecret + "\n", testSecret + "\r\n", " " + testSecret, "\uFEFF" + testSecret} {
		v := compile(t, "github", Secret{ID: "main", Value: value})
		r := request(testBody, "X-Hub-Signature-256: sha256="+hexMAC(testSecret, testBody))
		if _, why := v.Verify(r, testNow); why != OK {
			t.Errorf("%q: %s", value, why)
		}
		if w := v.Warnings(); len(w) != 1 || !strings.Contains(w[0], "secret main") || strings.Contains(w[0], testSecret) {
			t.Errorf("%q: warnings %q", value, w)
		}
	}
	if w := compile(t, "github", Secret{Value: testSecret}).Warnings(); len(w) != 0 {
		t.Errorf("warnings %q without a cause", w)
	}
}

func TestK02Readings(t *testing.T) {
	stripe := compile(t, "stripe", Secret{Value: testSecret})
	r := request(testBody, "Stripe-Signature: t=1760000000,v1="+hexMAC(testSecret, "1760000000."+testBody))
	if _, why := stripe.Verify(r, testNow); why != OK {
		t.Errorf("Stripe reads the whole text: %s", why)
	}
	decoded, err := secretBase64(strings.TrimPrefix(testSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	for preset, key := range map[string]string{"standard-webhooks": string(decoded), "openai": string(decoded)} {
		v := compile(t, preset, Secret{Value: testSecret})
		r := request(testBody, "webhook-id: m", "webhook-timestamp: 1760000000",
			"webhook-signature: v1,"+encodeDigest(mac(key, "m.1760000000."+testBody), "base64"))
		if _, why := v.Verify(r, testNow); why != OK {
			t.Errorf("%s reads base64: %s", preset, why)
		}
	}
	v := compile(t, "openai", Secret{Value: "plain"})
	r = request(testBody, "webhook-id: m", "webhook-timestamp: 1760000000",
		"webhook-signature: v1,"+encodeDigest(mac("plain", "m.1760000000."+testBody), "base64"))
	if _, why := v.Verify(r, testNow); why != OK {
		t.Errorf("OpenAI reads text without whsec_: %s", why)
	}
}

func TestK05Rotation(t *testing.T) {
	end := testNow.Add(time.Hour)
	v := compile(t, "github", Secret{ID: "new", Value: "new"}, Secret{ID: "old", Value: "old", Until: end})
	for _, c := range []struct {
		secret string
		at     time.Time
		want   Reason
		id     string
	}{
		{"new", testNow, OK, "new"},
		{"old", testNow, OK, "old"},
		{"old", end, OK, "old"},
		{"old", end.Add(time.Second), SignatureMismatch, ""},
		{"new", end.Add(time.Second), OK, "new"},
	} {
		r := request(testBody, "X-Hub-Signature-256: sha256="+hexMAC(c.secret, testBody))
		got, why := v.Verify(r, c.at)
		if why != c.want || got.SecretID != c.id {
			t.Errorf("%s at %v: %q by %q, want %q by %q", c.secret, c.at, why, got.SecretID, c.want, c.id)
		}
	}
}

func TestK07BothReadings(t *testing.T) {
	v := compile(t, "standard-webhooks", Secret{ID: "decoded", Value: testSecret}, Secret{ID: "whole", Value: testSecret, Encoding: "utf8"})
	decoded, err := secretBase64(strings.TrimPrefix(testSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	for id, key := range map[string]string{"decoded": string(decoded), "whole": testSecret} {
		r := request(testBody, "webhook-id: m", "webhook-timestamp: 1760000000",
			"webhook-signature: v1,"+encodeDigest(mac(key, "m.1760000000."+testBody), "base64"))
		if got, why := v.Verify(r, testNow); why != OK || got.SecretID != id {
			t.Errorf("%s: %q by %q", id, why, got.SecretID)
		}
	}
}

func TestSchemeErrors(t *testing.T) {
	base := Scheme{
		Signature: Signature{Source: Source{Header: "X-Signature"}, Encoding: "hex"},
		Algorithm: "hmac-sha256", Message: "{body}",
	}
	for _, c := range []struct {
		name string
		over Scheme
		url  string
		want string
	}{
		{"algorithm", Scheme{Algorithm: "md5"}, "", `unknown "md5"`},
		{"reading", Scheme{SecretEncoding: "utf16"}, "", `unknown "utf16"`},
		{"two places", Scheme{Signature: Signature{Source: Source{Header: "A", Query: "b"}}}, "", "exactly one"},
		{"header name", Scheme{Signature: Signature{Source: Source{Header: "A b"}}}, "", "not a header name"},
		{"pointer", Scheme{Signature: Signature{Source: Source{JSON: "a.b"}}}, "", "begin with a slash"},
		{"pointer escape", Scheme{Signature: Signature{Source: Source{JSON: "/a~2"}}}, "", "~0"},
		{"format", Scheme{Signature: Signature{Format: "jwt"}}, "", `unknown format "jwt"`},
		{"encoding", Scheme{Signature: Signature{Encoding: "base32"}}, "", `unknown encoding "base32"`},
		{"prefix missing", Scheme{Signature: Signature{Format: "prefix"}}, "", "needs the prefix"},
		{"prefix on kv", Scheme{Signature: Signature{Format: "kv", Key: "v1", Prefix: "x"}}, "", "does not go with"},
		{"key missing", Scheme{Signature: Signature{Format: "tagged"}}, "", "needs the key"},
		{"key on raw", Scheme{Signature: Signature{Key: "v1"}}, "", "does not go with"},
		{"unit", Scheme{Timestamp: Timestamp{Unit: "weeks"}}, "", `unknown unit "weeks"`},
		{"unsigned timestamp", Scheme{Timestamp: Timestamp{Source: Source{Header: "T"}}}, "", "proves nothing"},
		{"timestamp in two places", Scheme{Timestamp: Timestamp{Source: Source{Header: "T"}, Key: "t"}}, "", "want one of them"},
		{"key of timestamp on raw", Scheme{Timestamp: Timestamp{Key: "t"}, Message: "{timestamp}"}, "", "format kv"},
		{"message without timestamp", Scheme{Message: "{timestamp}.{body}"}, "", "no timestamp"},
		{"message without id", Scheme{Message: "{id}.{body}"}, "", "no id"},
		{"unknown part", Scheme{Message: "{bodi}"}, "", "unknown part {bodi}"},
		{"open brace", Scheme{Message: "{body"}, "", "without its partner"},
		{"close brace", Scheme{Message: "body}"}, "", "without its partner"},
		{"constant message", Scheme{Message: "hello"}, "", "covers nothing"},
		{"long message", Scheme{Message: strings.Repeat("{body}.", 20)}, "", "more than 16 parts"},
		{"URL missing", Scheme{Message: "{url}{body}"}, "", "set public_url"},
		{"URL not whole", Scheme{Message: "{url}{body}"}, "/hooks", "whole URL"},
		{"pattern of nothing", Scheme{Patterns: map[string]string{"id": "x"}}, "", "no part {id}"},
		{"pattern", Scheme{Message: "{header:A}{body}", Patterns: map[string]string{"header:A": "("}}, "", "pattern of {header:A}"},
		{"static with message", Scheme{Algorithm: "static", Message: "{body}"}, "", "signs nothing"},
		{"nested", Scheme{Alternatives: []Scheme{{Alternatives: []Scheme{{}}}}}, "", "cannot have alternatives"},
		{"alternative", Scheme{Alternatives: []Scheme{{Algorithm: "md5"}}}, "", "alternative 1: algorithm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := base.Override(c.over)
			_, err := s.Compile([]Secret{{Value: canary}}, Options{PublicURL: c.url})
			wantError(t, err, c.want)
		})
	}
	if _, err := base.Compile([]Secret{{Value: "x"}}, Options{}); err != nil {
		t.Errorf("the base of these cases: %v", err)
	}
}
