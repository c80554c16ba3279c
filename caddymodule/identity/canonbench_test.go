// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"strings"
	"testing"
)

func mustRules(t testing.TB, r FingerprintRules) *rules {
	t.Helper()
	c, err := compileRules(&r, []byte("test"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// BenchmarkFingerprint is to stay under 25 µs for 2 KiB and above 100 MB/s for
// 256 KiB, on one core. The others are the worst that a sender can do (S12),
// which is to stay under 50 ms for 1 MiB.
func BenchmarkFingerprint(b *testing.B) {
	volatile := FingerprintRules{Ignore: []string{"/created", "/**/url"}, Time: []string{"/data/*/at"}, Unordered: []string{"/data/object/lines"}}
	bodies := map[string][]byte{
		"2KiB":    benchBody(2 << 10),
		"256KiB":  benchBody(256 << 10),
		"escapes": []byte(`{"a":"` + strings.Repeat(`\u00e4\n\ud83c\udf89`, 10_000) + `"}`),
		"numbers": []byte("[" + strings.Repeat("-1234.5600e-7,", 15_000) + "0]"),
		"wide":    wideBody(20_000),
		"nested":  []byte("[" + strings.Repeat(strings.Repeat("[", 62)+strings.Repeat("]", 62)+",", 1000) + "1]"),
		"names":   longNames(2000),
	}
	for _, name := range []string{"2KiB", "256KiB", "escapes", "numbers", "wide", "nested", "names"} {
		for kind, r := range map[string]FingerprintRules{"plain": {}, "rules": volatile} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				c, body := mustRules(b, r), bodies[name]
				var z canonizer
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if _, note := z.digest(c, body); note != "" {
						b.Fatal(note)
					}
				}
			})
		}
	}
}

// wideBody is an object whose names come in reverse.
func wideBody(names int) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i := names; i > 0; i-- {
		fmt.Fprintf(&b, `"name_%07d":%d,`, i, i)
	}
	b.WriteString(`"a":1}`)
	return []byte(b.String())
}

// longNames is an object whose names differ only at their end.
func longNames(names int) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for i := names; i > 0; i-- {
		fmt.Fprintf(&b, `"%s%d":[],`, longText(500), i)
	}
	b.WriteString(`"a":1}`)
	return []byte(b.String())
}

// TestScratch: ordinary bodies take no memory but the pooled scratch, and bombs
// no more than a small multiple of their size (S12).
func TestScratch(t *testing.T) {
	c := mustRules(t, FingerprintRules{Ignore: []string{"/**/url"}, Time: []string{"/created"}})
	var z canonizer
	body := benchBody(2 << 10)
	if n := testing.AllocsPerRun(100, func() { z.digest(c, body) }); n > 0 {
		t.Errorf("%v allocations for each body", n)
	}
	bombs := [][]byte{
		[]byte("[" + strings.Repeat("[],", 66_000) + "1]"), []byte("[" + strings.Repeat("0,", 190_000) + "1]"),
		wideBody(60_000), longNames(2000), []byte(`["` + strings.Repeat(`\u0001`, 200_000) + `"]`),
	}
	for i, body := range bombs {
		z.digest(c, body)
		if cap(z.buf)+cap(z.moved)+cap(z.text) > 3*maxScratch {
			t.Errorf("bomb %d: scratch of %d bytes is kept", i, cap(z.buf)+cap(z.moved)+cap(z.text))
		}
		z.rules = c
		if z.encode(body, true); z.note != "" || len(z.buf) > maxInline {
			t.Errorf("bomb %d: %q, %d bytes are left of %d", i, z.note, len(z.buf), len(body))
		}
		if used := cap(z.buf) + cap(z.moved) + cap(z.text); used > 6*len(body)+maxScratch {
			t.Errorf("bomb %d of %d bytes took %d", i, len(body), used)
		}
		z.reset()
	}
}
