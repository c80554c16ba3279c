// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/base64"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	gitlabSigning = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	publicKey     = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="
)

func TestGitLabNoDowngrade(t *testing.T) {
	sign := compile(t, "gitlab", Secret{Value: gitlabSigning})
	token := compile(t, "gitlab", Secret{Value: "token"})
	both := compile(t, "gitlab", Secret{Value: "token"}, Secret{Value: gitlabSigning})
	good := request(testBody, "X-Gitlab-Token: token", "Idempotency-Key: k1")
	if err := sign.Sign(good, testNow, SignOptions{ID: "k1"}); err != nil {
		t.Fatal(err)
	}
	bad := request(testBody, "X-Gitlab-Token: token")
	bad.Header = good.Header.Clone()
	bad.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(make([]byte, 32)))
	tokenOnly := request(testBody, "X-Gitlab-Token: token", "Idempotency-Key: k1")
	for _, c := range []struct {
		name string
		v    *Verifier
		r    *Request
		want Reason
	}{
		{"signing, good", sign, good, OK},
		{"signing, bad signature and good token", sign, bad, SignatureMismatch},
		{"signing, token alone", sign, tokenOnly, SignatureMissing},
		{"both, good", both, good, OK},
		{"both, bad signature and good token", both, bad, SignatureMismatch},
		{"both, token alone", both, tokenOnly, SignatureMissing},
		{"token, token alone", token, tokenOnly, OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := c.v.Verify(c.r, testNow)
			if why != c.want {
				t.Fatalf("%q, want %q", why, c.want)
			}
			if why == OK && (got.ID != "k1" || got.SignedID != (c.v != token)) {
				t.Errorf("ID %q, signed %v", got.ID, got.SignedID)
			}
		})
	}
	if got := sign.LooksFor(); !slices.Equal(got, []string{"header:webhook-signature"}) {
		t.Errorf("looks for %q", got)
	}
}

// The key decides the algorithm: a label alone never does.
func TestKeyDecidesAlgorithm(t *testing.T) {
	private := "whsk_" + base64.StdEncoding.EncodeToString([]byte("thirty-two bytes make up a seed!"))
	both := compile(t, "standard-webhooks", Secret{ID: "hmac", Value: testSecret}, Secret{ID: "ed", Value: private})
	for _, id := range []string{"hmac", "ed"} {
		r := request(testBody)
		if err := both.Sign(r, testNow, SignOptions{SecretID: id}); err != nil {
			t.Fatal(err)
		}
		if got, why := both.Verify(r, testNow); why != OK || got.SecretID != id {
			t.Errorf("%s: %q by %q", id, why, got.SecretID)
		}
		label, value, _ := strings.Cut(r.Header.Get("webhook-signature"), ",")
		other := map[string]string{"v1": "v1a", "v1a": "v1"}[label]
		r.Header.Set("webhook-signature", other+","+value)
		if _, why := both.Verify(r, testNow); why != SignatureMalformed {
			t.Errorf("%s signature with label %s: %q", id, other, why)
		}
	}
	// An HMAC made with the text of the public key, which everybody knows.
	v := compile(t, "standard-webhooks", Secret{Value: publicKey})
	raw, err := secretBase64(strings.TrimPrefix(publicKey, "whpk_"))
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{publicKey, string(raw)} {
		for _, label := range []string{"v1", "v1a"} {
			digest := base64.StdEncoding.EncodeToString(mac(key, "m.1760000000."+testBody))
			r := request(testBody, "webhook-id: m", "webhook-timestamp: 1760000000", "webhook-signature: "+label+","+digest)
			if _, why := v.Verify(r, testNow); why == OK {
				t.Errorf("label %s: accepted an HMAC made with the public key", label)
			}
		}
	}
}

