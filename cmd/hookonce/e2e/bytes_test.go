// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// What reaches the app is what the provider sent: every byte of the body, the
// raw path and query, method, host, and all end-to-end headers with the
// signature among them (B-17: the app may verify again).
func TestPreserved(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	var routes []string
	for _, w := range ways {
		routes = append(routes, w.route("/"+w.name+"*", "github", app.Addr()))
	}
	s := Start(t, strings.Replace(Site(routes...), "<site>", "<any>", 1), Options{})
	bodies := map[string]string{
		"B-01 emoji":          "{\"message\":\"ship it \U0001F680 \u00fc\u4e16\"}",
		"B-02 escapes":        "{\"z\":\"esc \\u001B[31m \\u00e4 \\/path\\/\",\"n\":1.0,\"a\":[ ],\t\"sp\" : \"x\"}\n",
		"B-04 BOM":            "\ufeff{\"bom\":true}",
		"CRLF":                "[{\"a\":1},\r\n{\"b\":2}]\r\n",
		"binary":              string([]byte{0, 1, 2, 0xff, 0xfe, 0xc3, 0x28, '\n', 0}),
		"S19 placeholders":    "{\"a\":\"{env.SECRET_GITHUB} {file./etc/passwd} {http.request.uri}\"}",
		"one byte":            "x",
		"I-19 null":           "null",
		"a megabyte":          strings.Repeat("0123456789abcdef", 1<<20/16),
		"65,536 and one":      strings.Repeat("y", 64<<10+1),
		"B-14 form":           "payload=%7B%22a%22%3A%22b+c%22%7D&x=%2B+%26",
		"invalid JSON":        "{\"a\":",
		"text with quotes \\": "\\\"\\\"",
	}
	for _, w := range ways {
		for name, body := range bodies {
			t.Run(w.name+"/"+name, func(t *testing.T) {
				path := "/" + w.name + "/a%2Fb/%7Euser;v=1?q=a+b&q=%20c&empty=&{env.HOME}"
				d := Delivery{Provider: "github", Path: path, Body: w.name + body, Header: map[string]string{
					"X-Custom": "v {env.SECRET_GITHUB} \u00e4", "Cookie": "a=b; c=d", "Authorization": "Basic " + base64.StdEncoding.EncodeToString([]byte("u:p")),
					"Accept-Encoding": "br;q=1.0, gzip", "Content-Type": "application/json; charset=utf-8", "Date": "Mon, 02 Jan 2006 15:04:05 GMT",
				}}
				var sent *http.Request
				d.Change = func(r *http.Request) { r.Host = "hooks.example.test"; sent = r }
				if a := s.Deliver(t, d); a.Status != 200 || a.Word != "first" {
					t.Fatalf("got %v", a)
				}
				got := app.Wait(t, d.Body, 1)
				if string(got.Body) != d.Body || got.Method != http.MethodPost || got.Path != path || got.Host != "hooks.example.test" {
					t.Errorf("arrived as %s %q of %s with %d bytes", got.Method, got.Path, got.Host, len(got.Body))
				}
				for key, values := range sent.Header {
					if !slices.Equal(got.Header[key], values) {
						t.Errorf("header %s arrived as %q, sent was %q", key, got.Header[key], values)
					}
				}
				for key := range got.Header {
					added := []string{"Content-Length", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}
					if _, ok := sent.Header[key]; !ok && !slices.Contains(added, key) {
						t.Errorf("header %s: %q was added", key, got.Header[key])
					}
				}
			})
		}
	}
}

// S16: what only we may say is taken off what comes from outside. S29: a header
// that makes Go send a request again by itself does no harm.
func TestHeadersFromOutside(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	var routes []string
	for _, w := range ways {
		routes = append(routes, w.route("/"+w.name, "github", app.Addr()))
	}
	s := Start(t, Site(routes...), Options{})
	for _, w := range ways {
		t.Run("S16/"+w.name, func(t *testing.T) {
			d := Delivery{Provider: "github", Path: "/" + w.name, Body: `{"s":16,"w":"` + w.name + `"}`, Header: map[string]string{
				"Hookonce-Key": "forged", "Hookonce-Attempt": "7", "Hookonce-Status": "duplicate", "hookonce-anything": "x",
			}}
			s.Deliver(t, d).Is(t, "first", 200, "first")
			for key := range app.Wait(t, d.Body, 1).Header {
				if strings.HasPrefix(key, "Hookonce-") {
					t.Errorf("%s reached the app", key)
				}
			}
		})
		for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
			t.Run("S29/"+w.name+"/"+name, func(t *testing.T) {
				own := NewApp(t, oracle.Config{}) // its connections are ours alone
				s := Start(t, Site(w.route("/github", "github", own.Addr())), Options{})
				s.Deliver(t, Delivery{Provider: "github", Body: "{}"}).Is(t, "warm-up", 200, "first")
				own.Script(named("done-reused"))
				d := Delivery{Provider: "github", ID: "s29", Header: map[string]string{name: "7", "Content-Type": "application/json"}}
				s.Deliver(t, d).Is(t, "first", 200, "held")
				if n := own.Effects(t, ""); n != 1 {
					t.Errorf("%d effects of one attempt, want 1", n)
				}
				if got := own.Wait(t, "", 1).Header.Get(name); got != "7" {
					t.Errorf("the provider's %s arrived as %q", name, got)
				}
			})
		}
	}
}

