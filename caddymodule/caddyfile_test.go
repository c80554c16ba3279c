// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"encoding/json"
	goflag "flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/caddyserver/caddy/v2/caddyconfig/httpcaddyfile"

	_ "github.com/caddyserver/caddy/v2/modules/standard"
)

var update = goflag.Bool("update", false, "write the goldens anew")

const goldenLine = "----------\n"

func adapt(t testing.TB, name string, input []byte) ([]byte, error) {
	t.Helper()
	out, _, err := caddyfile.Adapter{ServerType: httpcaddyfile.ServerType{}}.
		Adapt(input, map[string]any{"filename": name})
	return out, err
}

// TestAdapt compares the JSON, or the error, of every Caddyfile in
// testdata/adapt with what stands below its line of dashes.
func TestAdapt(t *testing.T) {
	files, err := filepath.Glob("../testdata/adapt/*.caddyfiletest")
	if err != nil || len(files) == 0 {
		t.Fatalf("no goldens: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".caddyfiletest"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			input, want, _ := bytes.Cut(data, []byte(goldenLine))
			out, err := adapt(t, "Caddyfile", input)
			var got []byte
			if err != nil {
				got = []byte(err.Error() + "\n")
			} else {
				var pretty bytes.Buffer
				if err := json.Indent(&pretty, out, "", "\t"); err != nil {
					t.Fatal(err)
				}
				got = append(pretty.Bytes(), '\n')
			}
			if *update {
				all := append(append(append([]byte(nil), input...), goldenLine...), got...)
				if err := os.WriteFile(file, all, 0o600); err != nil {
					t.Fatal(err)
				}
				return
			}
			if !bytes.Equal(got, want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if strings.HasPrefix(filepath.Base(file), "error-") != (err != nil) {
				t.Errorf("error: %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "Caddyfile:") {
				t.Errorf("the error names no place: %v", err)
			}
		})
	}
}

// TestCaddyfiles checks that every example is a valid configuration of a whole
// server, provisioned as "caddy validate" does it.
func TestCaddyfiles(t *testing.T) {
	files, err := filepath.Glob("../caddyfiles/*.Caddyfile")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d examples: %v", len(files), err)
	}
	for _, name := range []string{
		"GITHUB_WEBHOOK_SECRET", "STRIPE_SECRET_NEW", "STRIPE_SECRET_OLD", "ACME_SECRET",
		"SHOPIFY_SECRET", "SHOP_SECRET", "BLOG_SECRET",
	} {
		t.Setenv(name, "a-secret-for-"+name)
	}
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("a secret in a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "../Caddyfile.example") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if formatted := caddyfile.Format(data); !bytes.Equal(formatted, data) {
				t.Error("not formatted as \"caddy fmt\" does it")
			}
			data = bytes.ReplaceAll(data, []byte("/run/secrets/slack"), []byte(secret))
			out, err := adapt(t, file, data)
			if err != nil {
				t.Fatal(err)
			}
			var cfg caddy.Config
			if err := json.Unmarshal(out, &cfg); err != nil {
				t.Fatal(err)
			}
			cfg.Admin = &caddy.AdminConfig{Disabled: true}
			if err := caddy.Validate(&cfg); err != nil {
				t.Error(err)
			}
		})
	}
}

// FuzzCaddyfile feeds arbitrary blocks to the parser: it may refuse, and must
// neither panic nor accept what it cannot write as JSON.
func FuzzCaddyfile(f *testing.F) {
	files, _ := filepath.Glob("../testdata/adapt/*.caddyfiletest")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		input, _, _ := bytes.Cut(data, []byte(goldenLine))
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		if bytes.Contains(input, []byte("import")) {
			return // reads files
		}
		out, err := adapt(t, "Caddyfile", input)
		if err == nil && !json.Valid(out) {
			t.Errorf("not JSON: %s", out)
		}
	})
}
