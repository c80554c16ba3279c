// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"net/http"
	"net/url"
	"testing"
)

// Schemes of senders that have no preset, and parts that few presets use.
func TestPlaces(t *testing.T) {
	base := Scheme{Signature: Signature{Encoding: "hex"}, Algorithm: "hmac-sha256", Message: "{body}"}
	list := Scheme{
		Signature: Signature{Source: Source{Header: "X-Sig"}, Format: "list"},
		Message:   "{timestamp}.{body}", Timestamp: Timestamp{Key: "0", Unit: "ms"},
	}
	sig := Source{Header: "X-Sig"}
	form := url.Values{"payload": {testBody}, "sig": {hexMAC("s", testBody)}}.Encode()
	const formHeader = "Content-Type: application/x-www-form-urlencoded; charset=utf-8"
	inJSON := `{"event":{"time":"17","type":"a\u0062"},"hash":"` + hexMAC("s", "17ab") + `"}`
	for _, c := range []struct {
		name  string
		over  Scheme
		query string
		r     *Request
		want  Reason
	}{
		{"query", Scheme{Signature: Signature{Source: Source{Query: "signature"}}}, "signature=" + hexMAC("s", testBody), request(testBody), OK},
		{"query twice", Scheme{Signature: Signature{Source: Source{Query: "signature"}}}, "signature=a&signature=" + hexMAC("s", testBody), request(testBody), SignatureMalformed},
		{"query, none", Scheme{Signature: Signature{Source: Source{Query: "signature"}}}, "", request(testBody), SignatureMissing},
		{"query, broken", Scheme{Signature: Signature{Source: Source{Query: "signature"}}}, "a;b=%zz", request(testBody), SignatureMissing},
		{"json", Scheme{Signature: Signature{Source: Source{JSON: "/hash"}}, Message: "{json:/event/time}{json:/event/type}"}, "", request(inJSON), OK},
		{"json, part missing", Scheme{Signature: Signature{Source: Source{JSON: "/hash"}}, Message: "{json:/event/time}{json:/event/no}"}, "", request(inJSON), SignatureMalformed},
		{"form", Scheme{Signature: Signature{Source: Source{Form: "sig"}}, Message: "{form:payload}"}, "", request(form, formHeader), OK},
		{"form, field twice", Scheme{Signature: Signature{Source: Source{Form: "sig"}}, Message: "{form:payload}"}, "", request(form+"&payload=x", formHeader), SignatureMalformed},
		{"form, other type", Scheme{Signature: Signature{Source: Source{Form: "sig"}}, Message: "{form:payload}"}, "", request(form, "Content-Type: text/plain"), SignatureMissing},
		{"list", list, "", request(testBody, "X-Sig: 1760000000001,"+hexMAC("s", "x")+","+hexMAC("s", "1760000000001."+testBody)), OK},
		{"list, no signature", list, "", request(testBody, "X-Sig: 1760000000001"), SignatureMissing},
		{"list, no time", list, "", request(testBody, "X-Sig: "+hexMAC("s", "x")+","+hexMAC("s", "x")), TimestampMalformed},
		{"method and query in the message", Scheme{Signature: Signature{Source: sig}, Message: "{method} {query:a}{{}}{body}"}, "a=x%20y", request(testBody, "X-Sig: "+hexMAC("s", "POST x y{}"+testBody)), OK},
		{"method as a Caddyfile writes it", Scheme{Signature: Signature{Source: sig}, Message: "{http.request.method}{body}"}, "", request(testBody, "X-Sig: "+hexMAC("s", "POST"+testBody)), OK},
		{"header in the message", Scheme{Signature: Signature{Source: sig}, Message: "{header:x-a}{body}"}, "", request(testBody, "X-A: 1", "X-Sig: "+hexMAC("s", "1"+testBody)), OK},
		{"body twice", Scheme{Signature: Signature{Source: sig}, Message: "{body}-{body}"}, "", request("ab", "X-Sig: "+hexMAC("s", "ab-ab")), OK},
		{"URL", Scheme{Signature: Signature{Source: sig}, Message: "{url}{body}"}, "", request(testBody, "X-Sig: "+hexMAC("s", testURL+testBody)), OK},
		{"pinned", Scheme{Signature: Signature{Source: sig}, RequireHeaders: map[string]string{"x-version": "1"}}, "", request(testBody, "X-Version: 1", "X-Sig: "+hexMAC("s", testBody)), OK},
		{"pinned, other version", Scheme{Signature: Signature{Source: sig}, RequireHeaders: map[string]string{"x-version": "1"}}, "", request(testBody, "X-Version: 2", "X-Sig: "+hexMAC("s", testBody)), SignatureMalformed},
		{"pinned, twice", Scheme{Signature: Signature{Source: sig}, RequireHeaders: map[string]string{"x-version": "1"}}, "", request(testBody, "X-Version: 1", "X-Version: 1", "X-Sig: "+hexMAC("s", testBody)), SignatureMalformed},
		{"bearer token", Scheme{Algorithm: "static", Signature: Signature{Source: Source{Header: "Authorization"}, Prefix: "Bearer "}}, "", request(testBody, "Authorization: Bearer s"), OK},
		{"bearer token, no scheme", Scheme{Algorithm: "static", Signature: Signature{Source: Source{Header: "Authorization"}, Prefix: "Bearer "}}, "", request(testBody, "Authorization: s"), SignatureMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := base.Override(c.over)
			v, err := s.Compile([]Secret{{Value: "s"}}, Options{PublicURL: testURL})
			if err != nil {
				t.Fatal(err)
			}
			c.r.RawQuery = c.query
			if _, why := v.Verify(c.r, testNow); why != c.want {
				t.Errorf("%q, want %q", why, c.want)
			}
			if why := v.HeadersPlausible(c.r, testNow); c.want == OK && why != OK {
				t.Errorf("headers: %q", why)
			}
		})
	}
}

