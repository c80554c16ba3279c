// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// figure is a measured value that has a bound.
type figure struct {
	Name   string  `json:"name"`
	Value  float64 `json:"value"`
	Must   float64 `json:"must"`
	AtMost bool    `json:"at_most"` // else at least
}

func (f figure) reached() bool {
	if f.AtMost {
		return f.Value <= f.Must
	}
	return f.Value >= f.Must
}

func (f figure) must() string {
	if f.AtMost {
		return fmt.Sprintf("≤ %.2f", f.Must)
	}
	return fmt.Sprintf("≥ %.2f", f.Must)
}

func (f figure) verdict() string {
	if f.reached() {
		return "reached"
	}
	return "MISSED"
}

func (r *report) reached() bool {
	for _, f := range r.Figures {
		if !f.reached() {
			return false
		}
	}
	return true
}

// ratios are the throughputs that we must reach, in relation to the bare
// proxy, by case and connections.
var ratios = map[string]map[int]float64{
	firstSeen("on"):     {64: 0.80, 8: 0.55},
	firstSeen("off"):    {64: 1.05, 8: 1.0, 1: 0.9},
	"duplicate":         {64: 3.0, 8: 3.0, 1: 2.5},
	"refused signature": {64: 3.0, 8: 3.0, 1: 3.0},
}

// Bounds that are no ratios.
const (
	mustFlushes    = 3  // raw flush times added at p50, one connection, sync on
	mustOpenP50    = 1  // ms added in the open loop, sync on
	mustOpenP99    = 3  // ms
	mustIdleMemory = 64 // MiB, resident
	mustLoadMemory = 110
	figuresBody    = 2048 // bytes; the bounds are meant for bodies of this size
)

// figures compares what was measured with what must be reached.
func figures(r *report) []figure {
	if r.Body != figuresBody {
		return nil
	}
	var out []figure
	for _, g := range r.Groups {
		out = append(out, g.figures(r.FlushP50)...)
	}
	for _, m := range r.Memory[1:] { // the first is the bare proxy
		out = append(out,
			figure{m.Name + ": idle memory, MiB", float64(m.Idle.Resident) / (1 << 20), mustIdleMemory, true},
			figure{m.Name + ": memory under load, MiB", float64(m.Loaded.Resident) / (1 << 20), mustLoadMemory, true})
	}
	return out
}

func (g groupReport) figures(flush float64) []figure {
	var out []figure
	for _, x := range g.Rows {
		name := fmt.Sprintf("%s, %s: ", x.Case, g.Title)
		switch {
		case g.Rate > 0:
			if x.Case == firstSeen("on") {
				out = append(out, figure{name + "added p50, ms", x.AddedP50 / 1e3, mustOpenP50, true},
					figure{name + "added p99, ms", x.AddedP99 / 1e3, mustOpenP99, true})
			}
			continue
		case x.Case == firstSeen("on") && g.Conns == 1:
			out = append(out, figure{name + "added p50, in raw flush times", x.AddedP50 / flush, mustFlushes, true})
		case x.Case == "duplicate":
			out = append(out, figure{name + "added p99, ms", x.AddedP99 / 1e3, 0, true})
		}
		if must, ok := ratios[x.Case][g.Conns]; ok {
			out = append(out, figure{name + "ratio", x.Ratio, must, false})
		}
	}
	return out
}

// version asks a binary what it is.
func version(binary string) string {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, binary, "version").Output()
	if err != nil {
		return "unknown version: " + err.Error()
	}
	return strings.TrimSpace(string(out))
}
