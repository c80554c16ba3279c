// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// patience is how long a test waits for what must come; it never passes in a
// test that succeeds.
const patience = 20 * time.Second

// rig is a server and a client of net/http, as a forwarder has it.
type rig struct {
	*Server
	client *http.Client
}

func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	if cfg.Logf == nil {
		cfg.Logf = t.Logf
	}
	s, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	tr := &http.Transport{}
	if cfg.TLS != TLSOff {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(s.RootPEM()) {
			t.Fatal("bad root")
		}
		tr.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	if cfg.HTTP == HTTP2 {
		tr.Protocols = new(http.Protocols)
		tr.Protocols.SetHTTP2(true)
		tr.Protocols.SetUnencryptedHTTP2(true)
	}
	if path, ok := strings.CutPrefix(cfg.Addr, unixPrefix); ok {
		tr.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", path)
		}
	}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &rig{Server: s, client: &http.Client{
		Transport:     tr,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is what the client saw.
type answer struct {
	status  int
	header  http.Header
	body    string
	err     error // no complete head
	bodyErr error // head, but no complete body
}

func (r *rig) post(ctx context.Context, path string, body io.Reader) answer {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL()+path, body)
	if err != nil {
		return answer{err: err}
	}
	// Without GetBody the transport behaves as a forwarder's must: no re-sends.
	req.GetBody = nil
	req.Header.Set("X-GitHub-Delivery", "d-1")
	resp, err := r.client.Do(req)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: string(data), bodyErr: err}
}

// arrival waits for the next arrival.
func (r *rig) arrival(t *testing.T) Effect {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	got, err := r.Await(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	return got[0]
}

// effects asserts how many effects the ledger holds.
func (r *rig) effects(t *testing.T, want int) []Effect {
	t.Helper()
	got, err := r.Ledger()
	if err != nil || len(got) != want {
		t.Fatalf("ledger has %d effects (%v), want %d", len(got), err, want)
	}
	return got
}

func TestEffectFields(t *testing.T) {
	r := newRig(t, Config{KeepBodies: true})
	body := `{"zen":"Keep it logically awesome."}`
	for i := range 2 {
		if a := r.post(t.Context(), "/hook?a=b", strings.NewReader(body)); a.status != 200 || a.bodyErr != nil {
			t.Fatalf("request %d: %+v", i, a)
		}
	}
	sum := sha256.Sum256([]byte(body))
	for i, e := range r.effects(t, 2) {
		if e.Seq != int64(i+1) || e.Conn != 1 || e.Reused != (i == 1) || e.Method != "POST" || e.Path != "/hook?a=b" ||
			e.Host == "" || e.Bytes != int64(len(body)) || !e.Complete || e.SHA256 != hex.EncodeToString(sum[:]) ||
			e.Key() != "X-GitHub-Delivery:d-1" || e.Did != "answer 200" || e.Time.IsZero() {
			t.Errorf("effect %d: %+v", i, e)
		}
		if string(e.Body) != body || e.Header.Get("X-Github-Delivery") != "d-1" {
			t.Errorf("effect %d lacks the whole request: %+v", i, e)
		}
	}
	if a := r.arrival(t); a.Seq != 1 {
		t.Errorf("arrival %+v, want seq 1", a)
	}
}

func TestChoice(t *testing.T) {
	r := newRig(t, Config{Default: Behaviour{Status: 299}})
	post := func(path, body string, want int) {
		t.Helper()
		if a := r.post(t.Context(), path, strings.NewReader(body)); a.status != want {
			t.Errorf("%s %s: %d (%v), want %d", path, body, a.status, a.err, want)
		}
	}
	post("/", "x", 299)
	r.Script(Behaviour{Status: 201, Times: 2}, Behaviour{Status: 202})
	post("/do/gone/x", "x", 201)
	post("/", `{"effectd":"gone"}`, 201)
	post("/", "x", 202)
	post("/do/gone/x", "x", 410)
	post("/do/418?q", `{"effectd":"gone"}`, 418)
	post("/", `{"effectd":{"status":422}}`, 422)
	post("/", `{"note":"\"effectd\": no field"}`, 299)
	list := `{"n":1,"effectd":["503",{"status":500},"ok"]}`
	for _, want := range []int{503, 500, 200, 200} {
		post("/", list, want)
	}
	post("/", `{"n":2,"effectd":["503","ok"]}`, 503)
	post("/do/nonsense", "x", 400)
	post("/", `{"effectd":{"statsu":1}}`, 400)
	post("/", `{"effectd":[]}`, 400)
	r.Server.Default(Behaviour{Status: 204})
	post("/", "x", 204)
	r.Script(Behaviour{Status: 500})
	r.ResetScript()
	post("/", "x", 299)
}

func TestHoldAndRelease(t *testing.T) {
	for _, name := range []string{"hold", "hold-late"} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Config{})
			answers := make(chan answer)
			go func() { answers <- r.post(t.Context(), "/do/"+name, strings.NewReader("x")) }()
			r.arrival(t)
			want := 1
			if name == "hold-late" {
				want = 0
			}
			r.effects(t, want)
			if s := r.Stats(); s.Holding != 1 || s.Open != 1 || s.Requests != 1 {
				t.Errorf("stats %+v", s)
			}
			select {
			case a := <-answers:
				t.Fatalf("answered while held: %+v", a)
			default:
			}
			r.Release()
			if a := <-answers; a.status != 200 {
				t.Errorf("after the release: %+v", a)
			}
			r.effects(t, 1)
		})
	}
}

