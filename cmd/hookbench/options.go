// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// options are the flags.
type options struct {
	binary     string
	dir        string
	cases      []string
	conns      []int
	sync       string
	provider   string
	body       int
	rate       float64
	rounds     int
	duration   time.Duration
	warmup     time.Duration
	directives []string
	logLevel   string
	json       bool
	gate       bool
}

// allCases are the names for -cases, in the order of the report.
var allCases = []string{"respond", "first-seen", "duplicate", "refused", "open-loop", "memory"}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	o := &options{}
	var cases, conns string
	var smoke bool
	fs := flag.NewFlagSet("hookbench", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&o.binary, "binary", "", "hookonce `file` to measure; default: build ./cmd/hookonce")
	fs.StringVar(&o.dir, "dir", "", "`directory` for the stores; its disk is what is measured; default: the temporary directory")
	fs.StringVar(&cases, "cases", strings.Join(allCases, ","), "`cases` to measure, besides the bare proxy")
	fs.StringVar(&conns, "concurrency", "64,8,1", "numbers of connections, each measured by itself")
	fs.StringVar(&o.sync, "sync", "both", "store `mode`s to measure: on, off or both")
	fs.StringVar(&o.provider, "provider", "github", "whose deliveries to send: github or stripe")
	fs.IntVar(&o.body, "body", 2048, "`bytes` of a delivery's body")
	fs.Float64Var(&o.rate, "rate", 300, "requests per second of the open loop")
	fs.IntVar(&o.rounds, "rounds", 3, "interleaved `rounds`; the report has their medians")
	fs.DurationVar(&o.duration, "duration", 2*time.Second, "measured time of each case in each round")
	fs.DurationVar(&o.warmup, "warmup", 300*time.Millisecond, "time before that, not measured")
	fs.Func("directive", "`line` to add to the hookonce block; repeatable", func(s string) error {
		o.directives = append(o.directives, s)
		return nil
	})
	fs.StringVar(&o.logLevel, "log", "", "`level` of Caddy's log, of the bare proxy too; default: Caddy's")
	fs.BoolVar(&o.json, "json", false, "print the report as JSON")
	fs.BoolVar(&o.gate, "gate", false, "fail if a figure is missed")
	fs.BoolVar(&smoke, "smoke", false, "one short round at 64 and 8 connections, to see that it works")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	if fs.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if smoke {
		o.rounds, o.duration, o.warmup, conns = 1, 500*time.Millisecond, 200*time.Millisecond, "64,8"
	}
	return o, o.fill(cases, conns)
}

// fill parses the lists and checks what was given.
func (o *options) fill(cases, conns string) error {
	for name := range strings.SplitSeq(cases, ",") {
		if !slices.Contains(allCases, name) {
			return fmt.Errorf("-cases: unknown case %q, known are %s", name, strings.Join(allCases, ", "))
		}
		o.cases = append(o.cases, name)
	}
	for s := range strings.SplitSeq(conns, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > 10_000 {
			return fmt.Errorf("-concurrency: %q is no number of connections", s)
		}
		o.conns = append(o.conns, n)
	}
	switch {
	case !slices.Contains([]string{"on", "off", "both"}, o.sync):
		return fmt.Errorf("-sync: %q is not on, off or both", o.sync)
	case schemes[o.provider] == nil:
		return fmt.Errorf("-provider: %q is not github or stripe", o.provider)
	case o.body < minBody || o.body > 1<<20:
		return fmt.Errorf("-body: want %d to %d bytes", minBody, 1<<20)
	case o.rate <= 0 || o.rounds < 1 || o.duration <= 0 || o.warmup < 0:
		return fmt.Errorf("-rate, -rounds and -duration must be positive")
	}
	return nil
}

// syncs are the store modes to measure.
func (o *options) syncs() []string {
	if o.sync == "both" {
		return []string{"on", "off"}
	}
	return []string{o.sync}
}
