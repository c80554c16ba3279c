// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Command hookbench compares the sidecar with a bare reverse_proxy of the same
// Caddy, in one run, on loopback, in front of the same upstream.
//
//	go run ./cmd/hookbench            # about three minutes
//	go run ./cmd/hookbench -smoke     # about twenty seconds, for CI
//	go run ./cmd/hookbench -json -cases first-seen,duplicate -concurrency 64
//
// Absolute figures belong to the machine. What carries over are the ratios:
// each is the median over rounds of the ratio to the bare proxy, which is
// measured first and last in every group of a round. Load generator, Caddy and
// upstream are processes of their own, so that CPU time and memory can be told
// apart; the generator shares the machine with them.
//
// Every answer is checked. A run with a wrong answer fails, whatever its speed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

// The kernel ends our children when the thread that started them ends, so they
// are all started from the main thread, which ends last.
func init() { runtime.LockOSThread() }

func main() {
	if len(os.Args) == 3 && os.Args[1] == upstreamCommand {
		fmt.Fprintln(os.Stderr, runUpstream(os.Args[2]))
		os.Exit(1)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "hookbench:", err)
		stop()
		os.Exit(1)
	}
}

// errWrong fails a run in which the sidecar or the proxy answered wrongly.
var errWrong = errors.New("wrong answers, see the report")

// errGate fails a run with -gate that missed a figure.
var errGate = errors.New("figures missed, see the report")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parseOptions(args, stderr)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(o.dir, "hookbench-")
	if err != nil {
		return fmt.Errorf("working directory: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	if o.binary == "" {
		o.binary = filepath.Join(dir, "hookonce")
		fmt.Fprintln(stderr, "building hookonce")
		build := exec.CommandContext(ctx, "go", "build", "-o", o.binary, "github.com/hookonce/hookonce/cmd/hookonce")
		build.Stdout, build.Stderr = stderr, stderr
		if err := build.Run(); err != nil {
			return fmt.Errorf("build hookonce: %w", err)
		}
	}
	b, err := newBench(ctx, o, dir, stderr)
	if err != nil {
		return err
	}
	defer b.stop()
	report, err := b.run(ctx)
	if err != nil {
		return err
	}
	if o.json {
		err = report.writeJSON(stdout)
	} else {
		err = report.writeText(stdout)
	}
	switch {
	case err != nil:
		return err
	case report.wrong() > 0:
		return errWrong
	case o.gate && !report.reached():
		return errGate
	}
	return nil
}