func TestDelayUsesTheClock(t *testing.T) {
	asked := make(chan time.Duration, 1)
	fire := make(chan time.Time, 1)
	r := newRig(t, Config{After: func(d time.Duration) <-chan time.Time { asked <- d; return fire }})
	answers := make(chan answer)
	go func() { answers <- r.post(t.Context(), "/do/slow", strings.NewReader("x")) }()
	if d := <-asked; d != time.Second {
		t.Errorf("delay %v, want 1s", d)
	}
	fire <- time.Time{}
	if a := <-answers; a.status != 200 {
		t.Errorf("after the delay: %+v", a)
	}
}

func TestEffectAfterTheAnswer(t *testing.T) {
	r := newRig(t, Config{})
	r.Script(Behaviour{Effect: EffectAfter, End: EndClose})
	if a := r.post(t.Context(), "/", strings.NewReader("x")); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	if e := r.arrival(t); e.Seq != 0 {
		t.Errorf("recorded before the answer: %+v", e)
	}
	if err := r.Close(); err != nil { // waits for the connection
		t.Fatal(err)
	}
	r.effects(t, 1)
}

func TestExpectContinue(t *testing.T) {
	r := newRig(t, Config{})
	r.client.Transport.(*http.Transport).ExpectContinueTimeout = patience
	send := func(path string) (int, bool) {
		body := &watched{Reader: bytes.NewReader(make([]byte, 100))}
		req, err := http.NewRequest(http.MethodPost, r.URL()+path, body)
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = 100
		req.Header.Set("Expect", "100-continue")
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode, body.read
	}
	if status, read := send("/"); status != 200 || !read {
		t.Errorf("got %d, body read: %v", status, read)
	}
	if status, read := send("/do/early-413"); status != 413 || read {
		t.Errorf("refused before the body: got %d, body read: %v", status, read)
	}
}

type watched struct {
	io.Reader
	read bool
}

func (w *watched) Read(p []byte) (int, error) {
	w.read = true
	return w.Reader.Read(p)
}

func TestDieInProcess(t *testing.T) {
	r := newRig(t, Config{})
	if a := r.post(t.Context(), "/do/die-after", strings.NewReader("x")); a.err == nil {
		t.Fatalf("answered: %+v", a)
	}
	select {
	case <-r.Died():
	case <-time.After(patience):
		t.Fatal("did not die")
	}
	if _, err := net.Dial("tcp", r.Addr()); err == nil {
		t.Error("still listening")
	}
	r.effects(t, 1)
}

func TestStartErrors(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	for name, cfg := range map[string]Config{
		"address taken": {Addr: busy.Addr().String()},
		"tls":           {TLS: "odd"},
		"http":          {HTTP: "3"},
		"default":       {Default: Behaviour{Then: "odd"}},
		"idle":          {IdleTimeout: -1},
		"ledger":        {Ledger: t.TempDir()},
	} {
		if s, err := Start(cfg); err == nil {
			t.Errorf("%s: started", name)
			_ = s.Close()
		}
	}
}

func TestCloseIsIdempotentAndEndsHolds(t *testing.T) {
	r := newRig(t, Config{})
	answers := make(chan answer)
	go func() { answers <- r.post(t.Context(), "/do/hold", strings.NewReader("x")) }()
	r.arrival(t)
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	if a := <-answers; a.err == nil {
		t.Errorf("answered by a closed server: %+v", a)
	}
}