// B-09: chunks without a length. B-18: Expect: 100-continue. B-10: HTTP/2 with
// several frames and no length, with and without trailers. The result is the
// same as with a length.
func TestFramings(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	var routes []string
	for _, w := range ways {
		routes = append(routes, w.route("/"+w.name, "github", app.Addr(), "max_body 4MiB", "name one-"+w.name)) // one name: the two sites are one route
	}
	s := Start(t, Site(routes...)+"https://<TLS> {\n\ttls internal\n"+strings.Join(routes, "\n")+"}\n",
		Options{Global: "\tskip_install_trust\n\tservers {\n\t\tprotocols h1 h2 h2c\n\t}", Vars: map[string]string{"TLS": freeAddr(t)}})
	clients := map[string]*http.Client{"h1": s.client, "h2c": h2cClient(), "h2": h2Client()}
	base := map[string]string{"h1": "http://" + s.Site, "h2c": "http://" + s.Site, "h2": "https://" + s.opts.Vars["TLS"]}
	type framing struct {
		name   string
		change func(*http.Request, string)
	}
	pieces := func(r *http.Request, body string) { r.Body, r.ContentLength = io.NopCloser(&slow{body: body}), -1 }
	framings := []framing{
		{"length", func(*http.Request, string) {}},
		{"B-09 pieces", pieces},
		{"B-18 expect", func(r *http.Request, _ string) { r.Header.Set("Expect", "100-continue") }},
		{"B-10 trailer", func(r *http.Request, body string) {
			pieces(r, body)
			r.Trailer = http.Header{"X-Trailer": {"at the end"}}
		}},
	}
	for _, w := range ways {
		for proto, client := range clients {
			for _, f := range framings {
				t.Run(strings.Join([]string{w.name, proto, f.name}, "/"), func(t *testing.T) {
					body := fmt.Sprintf(`{"%s":%q}`, t.Name(), strings.Repeat("x", 2<<20))
					d := Delivery{Provider: "github", Path: "/" + w.name, Body: body}
					for i, word := range []string{"first", "duplicate"} {
						r := d.Request(t, base[proto])
						f.change(r, body)
						a, err := exchange(client, r)
						if err != nil {
							t.Fatal(err)
						}
						a.Is(t, fmt.Sprint("time ", i+1), 200, word)
					}
					got, length := app.Wait(t, body, 1), fmt.Sprint(len(body))
					if f.name == "B-10 trailer" && w.name != "upstream" {
						length = "" // reverse_proxy sends the trailer, for which HTTP/1.1 needs chunks
					}
					if got.Header.Get("Content-Length") != length || got.Header.Get("Expect") != "" {
						t.Errorf("arrived with length %q, Expect %q", got.Header.Get("Content-Length"), got.Header.Get("Expect"))
					}
					if n := app.Effects(t, body); n != 1 {
						t.Errorf("%d effects, want 1", n)
					}
				})
			}
		}
	}
}

// slow hands out a body in pieces.
type slow struct{ body string }

func (s *slow) Read(p []byte) (int, error) {
	if s.body == "" {
		return 0, io.EOF
	}
	n := copy(p, s.body[:min(len(s.body), 7000)])
	s.body = s.body[n:]
	return n, nil
}

func h2cClient() *http.Client {
	tr := &http.Transport{DisableCompression: true, Protocols: new(http.Protocols)}
	tr.Protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: tr}
}

func h2Client() *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableCompression: true, ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // Caddy's own authority
	}}
}

// L-11: a sender that shuts down its writing half after the body has not gone.
func TestL11_halfClose(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	var routes []string
	for _, w := range ways {
		routes = append(routes, w.route("/"+w.name, "github", app.Addr()))
	}
	s := Start(t, Site(routes...), Options{})
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			d := Delivery{Provider: "github", Path: "/" + w.name, Body: `{"l":11,"w":"` + w.name + `"}`}
			app.Script(oracle.Behaviour{Hold: true, Body: "done"})
			var raw bytes.Buffer
			if err := d.Request(t, "http://"+s.Site).Write(&raw); err != nil {
				t.Fatal(err)
			}
			conn, err := net.Dial("tcp", s.Site)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := conn.Write(raw.Bytes()); err != nil {
				t.Fatal(err)
			}
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			app.Wait(t, d.Body, 1)
			app.Release()
			answer, err := io.ReadAll(conn)
			if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 200")) || !bytes.HasSuffix(answer, []byte("done")) {
				t.Errorf("the answer was %q, %v", answer, err)
			}
			s.Deliver(t, d).Is(t, "repeat", 200, "duplicate")
			if n := app.Effects(t, d.Body); n != 1 {
				t.Errorf("%d effects, want 1", n)
			}
		})
	}
}
