// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"
)

const (
	testSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	testBody   = `{"id":"evt_1","type":"ping"}`
)

var testNow = time.Unix(1760000000, 0)

// mac is written without the code under test.
func mac(secret, message string) []byte {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write([]byte(message))
	return h.Sum(nil)
}

func hexMAC(secret, message string) string { return hex.EncodeToString(mac(secret, message)) }

func compile(t testing.TB, name string, secrets ...Secret) *Verifier {
	t.Helper()
	p, err := LookupPreset(name)
	if err != nil {
		t.Fatal(err)
	}
	v, err := p.Scheme.Compile(secrets, Options{PublicURL: testURL})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// request takes header lines as "Name: value"; a name may come twice.
func request(body string, lines ...string) *Request {
	r := &Request{Method: http.MethodPost, Header: http.Header{}, Body: []byte(body)}
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	return r
}

// ruleCase is one delivery to a preset and the reason that must come out, from
// the whole check and, where headers tells, from the headers alone.
type ruleCase struct {
	name, preset, body string
	lines              []string
	want               Reason
	headers            Reason
}

func TestRules(t *testing.T) {
	good := hexMAC(testSecret, "1760000000."+testBody)
	bad := strings.Repeat("00", 32)
	github := hexMAC(testSecret, testBody)
	b64 := base64.StdEncoding.EncodeToString(mac(testSecret, testBody))
	url64 := base64.URLEncoding.EncodeToString(mac(testSecret, testBody))
	h1 := hmac.New(sha1.New, []byte(testSecret))
	h1.Write([]byte(testBody))
	const sig = "Stripe-Signature: "
	cases := []ruleCase{
		{"S-01 blanks after commas", "stripe", testBody, []string{sig + "t=1760000000, v1=" + good + " , v0=66"}, OK, OK},
		{"S-02 good one last", "stripe", testBody, []string{sig + "t=1760000000,v1=" + bad + ",v1=" + good}, OK, OK},
		{"S-02 good one first", "stripe", testBody, []string{sig + "t=1760000000,v1=" + good + ",v1=" + bad}, OK, OK},
		{"S-02 both wrong", "stripe", testBody, []string{sig + "t=1760000000,v1=" + bad + ",v1=" + bad}, SignatureMismatch, OK},
		{"S-04 two header lines", "stripe", testBody, []string{sig + "t=1760000000,v1=" + bad, sig + "t=1760000000,v1=" + good}, SignatureMalformed, SignatureMalformed},
		{"S-04 two equal lines", "stripe", testBody, []string{sig + "t=1760000000,v1=" + good, sig + "t=1760000000,v1=" + good}, SignatureMalformed, SignatureMalformed},
		{"S-07 no prefix", "github", testBody, []string{"X-Hub-Signature-256: " + github}, SignatureMalformed, SignatureMalformed},
		{"S-07 prefix on bare hex", "gitea", testBody, []string{"X-Gitea-Signature: sha256=" + github}, SignatureMalformed, SignatureMalformed},
		{"S-07 prefix in capitals", "github", testBody, []string{"X-Hub-Signature-256: SHA256=" + github}, SignatureMalformed, SignatureMalformed},
		{"S-07 hex in capitals", "github", testBody, []string{"X-Hub-Signature-256: sha256=" + strings.ToUpper(github)}, OK, OK},
		{"S-09 padded", "shopify", testBody, []string{"X-Shopify-Hmac-Sha256: " + b64}, OK, OK},
		{"S-09 unpadded", "shopify", testBody, []string{"X-Shopify-Hmac-Sha256: " + strings.TrimRight(b64, "=")}, OK, OK},
		{"S-09 base64url", "shopify", testBody, []string{"X-Shopify-Hmac-Sha256: " + url64}, SignatureMalformed, SignatureMalformed},
		{"S-09 hex", "shopify", testBody, []string{"X-Shopify-Hmac-Sha256: " + github}, SignatureMalformed, SignatureMalformed},
		{"S-09 cut short", "github", testBody, []string{"X-Hub-Signature-256: sha256=" + github[:32]}, SignatureMalformed, SignatureMalformed},
		{"S-10 sha1 right, sha256 wrong", "github", testBody, []string{"X-Hub-Signature: sha1=" + hex.EncodeToString(h1.Sum(nil)), "X-Hub-Signature-256: sha256=" + bad}, SignatureMismatch, OK},
		{"S-10 sha1 alone", "github", testBody, []string{"X-Hub-Signature: sha1=" + hex.EncodeToString(h1.Sum(nil))}, SignatureMissing, SignatureMissing},
		{"S-12 word", "stripe", testBody, []string{sig + "test"}, SignatureMalformed, SignatureMalformed},
		{"S-12 empty values", "stripe", testBody, []string{sig + "t=,v1="}, SignatureMalformed, SignatureMalformed},
		{"S-12 junk in t", "stripe", testBody, []string{sig + "t=123=junk,v1=" + good}, TimestampMalformed, TimestampMalformed},
		{"S-12 commas", "stripe", testBody, []string{sig + ",,,,"}, SignatureMissing, SignatureMissing},
		{"S-12 64 KiB of v1=", "stripe", testBody, []string{sig + "t=1760000000" + strings.Repeat(",v1=", 16<<10)}, SignatureMalformed, SignatureMalformed},
		{"S-12 too many", "stripe", testBody, []string{sig + "t=1760000000" + strings.Repeat(",v1=ab", 17) + ",v1=" + good}, SignatureMalformed, SignatureMalformed},
		{"S-12 no hex", "stripe", testBody, []string{sig + "t=1760000000,v1=zz"}, SignatureMalformed, SignatureMalformed},
		{"S-12 two times", "stripe", testBody, []string{sig + "t=1760000000,t=1760000000,v1=" + good}, TimestampMalformed, TimestampMalformed},
		{"S-13 no header", "stripe", testBody, nil, SignatureMissing, SignatureMissing},
		{"S-13 empty header", "gitea", testBody, []string{"X-Gitea-Signature: "}, SignatureMissing, SignatureMissing},
		{"S-13 empty digest", "github", testBody, []string{"X-Hub-Signature-256: sha256="}, SignatureMalformed, SignatureMalformed},
		{"S-14 token of another length", "gitlab-token", testBody, []string{"X-Gitlab-Token: t"}, SignatureMismatch, OK},
		{"S-14 token with a tail", "gitlab-token", testBody, []string{"X-Gitlab-Token: tokentoken"}, SignatureMismatch, OK},
		{"S-14 token", "gitlab-token", testBody, []string{"X-Gitlab-Token: token"}, OK, OK},
		{"S-14 empty token", "gitlab-token", testBody, []string{"X-Gitlab-Token: "}, SignatureMissing, SignatureMissing},
		{"B-01 emoji", "github", "{\"m\":\"ship 🎉 ü\"}", []string{"X-Hub-Signature-256: sha256=" + hexMAC(testSecret, "{\"m\":\"ship 🎉 ü\"}")}, OK, OK},
		{"B-02 escapes", "github", `{ "z":"\u001B\/\u0040","a":[ ]}` + "\n", []string{"X-Hub-Signature-256: sha256=" + hexMAC(testSecret, `{ "z":"\u001B\/\u0040","a":[ ]}`+"\n")}, OK, OK},
		{"B-04 byte-order mark", "github", "\xEF\xBB\xBF{}", []string{"X-Hub-Signature-256: sha256=" + hexMAC(testSecret, "\xEF\xBB\xBF{}")}, OK, OK},
		{"B-11 empty body", "github", "", []string{"X-Hub-Signature-256: sha256=" + hexMAC(testSecret, "")}, OK, OK},
		{"B-11 empty body, wrong", "github", "", []string{"X-Hub-Signature-256: sha256=" + bad}, SignatureMismatch, OK},
		{"I-22 ID is the word null", "github", testBody, []string{"X-GitHub-Delivery: null", "X-Hub-Signature-256: sha256=" + github}, OK, OK},
		{"no timestamp", "stripe", testBody, []string{sig + "v1=" + good}, TimestampMissing, TimestampMissing},
		{"no timestamp header", "slack", testBody, []string{"X-Slack-Signature: v0=" + good}, TimestampMissing, TimestampMissing},
		{"timestamp header twice", "slack", testBody, []string{"X-Slack-Signature: v0=" + good, "X-Slack-Request-Timestamp: 1760000000", "X-Slack-Request-Timestamp: 1"}, SignatureMalformed, SignatureMalformed},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.run(t) })
	}
}