func TestGiteaGET(t *testing.T) {
	v := compile(t, "gitea", Secret{Value: "s"})
	r := request("", "X-Gitea-Signature: "+hexMAC("s", testBody))
	r.Method, r.RawQuery = http.MethodGet, url.Values{"payload": {testBody}}.Encode()
	got, why := v.Verify(r, testNow)
	if why != OK || got.Covers.Body || !got.Covers.Signed(Source{Query: "payload"}) {
		t.Errorf("%q, covers %+v", why, got.Covers)
	}
	r = request("", "X-Gitea-Signature: "+hexMAC("s", ""))
	r.Method = http.MethodGet
	if _, why := v.Verify(r, testNow); why != SignatureMalformed {
		t.Errorf("GET without a payload: %q", why)
	}
}

func TestCoverage(t *testing.T) {
	for _, c := range []struct {
		preset string
		source Source
		want   bool
	}{
		{"github", Source{Header: "X-GitHub-Delivery"}, false},
		{"github", Source{JSON: "/id"}, true},
		{"twitch", Source{Header: "twitch-eventsub-message-id"}, true},
		{"standard-webhooks", Source{Header: "Webhook-Id"}, true},
		{"standard-webhooks", Source{Header: "Webhook-Other"}, false},
		{"xquik", Source{Header: "X-Xquik-Nonce"}, true},
		{"slack", Source{Form: "trigger_id"}, true},
		{"slack", Source{Query: "a"}, false},
		{"gitlab", Source{JSON: "/id"}, false},
		{"linear", Source{Header: "Linear-Delivery"}, false},
	} {
		p, err := LookupPreset(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		covers := p.Scheme.Covers()
		if got := covers.Signed(c.source); got != c.want {
			t.Errorf("%s covers %s: %v", c.preset, c.source, got)
		}
	}
	if (*Coverage)(nil).Signed(Source{JSON: "/id"}) {
		t.Error("a nil coverage covers something")
	}
}
