// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"bytes"
	"net/http"
	"testing"
	"time"
)

// BenchmarkVerify measures the verification of a JSON body of 2 KiB with one
// secret, per provider. HMAC schemes must stay below 5 µs.
func BenchmarkVerify(b *testing.B) {
	now := time.Unix(1760000000, 0)
	for name, secret := range map[string]string{
		"github": "secret", "stripe": "whsec_secret", "slack": "secret", "linear": "secret", "gitea": "secret",
		"standard-webhooks": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "twitch": "secret", "xquik": "secret",
		"generic-hmac-sha512-base64-timestamp": "secret", "gitlab": "token", "discord": "",
	} {
		b.Run(name, func(b *testing.B) {
			p, v, o := signable(b, name, secret)
			r := &Request{Method: http.MethodPost, Header: http.Header{"Content-Type": {"application/json"}}, Body: body2KiB()}
			if err := v.Sign(r, now, o); err != nil {
				b.Fatal(p.Name, err)
			}
			b.SetBytes(int64(len(r.Body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, why := v.Verify(r, now); why != OK {
					b.Fatal(why)
				}
			}
		})
	}
}

// BenchmarkHeadersPlausible measures what a forged delivery costs before its
// body is read.
func BenchmarkHeadersPlausible(b *testing.B) {
	now := time.Unix(1760000000, 0)
	for _, name := range []string{"github", "stripe", "standard-webhooks"} {
		b.Run(name, func(b *testing.B) {
			_, v, o := signable(b, name, "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
			r := &Request{Method: http.MethodPost, Header: http.Header{}, Body: body2KiB()}
			if err := v.Sign(r, now, o); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if why := v.HeadersPlausible(r, now); why != OK {
					b.Fatal(why)
				}
			}
		})
	}
}

func body2KiB() []byte {
	head, tail := []byte(`{"id":"evt_1","webhookTimestamp":1760000000000,"pad":"`), []byte(`"}`)
	pad := bytes.Repeat([]byte("x"), 2048-len(head)-len(tail))
	return append(append(head, pad...), tail...)
}
