// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import "github.com/prometheus/client_golang/prometheus"

// storeCollector reads the open stores at scrape time, so that the series of a
// store that was closed disappear by themselves (caddyserver/caddy#5496).
type storeCollector struct{}

func storeDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("caddy_hookonce_"+name, help, labels, nil)
}

var (
	descOpen       = storeDesc("open_deliveries", "Deliveries that are not settled, by state.", "state")
	descDead       = storeDesc("dead_letters", "Deliveries that we owe and that nothing sends by itself.")
	descDisk       = storeDesc("store_disk_bytes", "Size of the store on disk.")
	descFree       = storeDesc("store_free_bytes", "Free space on the file system of the store.")
	descFull       = storeDesc("store_full", "1 while the store refuses new deliveries for want of room.")
	descCommits    = storeDesc("store_commits_total", "Commits of the store since it was opened.")
	descErrors     = storeDesc("store_commit_errors_total", "Commits that failed since the store was opened.")
	descCorrupt    = storeDesc("store_corrupt_records_total", "Records that could not be read since the store was opened.")
	descImpossible = storeDesc("impossible_events_total", "Events that could not happen in the state of their delivery, and had no effect.")
	descKept       = storeDesc("kept_requests", "Requests kept on disk.")
	descKeptBytes  = storeDesc("kept_bytes", "Bytes of kept requests on disk.")
	descRunning    = storeDesc("attempts_running", "Attempts that run in this process.")
)

// Describe implements prometheus.Collector.
func (storeCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descOpen, descDead, descDisk, descFree, descFull, descCommits, descErrors,
		descCorrupt, descImpossible, descKept, descKeptBytes, descRunning,
	} {
		ch <- d
	}
}

// Collect implements prometheus.Collector. Figures of several open stores are
// added up: a process has one, but for the moments in which its directory
// changes.
func (storeCollector) Collect(ch chan<- prometheus.Metric) {
	sum := make(map[*prometheus.Desc]float64)
	states := make(map[string]float64)
	found := false
	openNodes.each(func(n *node) {
		found = true
		st, sp := n.store.Stats(), n.spool.Stats()
		states["ready"] += float64(st.Ready)
		states["running"] += float64(st.Running)
		states["uncertain"] += float64(st.Uncertain)
		states["held"] += float64(st.Held)
		sum[descDead] += float64(st.DeadLetters)
		sum[descDisk] += float64(st.DiskBytes)
		sum[descFree] += float64(st.FreeBytes)
		if st.Full {
			sum[descFull] = 1
		} else {
			sum[descFull] += 0
		}
		sum[descCommits] += float64(st.Commits)
		sum[descErrors] += float64(st.CommitErrors)
		sum[descCorrupt] += float64(st.Corrupt)
		sum[descImpossible] += float64(st.Impossible)
		sum[descKept] += float64(sp.Items)
		sum[descKeptBytes] += float64(sp.Bytes)
		sum[descRunning] += float64(n.hub.running())
	})
	if !found {
		return
	}
	for state, v := range states {
		ch <- prometheus.MustNewConstMetric(descOpen, prometheus.GaugeValue, v, state)
	}
	for d, v := range sum {
		kind := prometheus.GaugeValue
		if d == descCommits || d == descErrors || d == descCorrupt || d == descImpossible {
			kind = prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(d, kind, v)
	}
}

// Interface guard.
var _ prometheus.Collector = storeCollector{}
