// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

const (
	// primedDeliveries are answered first and then repeated.
	primedDeliveries = 512
	// settle is the time a process gets before its idle memory is read.
	settle = time.Second
	// flushWindow bounds the time spent on flushes in each round.
	flushWindow = 300 * time.Millisecond
)

// system is a Caddy of ours.
type system struct {
	*process
	addr   string
	primed []uint64

	idle, loaded memory
}

// bench holds the running processes.
type bench struct {
	o      *options
	dir    string
	stderr io.Writer

	upstream *process
	proxy    *system
	respond  string // address, in the proxy's Caddy
	sidecars map[string]*system
	seq      atomic.Uint64
}

// newBench starts upstream, proxy and sidecars. The caller must stop them.
func newBench(ctx context.Context, o *options, dir string, stderr io.Writer) (_ *bench, err error) {
	b := &bench{o: o, dir: dir, stderr: stderr, sidecars: make(map[string]*system)}
	// IDs that look like those of real life, new in each run.
	b.seq.Store(rand.Uint64())
	defer func() {
		if err != nil {
			b.stop()
		}
	}()
	addrs, err := freeAddrs(5)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	upstream := addrs[0]
	b.upstream, err = startProcess("upstream", filepath.Join(dir, "upstream.log"), nil, self, upstreamCommand, upstream)
	if err != nil {
		return nil, err
	}
	if err := b.upstream.ready(ctx, upstream); err != nil {
		return nil, err
	}
	b.respond = addrs[2]
	if b.proxy, err = b.startCaddy(ctx, baseline, proxyCaddyfile(addrs[1], b.respond, upstream, o.logLevel), addrs[1], b.respond); err != nil {
		return nil, err
	}
	if !o.needsSidecar() {
		return b, b.settle(ctx)
	}
	for i, sync := range o.syncs() {
		name := "sidecar, sync " + sync
		s := sidecar{
			listen: addrs[3+i], upstream: upstream, store: filepath.Join(dir, "store-"+sync), sync: sync,
			provider: o.provider, directives: o.directives, logLevel: o.logLevel,
		}
		if b.sidecars[sync], err = b.startCaddy(ctx, name, s.caddyfile(), s.listen); err != nil {
			return nil, err
		}
	}
	return b, b.settle(ctx)
}

// startCaddy runs the binary with a Caddyfile and a data directory of its own.
func (b *bench) startCaddy(ctx context.Context, name, caddyfile string, addrs ...string) (*system, error) {
	home, err := os.MkdirTemp(b.dir, "caddy-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(home, "Caddyfile")
	if err := os.WriteFile(path, []byte(caddyfile), 0o600); err != nil {
		return nil, err
	}
	env := []string{
		"HOME=" + home, "XDG_DATA_HOME=" + home, "XDG_CONFIG_HOME=" + home,
		secretVariable + "=" + schemes[b.o.provider].secret,
	}
	p, err := startProcess(name, filepath.Join(home, "log"), env, b.o.binary, "run", "--config", path, "--adapter", "caddyfile")
	if err != nil {
		return nil, err
	}
	s := &system{process: p, addr: addrs[0]}
	if err := p.ready(ctx, addrs...); err != nil {
		p.stop()
		return nil, err
	}
	return s, nil
}

// settle reads the idle memory of each Caddy and then sends the deliveries
// that will be repeated.
func (b *bench) settle(ctx context.Context) error {
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, s := range b.systems() {
		m, err := s.memory()
		if err != nil {
			return err
		}
		s.idle, s.loaded = m, m
	}
	for _, s := range b.sidecars {
		l := b.load(1, s.addr, traffic{seq: &b.seq})
		primed, err := l.prime(primedDeliveries)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", s.name, err, s.tail())
		}
		s.primed = primed
	}
	return nil
}

func (b *bench) systems() []*system {
	list := []*system{b.proxy}
	for _, sync := range b.o.syncs() {
		if s := b.sidecars[sync]; s != nil {
			list = append(list, s)
		}
	}
	return list
}

// stop ends every process that was started.
func (b *bench) stop() {
	for _, s := range b.sidecars {
		if s != nil {
			s.stop()
		}
	}
	if b.proxy != nil {
		b.proxy.stop()
	}
	if b.upstream != nil {
		b.upstream.stop()
	}
}

func (b *bench) load(conns int, addr string, t traffic) load {
	return load{
		addr: addr, conns: conns, traffic: t, warmup: b.o.warmup, window: b.o.duration,
		scheme: schemes[b.o.provider], body: b.o.body,
	}
}

// run measures all rounds.
func (b *bench) run(ctx context.Context) (*report, error) {
	groups := b.groups()
	results := make([]groupResult, len(groups))
	var flushes []time.Duration
	for round := range b.o.rounds {
		times, err := flushTimes(b.dir, min(flushWindow, b.o.duration))
		if err != nil {
			return nil, err
		}
		flushes = append(flushes, times...)
		for i, g := range groups {
			fmt.Fprintf(b.stderr, "round %d of %d: %s\n", round+1, b.o.rounds, g.title())
			r, err := b.measureGroup(ctx, g, round)
			if err != nil {
				return nil, err
			}
			results[i] = append(results[i], r)
		}
	}
	return b.report(groups, results, flushes), nil
}

// measureGroup measures the targets of a group once, in an order that turns
// with the round, between two measurements of the bare proxy.
func (b *bench) measureGroup(ctx context.Context, g group, round int) (roundResult, error) {
	proxy, others := g.targets[0], g.targets[1:]
	order := []target{proxy}
	for i := range others {
		order = append(order, others[(i+round)%len(others)])
	}
	r := make(roundResult)
	for _, t := range append(order, proxy) {
		s, err := b.measure(ctx, g, t)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", g.title(), t.name, err)
		}
		r[t.name] = append(r[t.name], s)
	}
	return r, nil
}

// measure puts load on one target.
func (b *bench) measure(ctx context.Context, g group, t target) (sample, error) {
	if err := ctx.Err(); err != nil {
		return sample{}, err
	}
	var snapshots []usage
	var failed error
	snapshot := func() {
		u, err1 := b.usage(t.caddy)
		m, err2 := t.caddy.memory()
		t.caddy.loaded = t.caddy.loaded.most(m)
		snapshots = append(snapshots, u)
		failed = errors.Join(failed, err1, err2)
	}
	l := b.load(g.conns, t.addr, t.traffic)
	l.rate = g.rate
	result := l.run(ctx, snapshot)
	if failed != nil || len(snapshots) < 2 {
		return sample{}, errors.Join(failed, ctx.Err())
	}
	return newSample(result, b.o.duration, snapshots[1].since(snapshots[0])), nil
}

// usage reads the CPU times of now, for a load on one of the Caddys.
func (b *bench) usage(target *system) (u usage, err error) {
	var errs [4]error
	u.machine, errs[0] = machineCPU()
	u.rest, errs[1] = processCPU("self")
	u.upstream, errs[2] = b.upstream.cpu()
	for _, s := range b.systems() {
		d, err := s.cpu()
		errs[3] = errors.Join(errs[3], err)
		if s == target {
			u.caddy = d
		} else {
			u.rest += d
		}
	}
	return u, errors.Join(errs[:]...)
}
