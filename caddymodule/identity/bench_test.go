// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// benchBody is a body of about size bytes in the shape of real payloads.
func benchBody(size int) []byte {
	var b strings.Builder
	b.WriteString(`{"object":"event","type":"charge.succeeded","data":{"object":{"lines":[`)
	for i := 0; b.Len() < size-80; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"li_%06d","amount":%d,"currency":"eur","paid":true,"note":null,"url":"https://example.test/x/%d"}`, i, i*100, i)
	}
	b.WriteString(`]}},"created":1790000000,"livemode":false,"id":"evt_1PqXyZ2eZvKYlo2C"}`)
	return []byte(b.String())
}

func BenchmarkScan(b *testing.B) {
	for _, size := range []int{2 << 10, 1 << 20} {
		b.Run(fmt.Sprintf("%dKiB", size>>10), func(b *testing.B) {
			root := &node{index: -1}
			for i, p := range []Pointer{{"id"}, {"data", "object", "id"}} {
				if err := root.add(p, i); err != nil {
					b.Fatal(err)
				}
			}
			body, found := benchBody(size), make([]finding, 2)
			var s scanner
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				s.run(root, body, found)
			}
			if !bytes.HasPrefix(found[0].raw, []byte("evt_")) {
				b.Fatal("no ID was found")
			}
		})
	}
}

func BenchmarkDerive(b *testing.B) {
	req := request(string(benchBody(2<<10)), "X-Github-Delivery", "11111111-aaaa-4bbb-8ccc-000000000001")
	for name, cfg := range map[string]Config{
		"signed":   {EventID: []Candidate{signed(b, "json /id")}},
		"unsigned": {DeliveryID: []Candidate{unsigned(b, "header X-GitHub-Delivery")}},
		"both": {
			EventID:    []Candidate{signed(b, "json /id")},
			DeliveryID: []Candidate{unsigned(b, "header X-GitHub-Delivery")},
		},
		"fallback": {},
	} {
		b.Run(name, func(b *testing.B) {
			d := newDeriver(b, cfg)
			b.ReportAllocs()
			for b.Loop() {
				if k := d.Derive(req); k.Problem.Code != "" {
					b.Fatal(k.Problem)
				}
			}
		})
	}
}
