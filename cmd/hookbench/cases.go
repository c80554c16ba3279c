// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strconv"
)

// openConns is how many connections share the requests of the open loop.
const openConns = 64

// baseline is the name of the bare proxy in the report.
const baseline = "bare proxy"

// target is something that takes load: a site of a Caddy of ours.
type target struct {
	name    string // in the report
	caddy   *system
	addr    string
	traffic traffic
}

// group is what is measured together and compared.
type group struct {
	conns   int
	rate    float64 // of an open loop, else 0
	targets []target
}

func (g group) title() string {
	if g.rate > 0 {
		return strconv.FormatFloat(g.rate, 'f', -1, 64) + " requests/s, open loop"
	}
	if g.conns == 1 {
		return "1 connection"
	}
	return strconv.Itoa(g.conns) + " connections"
}

// firstSeen is the report's name of first-seen deliveries in a store mode.
func firstSeen(sync string) string { return "first-seen, sync " + sync }

// groups lays out what the options ask for. The bare proxy leads each group.
func (b *bench) groups() []group {
	plain := traffic{kind: "plain", seq: &b.seq}
	proxy := target{baseline, b.proxy, b.proxy.addr, plain}
	closed := []target{proxy}
	if b.o.has("respond") {
		closed = append(closed, target{"respond", b.proxy, b.respond, plain})
	}
	open := []target{proxy}
	if b.o.needsSidecar() {
		firsts := b.firsts()
		if b.o.has("first-seen", "memory") {
			closed = append(closed, firsts...)
		}
		// The look-up of a duplicate and a refusal do not depend on the mode.
		s := b.sidecars[b.o.syncs()[0]]
		duplicate := target{"duplicate", s, s.addr, traffic{kind: "duplicate", primed: s.primed}}
		if b.o.has("duplicate") {
			closed = append(closed, duplicate)
		}
		if b.o.has("refused") {
			closed = append(closed, target{"refused signature", s, s.addr, traffic{kind: "refused", seq: &b.seq}})
		}
		open = append(append(open, firsts...), duplicate)
	}
	var groups []group
	if len(closed) > 1 {
		for _, n := range b.o.conns {
			groups = append(groups, group{conns: n, targets: closed})
		}
	}
	if b.o.has("open-loop") {
		groups = append(groups, group{conns: openConns, rate: b.o.rate, targets: open})
	}
	return groups
}

// firsts are the targets for first-seen deliveries, one for each store mode.
func (b *bench) firsts() []target {
	var list []target
	for _, sync := range b.o.syncs() {
		s := b.sidecars[sync]
		list = append(list, target{firstSeen(sync), s, s.addr, traffic{kind: "first", seq: &b.seq}})
	}
	return list
}

// has tells whether one of the cases is to be measured.
func (o *options) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(o.cases, name) })
}

// needsSidecar tells whether any case wants one.
func (o *options) needsSidecar() bool {
	return slices.ContainsFunc(o.cases, func(name string) bool { return name != "respond" })
}
