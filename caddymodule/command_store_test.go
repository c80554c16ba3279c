// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// stoppedStore is the directory of a store with one uncertain delivery, which
// no server uses any more.
func stoppedStore(t *testing.T) (*adminRig, string) {
	t.Helper()
	rig := newAdminRig(t)
	rig.prepare("uncertain")
	app, err := runningApp()
	if err != nil {
		t.Fatal(err)
	}
	dir := app.engine.Directory()
	if out, err := webhook("", "store", "check", "--dir", dir); err == nil || !strings.Contains(err.Error(), "a server uses the store "+dir) {
		t.Errorf("check of a store in use: %v\n%s", err, out)
	}
	if out, err := webhook("", "store", "reset", "--dir", dir, "--reason", "x"); err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("reset of a store in use: %v\n%s", err, out)
	}
	if err := caddy.Stop(); err != nil {
		t.Fatal(err)
	}
	return rig, dir
}

func TestStoreCheck(t *testing.T) {
	_, dir := stoppedStore(t)
	out, err := webhook("", "store", "check", "--dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	has(t, out, "is sound", "1 uncertain", "0 held")
}

// A damaged store is refused with the commands that are tested here.
func TestStoreReset(t *testing.T) {
	_, dir := stoppedStore(t)
	if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := webhook("", "store", "check", "--dir", dir)
	if err == nil || !strings.Contains(err.Error(), "webhook store reset --dir "+dir) {
		t.Fatalf("check of a damaged store: %v", err)
	}
	if _, err := webhook("", "store", "reset", "--dir", dir); err == nil || !strings.Contains(err.Error(), `--dir `+dir+` --reason "..."`) {
		t.Errorf("reset without a reason: %v", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("a refused reset has touched the store: %v", err)
	}
	out, err := webhook("", "store", "reset", "--dir", dir, "--reason", "disk died\n", "--actor", "ada")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out, "set aside as ")
	aside, _, _ := strings.Cut(rest, ". The next")
	note, err := os.ReadFile(filepath.Join(aside, repairLog))
	if err != nil || !strings.Contains(string(note), `reset by "ada": "disk died\n"`) {
		t.Errorf("note %q, error %v", note, err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the store is still there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(aside, "kept")); err != nil {
		t.Errorf("the kept requests are not set aside: %v", err)
	}
}

func TestStoreAcceptLoss(t *testing.T) {
	_, dir := stoppedStore(t)
	out, err := webhook("", "store", "accept-loss", "--dir", dir, "--reason", "restored yesterday's backup")
	if err != nil {
		t.Fatal(err)
	}
	has(t, out, "can be opened")
	if note, err := os.ReadFile(filepath.Join(dir, repairLog)); err != nil || !strings.Contains(string(note), "accept-loss by ") {
		t.Errorf("note %q, error %v", note, err)
	}
	if out, err := webhook("", "store", "check", "--dir", dir); err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
}

// A mistyped directory is not taken for an empty store, and nothing is made.
func TestStoreElsewhere(t *testing.T) {
	empty := t.TempDir()
	for _, dir := range []string{empty, filepath.Join(empty, "none")} {
		for _, args := range [][]string{{"check"}, {"reset", "--reason", "x"}, {"accept-loss", "--reason", "x"}} {
			_, err := webhook("", append(append([]string{"store"}, args...), "--dir", dir)...)
			if err == nil || !strings.Contains(err.Error(), "say where it is with --dir") {
				t.Errorf("%v: %v", args, err)
			}
		}
	}
	if names, err := os.ReadDir(empty); err != nil || len(names) != 0 {
		t.Errorf("%v was made, error %v", names, err)
	}
	for _, text := range []string{"", "abc", strings.Repeat("0", 62)} {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "MANIFEST"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := webhook("", "store", "check", "--dir", dir, "--encryption-key-file", file); err == nil || !strings.Contains(err.Error(), "64 hex digits") {
			t.Errorf("key %q: %v", text, err)
		}
	}
}

func TestProviders(t *testing.T) {
	out, err := webhook("", "providers")
	if err != nil {
		t.Fatal(err)
	}
	names, err := verify.PresetNames()
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(out, "\n"); lines != len(names)+1 {
		t.Errorf("%d lines for %d providers", lines, len(names))
	}
	has(t, out, "github ", "header:X-GitHub-Delivery", "hmac-sha256")
	if out, err = webhook("", "providers", "facebook"); err != nil {
		t.Fatal(err)
	}
	var p verify.Preset
	if err := json.Unmarshal([]byte(out), &p); err != nil || p.Name != "meta" {
		t.Errorf("preset %q, error %v", p.Name, err)
	}
	if _, err := webhook("", "providers", "githb"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("error %v", err)
	}
}
