// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// patience bounds every wait for a signal. It is reached only when a test fails.
const patience = 30 * time.Second

// binary is the hookonce that all tests start.
var binary string

// raced tells that the binary has the race detector.
var raced = os.Getenv("HOOKONCE_RACE") == "1"

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "hookonce-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := 1
	if binary, err = build(dir); err != nil {
		fmt.Fprintln(os.Stderr, "building hookonce:", err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// build returns the binary under test.
func build(dir string) (string, error) {
	if given := os.Getenv("HOOKONCE_BIN"); given != "" {
		return filepath.Abs(given)
	}
	out := filepath.Join(dir, "hookonce")
	args := []string{"build", "-o", out}
	if raced {
		args = append(args, "-race")
	}
	cmd := exec.Command("go", append(args, "github.com/hookonce/hookonce/cmd/hookonce")...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return out, cmd.Run()
}

// starter starts every child from one thread that lives as long as the tests:
// the kernel ends a child when the thread that started it does.
var starter = func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job()
		}
	}()
	return jobs
}()

func startChild(cmd *exec.Cmd) error {
	cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	starter <- func() { started <- cmd.Start() }
	return <-started
}

// Result is how a command that ends by itself ended.
type Result struct {
	Code   int
	Output string // both streams
}

// Run runs the binary with args in a directory and environment of its own.
func Run(t testing.TB, env []string, args ...string) Result {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir = dir
	cmd.Env = environment(dir, env)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("hookonce %v did not end:\n%s", args, out)
	}
	if cmd.ProcessState == nil {
		t.Fatalf("hookonce %v: %v", args, err)
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Output: string(out)}
}