func (c *ruleCase) run(t *testing.T) {
	preset, secret := c.preset, testSecret
	if preset == "gitlab-token" {
		preset, secret = "gitlab", "token"
	}
	v := compile(t, preset, Secret{Value: secret})
	r := request(c.body, c.lines...)
	if _, why := v.Verify(r, testNow); why != c.want {
		t.Errorf("%q, want %q", why, c.want)
	}
	r.Body = nil
	if why := v.HeadersPlausible(r, testNow); why != c.headers {
		t.Errorf("headers: %q, want %q", why, c.headers)
	}
}

func TestS05SpaceSeparatedList(t *testing.T) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(testSecret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	good := base64.StdEncoding.EncodeToString(mac(string(key), "msg_1.1760000000."+testBody))
	bad := base64.StdEncoding.EncodeToString(make([]byte, 32))
	v := compile(t, "standard-webhooks", Secret{Value: testSecret})
	for signatures, want := range map[string]Reason{
		"v1," + bad + " v1," + good + " v2," + bad:                   OK,
		"v1a," + base64.StdEncoding.EncodeToString(make([]byte, 64)): SignatureMissing,
		"v1," + bad: SignatureMismatch,
		good:        SignatureMissing,
		"v1":        SignatureMissing,
		"v1,":       SignatureMalformed,
	} {
		r := request(testBody, "webhook-id: msg_1", "webhook-timestamp: 1760000000", "webhook-signature: "+signatures)
		if _, why := v.Verify(r, testNow); why != want {
			t.Errorf("%s: %q, want %q", signatures, why, want)
		}
	}
}

