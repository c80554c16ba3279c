// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"encoding/json"
	"testing"
	"time"
)

// trial is one entry of testdata/requests.json.
type trial struct {
	ID     string
	Secret json.RawMessage
	Config struct {
		Provider          string
		NotificationURL   string `json:"notification_url"`
		SecretFileContent string `json:"secret_file_content"`
		ToleranceS        int64  `json:"tolerance_s"`
	}
	Requests []struct {
		Method     string
		Path       string
		At         int64
		Headers    map[string]string
		Body       string
		BodyBase64 string `json:"body_base64"`
		Valid      bool   `json:"signature_valid"`
	}
}

func (c *trial) secret(t *testing.T) string {
	t.Helper()
	if c.Config.SecretFileContent != "" {
		return c.Config.SecretFileContent
	}
	var text string
	if json.Unmarshal(c.Secret, &text) == nil {
		return text
	}
	var key struct {
		Ed25519 string `json:"ed25519_public_key_hex"`
	}
	if err := json.Unmarshal(c.Secret, &key); err != nil || key.Ed25519 == "" {
		t.Fatalf("%v: no secret in %s", err, c.Secret)
	}
	return key.Ed25519
}

// The exact requests of the trial cases, as far as their provider has a preset.
func TestTrialRequests(t *testing.T) {
	var cases []trial
	readJSON(t, "../../testdata/requests.json", &cases)
	// T-06: the signature of the second request is right, its signed time is not.
	stale := map[string]int{"T-06": 1}
	ran := 0
	for _, c := range cases {
		p, err := LookupPreset(c.Config.Provider)
		if err != nil {
			continue
		}
		ran++
		t.Run(c.ID, func(t *testing.T) {
			scheme := p.Scheme.Override(Scheme{Timestamp: Timestamp{Tolerance: Duration(time.Duration(c.Config.ToleranceS) * time.Second)}})
			v, err := scheme.Compile([]Secret{{Value: c.secret(t)}}, Options{PublicURL: c.Config.NotificationURL})
			if err != nil {
				t.Fatal(err)
			}
			for i, q := range c.Requests {
				r := newRequest(t, q.Method, q.Path, q.Headers, q.Body, q.BodyBase64)
				_, why := v.Verify(r, time.Unix(q.At, 0))
				if at, ok := stale[c.ID]; ok && at == i {
					if why != TimestampStale {
						t.Errorf("request %d: %q, want %q", i+1, why, TimestampStale)
					}
				} else if (why == OK) != q.Valid {
					t.Errorf("request %d: %q, valid should be %v", i+1, why, q.Valid)
				}
			}
		})
	}
	if ran < 24 {
		t.Errorf("only %d cases ran", ran)
	}
}
