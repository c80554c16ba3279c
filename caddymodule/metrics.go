// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// The collectors are singletons of the process: each reload brings a new
// registry, several apps may share one, and counters must not start again
// (mholt/caddy-ratelimit#85, caddyserver/caddy#6813). Labels come from the
// configuration or from fixed words only.
var collectors = struct {
	deliveries, refusals, attempts, strengths, passes, secrets, notes, alarms *prometheus.CounterVec

	decision, upstream *prometheus.HistogramVec
}{
	deliveries: counter("deliveries_total", "Verified deliveries by what the provider was told.", "route", "status"),
	refusals:   counter("refused_total", "Requests that were refused, by reason.", "route", "reason"),
	attempts:   counter("attempts_total", "Attempts at the app by how they ended.", "route", "outcome", "reason"),
	strengths:  counter("key_strength_total", "Deliveries by what their identity is worth; fallback means that there was no ID.", "route", "strength"),
	passes:     counter("passed_total", "Requests that were passed to the app without a record (handshakes, test events).", "route", "kind"),
	secrets:    counter("secret_matched_total", "Verified deliveries by the secret that matched.", "route", "secret"),
	notes:      counter("notes_total", "Deliveries worth a look: id_reused, same_body_new_id, content_mismatch and the like.", "route", "note"),
	alarms:     counter("alarms_total", "Deliveries that wait for a person from now on, by reason.", "route", "reason"),
	decision: histogram("decision_seconds", "Time from the arrival of a delivery to its answer, by what was answered.",
		[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}, "route", "status"),
	upstream: histogram("attempt_seconds", "Time that the app took for one attempt.",
		[]float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}, "route"),
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Namespace: "caddy", Subsystem: "hookonce", Name: name, Help: help,
	}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Namespace: "caddy", Subsystem: "hookonce", Name: name, Help: help, Buckets: buckets,
	}, labels)
}

// registerMetrics adds the collectors to the registry of one configuration.
func registerMetrics(reg prometheus.Registerer) error {
	c := &collectors
	for _, col := range []prometheus.Collector{
		c.deliveries, c.refusals, c.attempts, c.strengths, c.passes, c.secrets, c.notes, c.alarms,
		c.decision, c.upstream,
		storeCollector{},
	} {
		var already prometheus.AlreadyRegisteredError
		if err := reg.Register(col); err != nil && !errors.As(err, &already) {
			return err
		}
	}
	return nil
}

// routeMetrics are the collectors of one route with its label filled in. The
// hot path looks up children by a fixed word, without building label maps.
type routeMetrics struct {
	route    string
	mu       sync.RWMutex
	counters map[[3]string]prometheus.Counter
	decision map[string]prometheus.Observer
	upstream prometheus.Observer
}

func metricsFor(route string) *routeMetrics {
	return &routeMetrics{
		route:    route,
		counters: make(map[[3]string]prometheus.Counter),
		decision: make(map[string]prometheus.Observer),
		upstream: collectors.upstream.WithLabelValues(route),
	}
}

func (m *routeMetrics) inc(vec *prometheus.CounterVec, kind, a, b string) {
	key := [3]string{kind, a, b}
	m.mu.RLock()
	c := m.counters[key]
	m.mu.RUnlock()
	if c == nil {
		labels := []string{m.route, a}
		if b != "" {
			labels = append(labels, b)
		}
		c = vec.WithLabelValues(labels...)
		m.mu.Lock()
		m.counters[key] = c
		m.mu.Unlock()
	}
	c.Inc()
}

func (m *routeMetrics) refused(reason string) { m.inc(collectors.refusals, "refused", reason, "") }
func (m *routeMetrics) passed(kind string)    { m.inc(collectors.passes, "passed", kind, "") }
func (m *routeMetrics) secret(id string)      { m.inc(collectors.secrets, "secret", id, "") }
func (m *routeMetrics) strength(s delivery.Strength) {
	m.inc(collectors.strengths, "strength", s.String(), "")
}

func (m *routeMetrics) alarm(why delivery.Reason) {
	m.inc(collectors.alarms, "alarm", string(why), "")
}

func (m *routeMetrics) attempt(o delivery.Outcome, took time.Duration) {
	m.inc(collectors.attempts, "attempt", o.Class.String(), string(o.Reason))
	m.upstream.Observe(took.Seconds())
}

// verdict counts what is worth a look about a decision.
func (m *routeMetrics) verdict(v delivery.Verdict) {
	if v.IDReused {
		m.inc(collectors.notes, "note", "id_reused", "")
	}
	if v.BodySeen {
		m.inc(collectors.notes, "note", "same_body_new_id", "")
	}
	if v.Reason != "" {
		m.inc(collectors.notes, "note", string(v.Reason), "")
	}
	if v.Kind == delivery.HoldNew {
		m.alarm(v.Record.Reason)
	}
}

func (m *routeMetrics) decided(status string, took time.Duration) {
	m.inc(collectors.deliveries, "delivery", status, "")
	m.mu.RLock()
	o := m.decision[status]
	m.mu.RUnlock()
	if o == nil {
		o = collectors.decision.WithLabelValues(m.route, status)
		m.mu.Lock()
		m.decision[status] = o
		m.mu.Unlock()
	}
	o.Observe(took.Seconds())
}