func TestPartPatterns(t *testing.T) {
	for _, c := range []struct {
		name, preset, message string
		lines                 []string
		want                  Reason
	}{
		{"xquik nonce in capitals", "xquik", "1760000000000.00112233445566778899AABBCCDDEEFF." + testBody, []string{"X-Xquik-Timestamp: 1760000000000", "X-Xquik-Nonce: 00112233445566778899AABBCCDDEEFF"}, SignatureMalformed},
		{"xquik nonce twice", "xquik", "1760000000000.00112233445566778899aabbccddeeff." + testBody, []string{"X-Xquik-Timestamp: 1760000000000", "X-Xquik-Nonce: 00112233445566778899aabbccddeeff", "X-Xquik-Nonce: 00112233445566778899aabbccddeeff"}, SignatureMalformed},
		{"xquik nonce", "xquik", "1760000000000.00112233445566778899aabbccddeeff." + testBody, []string{"X-Xquik-Timestamp: 1760000000000", "X-Xquik-Nonce: 00112233445566778899aabbccddeeff"}, OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := compile(t, c.preset, Secret{Value: testSecret})
			r := request(testBody, append(c.lines, "X-Xquik-Signature: sha256="+hexMAC(testSecret, c.message))...)
			if why := v.HeadersPlausible(r, testNow); why != c.want {
				t.Errorf("headers: %q, want %q", why, c.want)
			}
			if _, why := v.Verify(r, testNow); why != c.want {
				t.Errorf("%q, want %q", why, c.want)
			}
		})
	}
}
