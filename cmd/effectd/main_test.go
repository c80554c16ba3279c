// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// asEffectd makes the test binary behave as the command, so that it can die.
const asEffectd = "HOOKONCE_TEST_AS_EFFECTD"

func TestMain(m *testing.M) {
	if os.Getenv(asEffectd) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// start runs the command and returns the addresses it announces.
func start(t *testing.T, ledger string, args ...string) (cmd *exec.Cmd, addr, admin string) {
	t.Helper()
	args = append([]string{"-listen", "127.0.0.1:0", "-admin", "127.0.0.1:0", "-ledger", ledger}, args...)
	cmd = exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asEffectd+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(out)
	for _, p := range []struct {
		prefix string
		to     *string
	}{{"listening on ", &addr}, {"admin on ", &admin}} {
		if !lines.Scan() {
			t.Fatal("effectd ended before it listened")
		}
		*p.to = strings.TrimPrefix(lines.Text(), p.prefix)
	}
	return cmd, addr, admin
}

func post(url, body string) (int, error) {
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// TestDeaths kills the process before and after the effect and restarts it on
// the same ledger: only the effect that happened is in it.
func TestDeaths(t *testing.T) {
	ledger := filepath.Join(t.TempDir(), "effects.jsonl")
	for _, body := range []string{`{"n":1,"effectd":"die-before"}`, `{"n":2,"effectd":"die-after"}`} {
		cmd, addr, _ := start(t, ledger)
		if status, err := post("http://"+addr+"/hook", body); err == nil {
			t.Errorf("%s: got %d, want a broken connection", body, status)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitDied {
			t.Errorf("%s: ended with %v, want status %d", body, err, exitDied)
		}
	}
	_, addr, admin := start(t, ledger)
	if status, err := post("http://"+admin+"/script", `["unavailable"]`); err != nil || status != 200 {
		t.Fatalf("script: %d, %v", status, err)
	}
	for _, want := range []int{503, 200} {
		if status, err := post("http://"+addr+"/hook", `{"n":3}`); err != nil || status != want {
			t.Errorf("got %d, %v, want %d", status, err, want)
		}
	}
	effects, err := oracle.ReadLedger(ledger)
	if err != nil || len(effects) != 2 || effects[1].Seq != 2 {
		t.Errorf("ledger %+v, %v: want the effects of 2 and 3", effects, err)
	}
}

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "effects.jsonl")
	lines := `{"seq":1,"headers":{"X-GitHub-Delivery":"a"},"sha256":"x"}
{"seq":2,"headers":{"X-GitHub-Delivery":"b"},"sha256":"x"}
{"seq":3,"headers":{"X-GitHub-Delivery":"a"},"sha256":"y"}
{"seq":4,"torn`
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err := run(context.Background(), []string{"-check", path}, &out, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "X-GitHub-Delivery:a had 2 effects, 1 allowed") {
		t.Errorf("got %v, want the doubled delivery", err)
	}
	for _, want := range []string{"3 effects of 2 deliveries, 1 doubled", "2 effects (seq [1 3]), 2 bodies"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("report lacks %q:\n%s", want, out.String())
		}
	}
	if err := run(context.Background(), []string{"-check", path, "-max", "2"}, io.Discard, io.Discard); err != nil {
		t.Errorf("-max 2: %v", err)
	}
}

func TestUsage(t *testing.T) {
	var help strings.Builder
	if err := run(context.Background(), []string{"-h"}, io.Discard, &help); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
	for _, n := range oracle.Names {
		if !strings.Contains(help.String(), "  "+n.Name+" ") {
			t.Errorf("-h does not explain %s", n.Name)
		}
	}
	for _, bad := range [][]string{
		{"stray"},
		{"-default", "nonsense"},
		{"-script", `["nonsense"]`},
		{"-script", `[{"statsu":500}]`},
		{"-script", "@/does/not/exist"},
		{"-listen", "127.0.0.1:0", "-ledger", "", "-tls", "odd"},
		{"-check", "/does/not/exist"},
	} {
		if err := run(context.Background(), bad, io.Discard, io.Discard); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
