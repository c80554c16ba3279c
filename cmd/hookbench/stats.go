// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"time"
)

// median of a list, 0 if it is empty. The list is left as it is.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	list = sorted(list)
	upper := len(list) / 2
	return (list[(len(list)-1)/2] + list[upper]) / 2
}

func sorted[T cmp.Ordered](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// percentile of a sorted, non-empty list by the nearest rank: the smallest
// value that p percent of the list do not exceed.
func percentile[T any](list []T, p float64) T {
	rank := int(math.Ceil(p / 100 * float64(len(list))))
	return list[min(max(rank, 1), len(list))-1]
}

// mean of a list, 0 if it is empty.
func mean(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// micros is a duration in microseconds.
func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// sample is one measurement of one case, or a summary of several.
type sample struct {
	Requests    int     `json:"requests"`
	PerSecond   float64 `json:"per_second"`
	P50         float64 `json:"p50_us"`
	P99         float64 `json:"p99_us"`
	CaddyCPU    float64 `json:"caddy_cpu_us"` // per request
	UpstreamCPU float64 `json:"upstream_cpu_us"`
	// Others is the share of the machine's CPU time, 0 to 1, that went to
	// processes which are none of ours.
	Others     float64 `json:"others_cpu_share"`
	Wrong      int     `json:"wrong"`
	FirstWrong string  `json:"first_wrong,omitempty"`
}

// newSample sums up a load over a window of the length d, in which the
// processes used the CPU time of used.
func newSample(l loadResult, d time.Duration, used usage) sample {
	s := sample{Requests: len(l.latencies), Wrong: l.wrong, FirstWrong: l.firstWrong}
	ours := used.caddy + used.upstream + used.rest
	s.Others = max(0, float64(used.machine-ours)/float64(d)/float64(runtime.NumCPU()))
	if s.Requests == 0 {
		if s.Wrong == 0 {
			s.Wrong, s.FirstWrong = 1, "no answer within the window"
		}
		return s
	}
	n := float64(s.Requests)
	lat := sorted(l.latencies)
	s.PerSecond = n / d.Seconds()
	s.P50, s.P99 = micros(percentile(lat, 50)), micros(percentile(lat, 99))
	s.CaddyCPU, s.UpstreamCPU = micros(used.caddy)/n, micros(used.upstream)/n
	return s
}

// combine sums up samples: counts are added, everything else goes through by,
// which is mean or median.
func combine(list []sample, by func([]float64) float64) sample {
	var out sample
	for _, s := range list {
		out.Requests += s.Requests
		out.Wrong += s.Wrong
		if out.FirstWrong == "" {
			out.FirstWrong = s.FirstWrong
		}
	}
	for _, field := range []func(*sample) *float64{
		func(s *sample) *float64 { return &s.PerSecond },
		func(s *sample) *float64 { return &s.P50 },
		func(s *sample) *float64 { return &s.P99 },
		func(s *sample) *float64 { return &s.CaddyCPU },
		func(s *sample) *float64 { return &s.UpstreamCPU },
		func(s *sample) *float64 { return &s.Others },
	} {
		values := make([]float64, len(list))
		for i := range list {
			values[i] = *field(&list[i])
		}
		*field(&out) = by(values)
	}
	return out
}
