// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// roundResult holds the samples of one group in one round, by target. The bare
// proxy has two.
type roundResult map[string][]sample

// groupResult holds one group's rounds.
type groupResult []roundResult

// report is what a run found out.
type report struct {
	Machine  string `json:"machine"`
	CPUs     int    `json:"cpus"`
	Go       string `json:"go"`
	Binary   string `json:"binary"` // what hookonce version says
	Provider string `json:"provider"`
	Body     int    `json:"body_bytes"`
	Rounds   int    `json:"rounds"`
	Duration string `json:"duration"`
	// FlushP50 and FlushP99 are microseconds for a raw write and flush.
	FlushP50 float64       `json:"flush_p50_us"`
	FlushP99 float64       `json:"flush_p99_us"`
	Groups   []groupReport `json:"groups"`
	Memory   []memoryRow   `json:"memory"`
	Figures  []figure      `json:"figures"`
}

type groupReport struct {
	Title string  `json:"title"`
	Conns int     `json:"connections"`
	Rate  float64 `json:"rate,omitempty"`
	Rows  []row   `json:"rows"`
}

// row is one target in one group: medians over the rounds.
type row struct {
	Case string `json:"case"`
	sample
	// Ratio is the median over rounds of the requests per second in relation
	// to the bare proxy's mean in the same round. RatioMin and RatioMax are
	// the extremes.
	Ratio    float64 `json:"ratio"`
	RatioMin float64 `json:"ratio_min"`
	RatioMax float64 `json:"ratio_max"`
	// AddedP50 and AddedP99 are the medians of the differences to the bare
	// proxy in the same round, in microseconds.
	AddedP50 float64 `json:"added_p50_us"`
	AddedP99 float64 `json:"added_p99_us"`
}

type memoryRow struct {
	Name   string `json:"name"`
	Idle   memory `json:"idle"`
	Loaded memory `json:"loaded"`
}

func (b *bench) report(groups []group, results []groupResult, flushes []time.Duration) *report {
	flushes = sorted(flushes)
	r := &report{
		Machine: machine(), CPUs: runtime.NumCPU(), Go: runtime.Version(), Binary: version(b.o.binary),
		Provider: b.o.provider, Body: b.o.body, Rounds: b.o.rounds, Duration: b.o.duration.String(),
		FlushP50: micros(percentile(flushes, 50)), FlushP99: micros(percentile(flushes, 99)),
	}
	for i, g := range groups {
		gr := groupReport{Title: g.title(), Conns: g.conns, Rate: g.rate}
		for _, t := range g.targets {
			gr.Rows = append(gr.Rows, results[i].row(t.name))
		}
		r.Groups = append(r.Groups, gr)
	}
	for _, s := range b.systems() {
		r.Memory = append(r.Memory, memoryRow{s.name, s.idle, s.loaded})
	}
	r.Figures = figures(r)
	return r
}

// row sums up one target over the rounds.
func (g groupResult) row(name string) row {
	var samples []sample
	var ratios, added50, added99 []float64
	for _, round := range g {
		// The mean of the two is what the bare proxy does in this round.
		base, s := combine(round[baseline], mean), combine(round[name], mean)
		samples = append(samples, s)
		if base.PerSecond > 0 {
			ratios = append(ratios, s.PerSecond/base.PerSecond)
		}
		added50, added99 = append(added50, s.P50-base.P50), append(added99, s.P99-base.P99)
	}
	out := row{Case: name, sample: combine(samples, median)}
	if len(ratios) > 0 {
		out.Ratio, out.RatioMin, out.RatioMax = median(ratios), slices.Min(ratios), slices.Max(ratios)
	}
	out.AddedP50, out.AddedP99 = median(added50), median(added99)
	return out
}

// wrong counts the wrong answers of the run.
func (r *report) wrong() int {
	n := 0
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			n += row.Wrong
		}
	}
	return n
}

// disturbance is the largest share of the machine that others took in the
// median of a case.
func (r *report) disturbance() float64 {
	most := 0.0
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			most = max(most, row.Others)
		}
	}
	return most
}

// quiet is the share of the machine that others may take.
const quiet = 0.1

func (r *report) writeJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

func (r *report) writeText(w io.Writer) error {
	fmt.Fprintf(w, "%s, %d CPUs, %s\n%s\n", r.Machine, r.CPUs, r.Go, r.Binary)
	fmt.Fprintf(w, "%d-byte bodies of %s, %d rounds of %s, medians; ratios to the bare proxy of the same round\n", r.Body, r.Provider, r.Rounds, r.Duration)
	fmt.Fprintf(w, "raw flush (write and fdatasync of %d bytes): p50 %.0f µs, p99 %.0f µs\n", flushRecord, r.FlushP50, r.FlushP99)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, g := range r.Groups {
		fmt.Fprintf(t, "\n%s\treq/s\tratio\t(min–max)\tp50 ms\tp99 ms\tadded p50\tadded p99\tCaddy µs/req\tupstream µs/req\t\n", g.Title)
		for _, x := range g.Rows {
			fmt.Fprintf(t, "%s\t%.0f\t%.2f\t(%.2f–%.2f)\t%.2f\t%.2f\t%+.2f\t%+.2f\t%.0f\t%.0f\t\n", x.Case, x.PerSecond,
				x.Ratio, x.RatioMin, x.RatioMax, x.P50/1e3, x.P99/1e3, x.AddedP50/1e3, x.AddedP99/1e3, x.CaddyCPU, x.UpstreamCPU)
		}
	}
	const mb = 1 << 20
	fmt.Fprintf(t, "\nmemory, MiB: anonymous/private/resident\tidle\tunder load\t\n")
	for _, m := range r.Memory {
		fmt.Fprintf(t, "%s\t%d/%d/%d\t%d/%d/%d\t\n", m.Name, m.Idle.Anonymous/mb, m.Idle.Private/mb, m.Idle.Resident/mb,
			m.Loaded.Anonymous/mb, m.Loaded.Private/mb, m.Loaded.Resident/mb)
	}
	if len(r.Figures) > 0 {
		fmt.Fprintf(t, "\nfigure\tmeasured\tmust\t\t\n")
	}
	for _, f := range r.Figures {
		fmt.Fprintf(t, "%s\t%.2f\t%s\t%s\t\n", f.Name, f.Value, f.must(), f.verdict())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if d := r.disturbance(); d > quiet {
		fmt.Fprintf(w, "\nDISTURBED: other processes took up to %.0f %% of the machine; these figures mean little\n", 100*d)
	}
	for _, g := range r.Groups {
		for _, x := range g.Rows {
			if x.Wrong > 0 {
				fmt.Fprintf(w, "WRONG: %s, %s: %d wrong answers, the first: %s\n", g.Title, x.Case, x.Wrong, x.FirstWrong)
			}
		}
	}
	return nil
}