// A complete header family is verified, and the ID comes from that one.
func TestHeaderFamilies(t *testing.T) {
	v := compile(t, "svix", Secret{Value: testSecret})
	svix := request(testBody)
	if err := v.Sign(svix, testNow, SignOptions{ID: "msg_svix"}); err != nil {
		t.Fatal(err)
	}
	webhook := request(testBody)
	if err := compile(t, "standard-webhooks", Secret{Value: testSecret}).Sign(webhook, testNow, SignOptions{ID: "msg_webhook"}); err != nil {
		t.Fatal(err)
	}
	join := func(headers ...http.Header) *Request {
		r := request(testBody)
		for _, h := range headers {
			for name, values := range h {
				r.Header[name] = values
			}
		}
		return r
	}
	without := func(h http.Header, name string) http.Header {
		h = h.Clone()
		h.Del(name)
		return h
	}
	for _, c := range []struct {
		name string
		r    *Request
		want Reason
		id   string
	}{
		{"svix", join(svix.Header), OK, "msg_svix"},
		{"webhook", join(webhook.Header), OK, "msg_webhook"},
		{"both", join(svix.Header, webhook.Header), OK, "msg_svix"},
		{"svix without id, webhook", join(without(svix.Header, "svix-id"), webhook.Header), OK, "msg_webhook"},
		{"svix without id", join(without(svix.Header, "svix-id")), SignatureMalformed, ""},
		{"svix without timestamp", join(without(svix.Header, "svix-timestamp")), TimestampMissing, ""},
		{"webhook without timestamp", join(without(webhook.Header, "webhook-timestamp")), TimestampMissing, ""},
		{"nothing", join(), SignatureMissing, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, why := v.Verify(c.r, testNow)
			if why != c.want || got.ID != c.id {
				t.Errorf("%q with ID %q, want %q with %q", why, got.ID, c.want, c.id)
			}
			if why := v.HeadersPlausible(c.r, testNow); why != c.want {
				t.Errorf("headers: %q", why)
			}
		})
	}
	// A bad signature in the complete first family is not rescued by the second.
	r := join(svix.Header, webhook.Header)
	r.Header.Set("svix-id", "other")
	if _, why := v.Verify(r, testNow); why != SignatureMismatch {
		t.Errorf("second family rescued the first: %q", why)
	}
}

func TestOverride(t *testing.T) {
	svix, err := LookupPreset("svix")
	if err != nil {
		t.Fatal(err)
	}
	minute := Timestamp{Tolerance: Duration(time.Minute)}
	merged := svix.Scheme.Override(Scheme{Timestamp: minute})
	if len(merged.Alternatives) != 3 || merged.Timestamp.Header != "svix-timestamp" {
		t.Fatalf("a tolerance changed more than that: %+v", merged)
	}
	v, err := merged.Compile([]Secret{{Value: testSecret}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := request(testBody)
	if err := compile(t, "standard-webhooks", Secret{Value: testSecret}).Sign(r, testNow, SignOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, why := v.Verify(r, testNow.Add(61*time.Second)); why != TimestampStale {
		t.Errorf("the tolerance did not reach the alternatives: %q", why)
	}
	own := svix.Scheme.Override(Scheme{Signature: Signature{Source: Source{Header: "Acme-Signature"}}})
	if own.Alternatives != nil || own.Signature.Format != "tagged" || own.Signature.Header != "Acme-Signature" {
		t.Errorf("an own signature header gave %+v", own)
	}
	raw := svix.Scheme.Override(Scheme{Signature: Signature{Format: "raw"}})
	if raw.Signature.Key != "" || raw.Signature.Encoding != "base64" {
		t.Errorf("another format kept the key: %+v", raw.Signature)
	}
	gitlab, err := LookupPreset("gitlab")
	if err != nil {
		t.Fatal(err)
	}
	if kept := gitlab.Scheme.Override(Scheme{Timestamp: minute}); !kept.Weak || len(kept.Alternatives) != 1 {
		t.Errorf("a tolerance made the weak scheme strong: %+v", kept)
	}
	token := svix.Scheme.Override(Scheme{Algorithm: "static", Signature: Signature{Source: Source{Header: "X-Token"}, Format: "raw"}})
	if _, err := token.Compile([]Secret{{Value: testSecret}}, Options{}); err != nil {
		t.Errorf("static over a signed scheme: %v", err)
	}
	pinned := Scheme{RequireHeaders: map[string]string{"A": "1"}}
	if again := pinned.Override(Scheme{RequireHeaders: map[string]string{"B": "2"}}); len(again.RequireHeaders) != 2 || len(pinned.RequireHeaders) != 1 {
		t.Errorf("maps were not merged by copy: %v, %v", again.RequireHeaders, pinned.RequireHeaders)
	}
}
