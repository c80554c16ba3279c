// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// requests are examples that the tests share.
func requests() []Request {
	return []Request{
		{Header: http.Header{}},
		{
			Method: "POST", URI: "/hook/%2Fa?x=1&x=%zz", Proto: "HTTP/1.1", Host: "hooks.example.com:8443",
			RemoteAddr: "[::1]:4711", TLS: true, Received: time.Unix(1_700_000_000, 123456789).UTC(),
			Header: http.Header{
				"X-Signature": {"sha256=00ff"}, "Accept": {"b", "a", "b"}, "X-Empty": {""}, "User-Agent": {},
				"Content-Type": {"application/json"}, "lower-case": {"caf\xe9"},
			},
			Trailer: http.Header{"Digest": {"abc"}},
			Body:    []byte("{\"a\": \x00\xff 1}\r\n"),
		},
	}
}

func TestRequestRoundTrip(t *testing.T) {
	for _, r := range requests() {
		checkRequest(t, r)
	}
}

func TestRequestRoundTripRandom(t *testing.T) {
	text := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 40), func(b []byte) string { return string(b) })
	header := rapid.Custom(func(t *rapid.T) http.Header {
		h := http.Header{}
		for name, values := range rapid.MapOfN(text, rapid.SliceOfN(text, 0, 4), 0, 40).Draw(t, "header") {
			h[name] = values
		}
		return h
	})
	rapid.Check(t, func(t *rapid.T) {
		r := Request{
			Method: text.Draw(t, "method"), URI: text.Draw(t, "uri"), Proto: text.Draw(t, "proto"),
			Host: text.Draw(t, "host"), RemoteAddr: text.Draw(t, "addr"), TLS: rapid.Bool().Draw(t, "tls"),
			Received: time.Unix(0, rapid.Int64().Draw(t, "time")).UTC(), Header: header.Draw(t, "header"),
			Body: rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "body"),
		}
		if h := header.Draw(t, "trailer"); len(h) > 0 {
			r.Trailer = h
		}
		checkRequest(t, r)
	})
}

func checkRequest(t rapid.TB, r Request) {
	t.Helper()
	b := r.AppendTo([]byte("before"))[6:]
	if len(b) > r.Size() {
		t.Errorf("%d bytes, size said at most %d", len(b), r.Size())
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Body, r.Body) {
		t.Errorf("body %q, want %q", got.Body, r.Body)
	}
	got.Body = r.Body // nil and empty are alike
	if !reflect.DeepEqual(got, r) {
		t.Errorf("got  %#v\nwant %#v", got, r)
	}
	for cut := range min(len(b), 200) {
		if _, err := Decode(b[:cut]); err == nil {
			t.Errorf("decoded the first %d of %d bytes", cut, len(b))
		}
	}
	if _, err := Decode(append(b, 0)); err == nil {
		t.Error("decoded with a byte too many")
	}
}

func TestRequestIsCopied(t *testing.T) {
	b := requests()[1].appendForTest()
	r, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Clone(r.Body)
	clear(b[:len(b)-len(body)])
	want := requests()[1]
	if r.URI != want.URI || !reflect.DeepEqual(r.Header, want.Header) || !bytes.Equal(r.Body, body) {
		t.Errorf("fields changed with the input: %+v", r)
	}
}

func (r Request) appendForTest() []byte { return r.AppendTo(nil) }

func TestRequestOfANewerVersion(t *testing.T) {
	_, err := Decode([]byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	if err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("error %v does not name the version", err)
	}
}

// BenchmarkRequest measures the encoding of a usual delivery of 2 KiB.
func BenchmarkRequest(b *testing.B) {
	r := requests()[1]
	for _, name := range []string{"X-A", "X-B", "X-C", "X-D", "X-E", "X-F"} {
		r.Header.Set(name, "some value of a usual length")
	}
	r.Body = testPayload(1, 2048)
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = r.AppendTo(make([]byte, 0, r.Size()))
		}
	})
	data := r.AppendTo(nil)
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
