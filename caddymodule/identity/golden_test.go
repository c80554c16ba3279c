// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

// goldenKeys are made by configurations without fingerprint rules.
func goldenKeys(t *testing.T) map[string]Keys {
	json, header := signed(t, "json /id"), unsigned(t, "header X-Id")
	req := request(`{"id":"evt_1","n":7,"x":[1.0]}`, "X-Id", "d1", "X-Nonce", "n1")
	out := map[string]Keys{}
	for name, cfg := range map[string]Config{
		"fallback":    {},
		"signed":      {EventID: []Candidate{json}, Provider: "p", Endpoint: "e"},
		"unsigned":    {DeliveryID: []Candidate{header}},
		"composite":   {DeliveryID: []Candidate{signed(t, "json /id + json /n")}},
		"all of them": {Action: []Candidate{json}, EventID: []Candidate{json}, DeliveryID: []Candidate{header}, Nonce: []Candidate{signed(t, "header X-Nonce")}, SameBodyCheck: true},
	} {
		out[name] = newDeriver(t, cfg).Derive(req)
	}
	return out
}

// TestGoldenKeys: keys are what stores hold. If one changes, every delivery that
// is remembered is forgotten.
func TestGoldenKeys(t *testing.T) {
	var want map[string][]string
	readGolden(t, "testdata/keys.json", &want)
	got := goldenKeys(t)
	if len(got) != len(want) {
		t.Errorf("%d cases, want %d", len(got), len(want))
	}
	for name, k := range got {
		if len(k.Aliases) != len(want[name]) {
			t.Errorf("%s: %d keys, want %d", name, len(k.Aliases), len(want[name]))
			continue
		}
		for i, a := range k.Aliases {
			if text := string(a.Kind) + " " + hex.EncodeToString(a.Key[:]); text != want[name][i] {
				t.Errorf("%s: got %s, want %s", name, text, want[name][i])
			}
		}
	}
}

func readGolden(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// goldenDigest is one body and its digest under rules, for the source "test".
type goldenDigest struct {
	Name       string           `json:"name"`
	Rules      FingerprintRules `json:"rules"`
	Body       string           `json:"body,omitempty"`
	BodyBase64 []byte           `json:"body_base64,omitempty"`
	Digest     string           `json:"digest"`
}

// TestGoldenDigests: digests are part of keys and are stored. Another digest
// needs another canonPrefix.
func TestGoldenDigests(t *testing.T) {
	var all []goldenDigest
	readGolden(t, "testdata/wcf1.json", &all)
	seen := map[string]string{}
	for _, c := range all {
		body := c.Body + string(c.BodyBase64)
		got := digestOf(t, c.Rules, body)
		if hex.EncodeToString([]byte(got)) != c.Digest {
			t.Errorf("%s: got %x, want %s", c.Name, got, c.Digest)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%s and %s are equal", c.Name, other)
		}
		seen[got] = c.Name
	}
	if len(all) < 13 {
		t.Errorf("only %d cases", len(all))
	}
}

// TestEncodingByHand spells out the format once: every tag, length and count.
func TestEncodingByHand(t *testing.T) {
	rules := FingerprintRules{Time: []string{"/t"}, Unordered: []string{"/u"}}
	const body = `{"u":["b","a"],"t":1790000000,"n":-12.50,"l":[null,true,false],"s":"x"}`
	ruleText := "\x010" + "\x010" + "\x011" + "\x02/t" + "\x011" + "\x02/u"
	ruleHash := sha256.Sum256([]byte(ruleText))
	want := sha256.Sum256([]byte("\x04wcf1" + "\x04test" + "\x20" + string(ruleHash[:]) +
		"{\x00\x00\x00\x05" +
		"\x01l[\x00\x00\x00\x03ztf" +
		"\x01nn-\x01\x03125" + // 125 · 10^-1, the exponent in zigzag
		"\x01ss\x01x" +
		"\x01tT+\x0e\x03179" +
		"\x01u(\x00\x00\x00\x02s\x01as\x01b"))
	if got := digestOf(t, rules, body); got != string(want[:]) {
		t.Errorf("got %x, want %x", got, want)
	}
}
