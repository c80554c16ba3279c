// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
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
// 256 KiB, on one core.
func BenchmarkFingerprint(b *testing.B) {
	volatile := FingerprintRules{Ignore: []string{"/created", "/**/url"}, Time: []string{"/data/*/at"}, Unordered: []string{"/data/object/lines"}}
	bodies := map[string][]byte{
		"2KiB":    benchBody(2 << 10),
		"256KiB":  benchBody(256 << 10),
		"escapes": []byte(`{"a":"` + strings.Repeat(`\u00e4\n\ud83c\udf89`, 10_000) + `"}`),
		"numbers": []byte("[" + strings.Repeat("-1234.5600e-7,", 15_000) + "0]"),
		"wide":    wideBody(20_000),
		"nested":  bytes.Repeat([]byte("["), 64),
	}
	bodies["nested"] = []byte("[" + strings.Repeat(strings.Repeat("[", 62)+strings.Repeat("]", 62)+",", 1000) + "1]")
	for _, name := range []string{"2KiB", "256KiB", "escapes", "numbers", "wide", "nested"} {
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
