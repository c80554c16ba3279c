// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bufio"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

// The printed headers and body are those of a correct delivery.
func TestSignPrintsHeaders(t *testing.T) {
	for _, data := range []string{"", `{"mine":true}`} {
		args := []string{"sign", "--provider", "github", "--secret", "demo-secret", "--id", "one"}
		if data != "" {
			args = append(args, "--data", data)
		}
		out, err := webhook("", args...)
		if err != nil {
			t.Fatal(err)
		}
		text, body, printed := strings.Cut(out, "\n\n")
		if printed != (data == "") {
			t.Errorf("body printed: %v\n%s", printed, out)
		}
		if data != "" {
			body = data
		}
		head, err := textproto.NewReader(bufio.NewReader(strings.NewReader(strings.TrimSpace(text) + "\r\n\r\n"))).ReadMIMEHeader()
		if err != nil {
			t.Fatal(err)
		}
		r := &http.Request{Method: http.MethodPost, Header: http.Header(head), URL: new(url.URL)}
		if why := check(t, "github", "demo-secret", r, []byte(strings.TrimSuffix(body, "\n")), time.Now()); why != verify.OK {
			t.Errorf("the signature is wrong: %s\n%s", why, out)
		}
		if head.Get("X-GitHub-Delivery") != "one" {
			t.Errorf("ID is %q", head.Get("X-GitHub-Delivery"))
		}
	}
}

// The printed command is one that a shell understands, whatever is in the body.
func TestSignPrintsCurl(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Fatal("a POSIX shell is needed: ", err)
	}
	dir := t.TempDir()
	// Stands in for curl: it prints its arguments, each ended by a NUL.
	if err := os.WriteFile(filepath.Join(dir, "curl"), []byte("#!/bin/sh\nprintf '%s\\0' \"$@\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	const target = "http://127.0.0.1:8080/hook?a=1&b=2"
	for _, data := range []string{`{"a":"it's $HOME \"quoted\" ` + "`id`" + `"}`, "line\nline\\n", ""} {
		args := []string{"sign", "--provider", "square", "--secret", "s", "--curl", "--url", target}
		if data != "" {
			args = append(args, "--data", data)
		}
		out, err := webhook("", args...)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", out)
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		got, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		words := strings.Split(strings.TrimSuffix(string(got), "\x00"), "\x00")
		if words[len(words)-1] != target || words[len(words)-3] != "--data-binary" || data != "" && words[len(words)-2] != data {
			t.Errorf("the shell read %q from\n%s", words, out)
		}
	}
}

// A route for a provider with key pairs is tried with a pair of one's own.
func TestSignWithSeed(t *testing.T) {
	for provider, want := range map[string]string{
		"discord":           "ea4a6c63e29c520abef5507b132ec5f9954776aebebe7b92421eea691446d22c",
		"standard-webhooks": "whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=",
	} {
		out, err := webhook("", "sign", "--provider", provider, "--seed", testSeed)
		if err != nil {
			t.Fatal(err)
		}
		has(t, out, "The secret of the route is this public key: "+want+"\n")
	}
}

func TestSignErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"--curl needs the address": {"--curl"},
		"looks like a file name":   {"--curl", "--url", "http://x/", "--data", "-"},
		"--data: open":             {"--data", "@/nonexistent/file"},
	} {
		_, err := webhook("@file", append([]string{"sign", "--provider", "github", "--secret", "s"}, args...)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
	if _, err := webhook("\x00", "sign", "--provider", "github", "--secret", "s", "--curl", "--url", "http://x/", "--data", "-"); err == nil {
		t.Error("a body with a NUL became part of a command")
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"plain-1.2/x:y@z": "plain-1.2/x:y@z", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(id)": "'$(id)'", "ü": "'ü'",
	} {
		if got := shellWord(in); got != want {
			t.Errorf("%q becomes %s, want %s", in, got, want)
		}
	}
}
