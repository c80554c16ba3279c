// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

// parsed is a delivery as net/http understands it.
func parsed(t *testing.T, raw []byte) (*http.Request, []byte) {
	t.Helper()
	r := bufio.NewReader(bytes.NewReader(raw))
	req, err := http.ReadRequest(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil || !json.Valid(body) {
		t.Fatalf("body %q: %v", body, err)
	}
	if rest, _ := io.ReadAll(r); len(rest) > 0 {
		t.Fatalf("%d bytes behind the body", len(rest))
	}
	return req, body
}

func sign(secret, message string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(message))
	return hex.EncodeToString(mac.Sum(nil))
}

func TestGitHubDeliveries(t *testing.T) {
	w := newWriter(schemes["github"], "s3cret", "127.0.0.1:1", 2048, time.Now())
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`)
	ids, bodies := map[string]bool{}, map[string]bool{}
	seqs := []uint64{0, 1, 0xffff, 0x10000, 1 << 32, 0xdeadbeefcafebabe}
	for _, seq := range seqs {
		req, body := parsed(t, w.delivery(seq))
		id := req.Header.Get("X-GitHub-Delivery")
		if len(body) != 2048 || req.Host != "127.0.0.1:1" || !uuid.MatchString(id) {
			t.Errorf("%d: %d bytes for %s, id %s", seq, len(body), req.Host, id)
		}
		if got, want := req.Header.Get("X-Hub-Signature-256"), "sha256="+sign("s3cret", string(body)); got != want {
			t.Errorf("%d: signature %s, want %s", seq, got, want)
		}
		ids[id], bodies[string(body)] = true, true
	}
	if len(ids) != len(seqs) || len(bodies) != len(seqs) {
		t.Errorf("%d IDs and %d bodies for %d deliveries", len(ids), len(bodies), len(seqs))
	}
	first := string(w.delivery(7))
	w.delivery(8)
	if again := string(w.delivery(7)); again != first {
		t.Error("a repeat differs from the first")
	}
}

func TestStripeDeliveries(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	w := newWriter(schemes["stripe"], "whsec_x", "h", minBody, now)
	req, body := parsed(t, w.delivery(0xabc))
	want := "t=1700000000,v1=" + sign("whsec_x", "1700000000."+string(body))
	if got := req.Header.Get("Stripe-Signature"); got != want {
		t.Errorf("signature %s, want %s", got, want)
	}
	var event struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &event); err != nil || event.ID != "evt_0000000000000abc" {
		t.Errorf("event %+v, %v", event, err)
	}
}

func TestRightAnswers(t *testing.T) {
	for _, c := range []struct {
		kind string
		r    reply
		want bool
	}{
		{"plain", reply{200, ""}, true},
		{"plain", reply{502, ""}, false},
		{"first", reply{200, "first"}, true},
		{"first", reply{200, "duplicate"}, false},
		{"first", reply{200, ""}, false},
		{"first", reply{503, "first"}, false},
		{"duplicate", reply{200, "duplicate"}, true},
		{"duplicate", reply{200, "first"}, false},
		{"refused", reply{401, "refused; reason=signature_mismatch"}, true},
		{"refused", reply{401, ""}, false},
		{"refused", reply{200, "refused"}, false},
	} {
		if got := (traffic{kind: c.kind}).right(c.r); got != c.want {
			t.Errorf("%s, %+v: %v", c.kind, c.r, got)
		}
	}
}

func TestCaddyfiles(t *testing.T) {
	s := sidecar{
		listen: "127.0.0.1:1", upstream: "127.0.0.1:2", store: "/a b/store", sync: "off", provider: "stripe",
		directives: []string{"rate off"}, logLevel: "ERROR",
	}
	want := `{
	admin off
	hookonce {
		store badger "/a b/store" {
			sync off
		}
	}
	log {
		level ERROR
	}
}

http://127.0.0.1:1 {
	hookonce stripe {
		secret {env.HOOKBENCH_SECRET}
		upstream 127.0.0.1:2
		rate off
	}
}
`
	if got := s.caddyfile(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	proxy := proxyCaddyfile("127.0.0.1:3", "127.0.0.1:4", "127.0.0.1:2", "")
	for _, part := range []string{"{\n\tadmin off\n}\n", "http://127.0.0.1:3 {\n\treverse_proxy 127.0.0.1:2", "keepalive_idle_conns_per_host 256", "http://127.0.0.1:4 {\n\trespond 200"} {
		if !strings.Contains(proxy, part) {
			t.Errorf("%q is missing in:\n%s", part, proxy)
		}
	}
}

func TestOptions(t *testing.T) {
	o, err := parseOptions([]string{"-smoke", "-cases", "respond", "-directive", "a", "-directive", "b c"}, io.Discard)
	if err != nil || o.rounds != 1 || len(o.conns) != 2 || o.needsSidecar() || len(o.directives) != 2 {
		t.Errorf("got %+v, %v", o, err)
	}
	for _, bad := range [][]string{
		{"-cases", "nonsense"}, {"-concurrency", "0"}, {"-concurrency", "a"}, {"-sync", "maybe"}, {"-provider", "nobody"},
		{"-body", "10"}, {"-rounds", "0"}, {"-rate", "-1"}, {"stray"}, {"-nonsense"},
	} {
		if _, err := parseOptions(bad, io.Discard); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func BenchmarkDelivery(b *testing.B) {
	w := newWriter(schemes["github"], "s3cret", "127.0.0.1:1", 2048, time.Now())
	b.ReportAllocs()
	for i := uint64(0); b.Loop(); i++ {
		w.delivery(i)
	}
}
