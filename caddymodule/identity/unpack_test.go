// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

var packers = map[string]func(io.Writer) (io.WriteCloser, error){
	"gzip":    func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriterLevel(w, 5) },
	"deflate": func(w io.Writer) (io.WriteCloser, error) { return zlib.NewWriterLevel(w, 5) },
	"zstd":    func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)) },
}

// pack compresses chunk, times times in a row.
func pack(t testing.TB, how string, chunk []byte, times int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := packers[how](&out)
	if err != nil {
		t.Fatal(err)
	}
	for range times {
		if _, err := w.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestUnpack(t *testing.T) {
	json := string(benchBody(4 << 10))
	want := digestOf(t, FingerprintRules{}, json)
	for how := range packers {
		packed := pack(t, how, []byte(json), 1)
		for name, c := range map[string]struct {
			body []byte
			want string
		}{
			"packed JSON":     {packed, want},
			"rubbish behind":  {append(bytes.Clone(packed), "rubbish"...), "no digest: invalid_compression"},
			"cut off":         {packed[:len(packed)-3], "no digest: invalid_compression"},
			"only the header": {packed[:4], "no digest: invalid_compression"},
			"S11 nested":      {pack(t, how, packed, 1), "no digest: unknown_type"},
			"packed text":     {pack(t, how, []byte("<xml/>"), 1), "no digest: unknown_type"},
			"packed nothing":  {pack(t, how, nil, 1), "no digest: unknown_type"},
			"S11 ratio above 100": {
				pack(t, how, append([]byte(`{"a":"`), append(bytes.Repeat([]byte("a"), 1<<20), `"}`...)...), 1), "no digest: too_large",
			},
		} {
			if got := digestOf(t, FingerprintRules{}, string(c.body)); got != c.want {
				t.Errorf("%s, %s: got %.60q, want %.60q", how, name, got, c.want)
			}
		}
	}
}

// TestUnpackForms: what is inside counts, whatever it is.
func TestUnpackForms(t *testing.T) {
	for _, body := range []string{"a=1&b=2", encodeParts(t, "x", formPart{"a", "", "", "1"})} {
		packed := pack(t, "gzip", []byte(body), 1)
		if a, b := digestOf(t, FingerprintRules{}, body), digestOf(t, FingerprintRules{}, string(packed)); a != b || strings.HasPrefix(a, "no") {
			t.Errorf("%.20q: %.30q, %.30q", body, a, b)
		}
	}
}

// TestBombs: what expands without end takes the memory of the limit, also when
// 10 MiB of padding make its ratio look harmless. This is threat S11.
func TestBombs(t *testing.T) {
	for how := range packers {
		bomb := pack(t, how, make([]byte, 4<<20), 8)
		for name, body := range map[string][]byte{
			"bomb":   bomb,
			"padded": append(bytes.Clone(bomb), make([]byte, 10<<20)...),
		} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			var z canonizer
			_, note := z.digest(mustRules(t, FingerprintRules{}), body)
			runtime.ReadMemStats(&after)
			if note != NoteTooLarge {
				t.Errorf("%s, %s: got note %q", how, name, note)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 96<<20 {
				t.Errorf("%s, %s: %d MiB were allocated", how, name, used>>20)
			}
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for how := range packers {
		f.Add(pack(f, how, []byte(`{"a":[1,2]}`), 1))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		plain, note := unpack(body)
		if len(plain) > maxRatio*len(body) || len(plain) > maxUnpacked || note != "" && plain != nil {
			t.Errorf("%d bytes became %d, note %q", len(body), len(plain), note)
		}
		var z canonizer
		z.digest(mustRules(t, FingerprintRules{}), body)
	})
}
