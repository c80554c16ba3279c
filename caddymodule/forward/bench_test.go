// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"syscall"
	"testing"
	"time"
)

// answering is an app that reads and answers with raw bytes, so that what is
// measured is mostly the sending side.
func answering(b *testing.B) *app {
	return startApp(b, "tcp", func(p *peer) {
		for {
			if head, _ := p.request(); head == "" {
				return
			}
			p.say(okEmpty)
		}
	})
}

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs call from 64 goroutines and reports the CPU time of the process,
// the app's share included.
func measure(b *testing.B, call func()) {
	b.ReportAllocs()
	b.SetParallelism(max(1, 64/runtime.GOMAXPROCS(0)))
	start := cpu()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			call()
		}
	})
	b.ReportMetric(float64((cpu()-start).Microseconds())/float64(b.N), "cpu-µs/op")
}

func BenchmarkForwarder(b *testing.B) {
	for name, size := range map[string]int{"2KiB": 2 << 10, "64KiB": 64 << 10} {
		b.Run(name, func(b *testing.B) {
			a := answering(b)
			f := newForwarder(b, a.conf)
			r := post(size)
			r.Header = webhookHeader()
			measure(b, func() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				if got := f.Do(ctx, r); got.Status != 200 {
					b.Error(got.Err)
				}
				cancel()
			})
		})
	}
}

// BenchmarkReverseProxy is the same work by the standard library's proxy, with
// the same number of idle connections.
func BenchmarkReverseProxy(b *testing.B) {
	a := answering(b)
	tr := &http.Transport{MaxIdleConnsPerHost: DefaultIdleConns, DisableCompression: true}
	defer tr.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{Transport: tr, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: a.address})
		r.SetXForwarded()
	}}
	body, header := post(2<<10).Body, webhookHeader()
	measure(b, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		in := httptest.NewRequestWithContext(ctx, "POST", "/hook", struct{ io.Reader }{bytes.NewReader(body)})
		in.ContentLength, in.Header = int64(len(body)), header
		w := httptest.NewRecorder()
		if proxy.ServeHTTP(w, in); w.Code != 200 {
			b.Errorf("status %d", w.Code)
		}
		cancel()
	})
}

// BenchmarkTransport is the floor: a bare round trip of net/http.
func BenchmarkTransport(b *testing.B) {
	a := answering(b)
	f := newForwarder(b, a.conf)
	t := f.targets[0]
	r := post(2 << 10)
	r.Header = webhookHeader()
	header := r.header()
	measure(b, func() {
		resp, err := t.transport.RoundTrip(r.build(context.Background(), t, header))
		if err != nil {
			b.Error(err)
			return
		}
		_ = resp.Body.Close()
	})
}

func webhookHeader() http.Header {
	return http.Header{
		"Accept":              {"*/*"},
		"Content-Type":        {"application/json"},
		"User-Agent":          {"GitHub-Hookshot/044aadd"},
		"X-Github-Delivery":   {"72d3162e-cc78-11e3-81ab-4c9367dc0958"},
		"X-Github-Event":      {"push"},
		"X-Hub-Signature-256": {"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
	}
}
