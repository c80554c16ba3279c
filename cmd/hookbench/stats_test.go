// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"testing"
	"time"
)

func TestMedianAndPercentile(t *testing.T) {
	for _, c := range []struct {
		list []int
		p    float64
		want int
	}{
		{[]int{7}, 50, 7},
		{[]int{1, 2}, 50, 1},
		{[]int{1, 2, 3}, 50, 2},
		{[]int{1, 2, 3, 4}, 99, 4},
		{[]int{1, 2, 3, 4}, 0, 1},
		{[]int{1, 2, 3, 4}, 100, 4},
		{[]int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 90, 90},
		{[]int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}, 91, 100},
	} {
		if got := percentile(c.list, c.p); got != c.want {
			t.Errorf("percentile %v of %v: %d, want %d", c.p, c.list, got, c.want)
		}
	}
	unsorted := []float64{3, 1, 2}
	if got := median(unsorted); got != 2 || unsorted[0] != 3 {
		t.Errorf("median %v, list now %v", got, unsorted)
	}
	if got := median([]float64{4, 1, 3, 2}); got != 2.5 {
		t.Errorf("median of an even list: %v", got)
	}
	if median(nil) != 0 || mean(nil) != 0 || mean([]float64{1, 3}) != 2 {
		t.Error("mean or the median of nothing is wrong")
	}
}

func TestNewSample(t *testing.T) {
	l := loadResult{wrong: 1, firstWrong: "x"}
	for i := range 100 {
		l.latencies = append(l.latencies, time.Duration(100-i)*time.Millisecond)
	}
	cores := time.Duration(runtime.NumCPU())
	used := usage{cores*time.Second + 70*time.Millisecond, 50 * time.Millisecond, 10 * time.Millisecond, 10 * time.Millisecond}
	s := newSample(l, 2*time.Second, used)
	want := sample{Requests: 100, PerSecond: 50, P50: 50_000, P99: 99_000, CaddyCPU: 500, UpstreamCPU: 100, Others: 0.5, Wrong: 1, FirstWrong: "x"}
	if s != want {
		t.Errorf("got %+v, want %+v", s, want)
	}
	if s := newSample(loadResult{}, time.Second, usage{}); s.Wrong != 1 || s.FirstWrong == "" {
		t.Errorf("without a request: %+v", s)
	}
}

// TestRow takes each ratio inside its round: the slow round of the machine
// must not count against the case.
func TestRow(t *testing.T) {
	of := func(perSecond, p50 float64) sample {
		return sample{PerSecond: perSecond, P50: p50, P99: 2 * p50, Requests: 10}
	}
	g := groupResult{
		{baseline: {of(90, 10), of(110, 12)}, "x": {of(80, 21)}},
		{baseline: {of(10, 100), of(10, 100)}, "x": {of(9, 105)}},
		{baseline: {of(200, 5), of(200, 5)}, "x": {{PerSecond: 140, P50: 6, P99: 6, Wrong: 2, FirstWrong: "bad"}}},
	}
	x := g.row("x")
	if x.Ratio != 0.8 || x.RatioMin != 0.7 || x.RatioMax != 0.9 || x.PerSecond != 80 || x.AddedP50 != 5 || x.AddedP99 != 10 {
		t.Errorf("row %+v", x)
	}
	if x.Wrong != 2 || x.FirstWrong != "bad" || x.Requests != 20 {
		t.Errorf("counts of %+v", x)
	}
	if base := g.row(baseline); base.Ratio != 1 || base.PerSecond != 100 || base.AddedP50 != 0 {
		t.Errorf("baseline %+v", base)
	}
}

func TestParseStat(t *testing.T) {
	line := "4242 (a (b) c) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0"
	if d, err := parseStat([]byte(line)); err != nil || d != 2*time.Second {
		t.Errorf("got %v, %v", d, err)
	}
	for _, bad := range []string{"", "4242 (x", "4242 (x) S 1", "1 (x) S 1 2 3 4 5 6 7 8 9 10 a b"} {
		if d, err := parseStat([]byte(bad)); err == nil {
			t.Errorf("%q gave %v", bad, d)
		}
	}
}

func TestParseMachineStat(t *testing.T) {
	d, err := parseMachineStat([]byte("cpu  100 20 30 999 888 4 5 41 7 8\ncpu0 1 1\n"))
	if err != nil || d != 2*time.Second {
		t.Errorf("got %v, %v", d, err)
	}
	for _, bad := range []string{"", "cpu 1 2", "mem 1 2 3 4 5 6 7 8", "cpu 1 2 x 4 5 6 7 8"} {
		if d, err := parseMachineStat([]byte(bad)); err == nil {
			t.Errorf("%q gave %v", bad, d)
		}
	}
}

func TestParseSmaps(t *testing.T) {
	text := "55d0-7ffd ---p 00000000 00:00 0 [rollup]\nRss:  50 kB\nPss_Anon: 9 kB\nPrivate_Clean:  30 kB\nPrivate_Dirty: 10 kB\nAnonymous:   8 kB\n"
	m, err := parseSmaps([]byte(text))
	if err != nil || m != (memory{50 << 10, 40 << 10, 8 << 10}) {
		t.Errorf("got %+v, %v", m, err)
	}
	for _, bad := range []string{"", "Rss: x kB\n", "Rss: 5 kB\n"} {
		if m, err := parseSmaps([]byte(bad)); err == nil {
			t.Errorf("%q gave %+v", bad, m)
		}
	}
	if got := (memory{1, 5, 3}).most(memory{2, 4, 3}); got != (memory{2, 5, 3}) {
		t.Errorf("most: %+v", got)
	}
}

func TestFigures(t *testing.T) {
	g := groupReport{Title: "1 connection", Conns: 1, Rows: []row{
		{Case: baseline, Ratio: 1},
		{Case: firstSeen("on"), Ratio: 0.4, AddedP50: 500},
		{Case: firstSeen("off"), Ratio: 0.9},
		{Case: "duplicate", Ratio: 2, AddedP99: -1},
	}}
	open := groupReport{Title: "open", Conns: 64, Rate: 300, Rows: []row{{Case: firstSeen("on"), AddedP50: 999, AddedP99: 3001}}}
	r := &report{Body: figuresBody, FlushP50: 200, Groups: []groupReport{g, open}, Memory: []memoryRow{
		{Name: "proxy"}, {Name: "s", Idle: memory{Resident: 64 << 20}, Loaded: memory{Resident: 111 << 20}},
	}}
	r.Figures = figures(r)
	reached := map[string]bool{}
	for _, f := range r.Figures {
		reached[f.Name] = f.reached()
	}
	want := map[string]bool{
		"first-seen, sync on, 1 connection: added p50, in raw flush times": true,
		"first-seen, sync off, 1 connection: ratio":                        true,
		"duplicate, 1 connection: ratio":                                   false,
		"duplicate, 1 connection: added p99, ms":                           true,
		"first-seen, sync on, open: added p50, ms":                         true,
		"first-seen, sync on, open: added p99, ms":                         false,
		"s: idle memory, MiB":                                              true,
		"s: memory under load, MiB":                                        false,
	}
	for name, is := range want {
		if got, ok := reached[name]; !ok || got != is {
			t.Errorf("%s: reached %v (present %v), want %v", name, got, ok, is)
		}
	}
	if len(reached) != len(want) || r.reached() {
		t.Errorf("figures %v", reached)
	}
	r.Body = 1024
	if f := figures(r); f != nil {
		t.Errorf("figures for another body size: %v", f)
	}
}
