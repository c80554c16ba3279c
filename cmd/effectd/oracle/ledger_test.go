// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestLedgerSurvivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "l.jsonl")
	for run := range 3 {
		r := newRig(t, Config{Ledger: path})
		if a := r.post(t.Context(), "/", strings.NewReader("x")); a.status != 200 {
			t.Fatalf("%+v", a)
		}
		if got := r.effects(t, run+1); got[run].Seq != int64(run+1) {
			t.Errorf("run %d: %+v", run, got[run])
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		// What a crash in the middle of a line leaves behind.
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"seq":99,"ti`); err != nil {
			t.Fatal(err)
		}
		f.Close()
		if got, err := ReadLedger(path); err != nil || len(got) != run+1 {
			t.Errorf("with a torn line: %d effects, %v", len(got), err)
		}
	}
}

func TestReadLedgerTears(t *testing.T) {
	good := `{"seq":1}` + "\n"
	for _, c := range []struct {
		name, text string
		effects    int
		whole      int64
		bad        bool
	}{
		{"empty", "", 0, 0, false},
		{"whole", good, 1, 10, false},
		{"no newline", good + `{"seq":2}`, 1, 10, false},
		{"half", good + `{"se`, 1, 10, false},
		{"torn block with newline", good + "\x00\x00\n", 1, 10, false},
		{"bad middle", good + "x\n" + good, 0, 0, true},
	} {
		effects, whole, err := readLedger(strings.NewReader(c.text))
		if len(effects) != c.effects || whole != c.whole || (err != nil) != c.bad {
			t.Errorf("%s: %d effects, %d bytes, %v", c.name, len(effects), whole, err)
		}
	}
}

func FuzzReadLedger(f *testing.F) {
	f.Add("{\"seq\":1}\n{\"seq\":2")
	f.Add("\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		effects, whole, err := readLedger(strings.NewReader(text))
		if err != nil {
			return
		}
		again, wholeAgain, err := readLedger(strings.NewReader(text[:whole]))
		if err != nil || wholeAgain != whole || len(again) != len(effects) {
			t.Errorf("the whole part reads as %d effects, %v; want %d", len(again), err, len(effects))
		}
	})
}

func FuzzParseScript(f *testing.F) {
	f.Add([]byte(`["cut-length", {"status": 503, "times": 3}]`))
	f.Add([]byte(`"503"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := ParseScript(data)
		if err != nil {
			return
		}
		for _, b := range list {
			if err := b.Validate(); err != nil {
				t.Errorf("accepted %+v: %v", b, err)
			}
		}
	})
}

func TestConcurrentEffectsShareSyncs(t *testing.T) {
	l, err := openLedger(filepath.Join(t.TempDir(), "l.jsonl"), true)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 64 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			e, err := l.append(Effect{})
			if err != nil || e.Seq == 0 {
				t.Errorf("%+v, %v", e, err)
			}
			l.syncMu.Lock()
			defer l.syncMu.Unlock()
			if l.synced < e.Seq {
				t.Errorf("effect %d returned before its sync (%d)", e.Seq, l.synced)
			}
		}()
	}
	wg.Wait()
	effects, err := l.all()
	if err != nil || len(effects) != 64 || effects[63].Seq != 64 {
		t.Errorf("%d effects, %v", len(effects), err)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.append(Effect{}); err == nil {
		t.Error("a closed ledger recorded an effect")
	}
	if _, err := l.append(Effect{}); err == nil {
		t.Error("a broken ledger recovered by itself")
	}
}

// TestBrokenLedgerAnswersNothing: no ledger entry, no answer.
func TestBrokenLedgerAnswersNothing(t *testing.T) {
	r := newRig(t, Config{Ledger: filepath.Join(t.TempDir(), "l")})
	r.ledger.file.Close()
	if a := r.post(t.Context(), "/", strings.NewReader("x")); a.err == nil {
		t.Errorf("answered %d", a.status)
	}
}

func TestAdmin(t *testing.T) {
	r := newRig(t, Config{Ledger: filepath.Join(t.TempDir(), "l")})
	call := func(method, path, body string) (int, string) {
		rec := httptest.NewRecorder()
		r.AdminHandler().ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader(body)))
		return rec.Code, rec.Body.String()
	}
	want := func(status int, method, path, body string) {
		t.Helper()
		if got, text := call(method, path, body); got != status {
			t.Errorf("%s %s %s: %d %s", method, path, body, got, text)
		}
	}
	post := func(want int) {
		t.Helper()
		if a := r.post(t.Context(), "/", strings.NewReader("x")); a.status != want {
			t.Errorf("got %d, %v, want %d", a.status, a.err, want)
		}
	}
	want(200, "POST", "/script", `["gone", {"status":201}]`)
	want(200, "POST", "/script", `"busy"`)
	want(200, "POST", "/default", `{"status":202}`)
	post(410)
	post(201)
	post(429)
	post(202)
	want(400, "POST", "/script", `["nonsense"]`)
	want(400, "POST", "/script", `[{"read":"nothing"}]`)
	want(400, "POST", "/default", `["ok","ok"]`)
	want(405, "GET", "/script", "")

	_, text := call("GET", "/ledger", "")
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 2 || !strings.Contains(lines[0], `"did":"answer 201"`) {
		t.Errorf("ledger:\n%s", text)
	}
	_, text = call("GET", "/stats", "")
	var s Stats
	if err := json.Unmarshal([]byte(text), &s); err != nil || s.Requests != 4 || s.Effects != 2 || s.Open != 1 {
		t.Errorf("stats %s: %v", text, err)
	}

	r.Script(Behaviour{Hold: true})
	for range 4 {
		r.arrival(t)
	}
	answers := make(chan answer)
	go func() { answers <- r.post(t.Context(), "/", strings.NewReader("x")) }()
	r.arrival(t)
	want(200, "POST", "/release", "")
	if a := <-answers; a.status != http.StatusOK {
		t.Errorf("released: %+v", a)
	}
	want(200, "POST", "/reset?ledger=1", "")
	r.effects(t, 0)
	post(200)
	if got := r.effects(t, 1); got[0].Seq != 1 {
		t.Errorf("numbering goes on after the reset: %+v", got[0])
	}
}
