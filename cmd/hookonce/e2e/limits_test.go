// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// dialRaw sends bytes on a connection of its own.
func dialRaw(t testing.TB, s *Sidecar, send string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Site)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, send); err != nil {
		t.Fatal(err)
	}
	return conn
}

// raw is a request as bytes, up to its body.
func raw(t testing.TB, s *Sidecar, d Delivery, change func(*http.Request)) (head, body string) {
	t.Helper()
	r := d.Request(t, "http://"+s.Site)
	if change != nil {
		change(r)
	}
	var b bytes.Buffer
	if err := r.Write(&b); err != nil {
		t.Fatal(err)
	}
	head, body, _ = strings.Cut(b.String(), "\r\n\r\n")
	return head + "\r\n\r\n", body
}

func TestBodyTooLarge(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "max_body 100KiB", "upstream "+app.Addr())), Options{})
	fits := Delivery{Provider: "github", Body: strings.Repeat("x", 100<<10)}
	s.Deliver(t, fits).Is(t, "exactly", 200, "first")
	over := Delivery{Provider: "github", Body: fits.Body + "x"}
	s.Deliver(t, over).Is(t, "one more", 413, "refused; reason=body_too_large")
	over.Change = func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(&slow{body: over.Body}), -1 }
	s.Deliver(t, over).Is(t, "one more, in chunks", 413, "refused; reason=body_too_large")
	if n := len(app.Arrivals(over.Body)); n != 0 {
		t.Errorf("%d requests at the app", n)
	}
}

// B-18: what can be refused by its head is refused before the body is asked for,
// whether the sender waits for permission or not.
func TestRefusedBeforeTheBody(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	for _, row := range []struct {
		name   string
		length int64
		header map[string]string
		status string
	}{
		{"too large", 26 << 20, nil, "413"},
		{"unsigned", 4000, map[string]string{"X-Hub-Signature-256": ""}, "401"},
		{"malformed", 300 << 10, map[string]string{"X-Hub-Signature-256": "sha256=x"}, "401"},
		{"early data", 4000, map[string]string{"Early-Data": "1"}, "425"},
	} {
		for _, expect := range []string{"", "100-continue"} {
			t.Run(row.name+"/"+expect, func(t *testing.T) {
				r := Delivery{Provider: "github"}.Request(t, "http://"+s.Site)
				head := fmt.Sprintf("POST /github HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", s.Site, row.length)
				for name, value := range row.header {
					r.Header.Set(name, value)
				}
				if expect != "" {
					r.Header.Set("Expect", expect)
				}
				for name := range r.Header {
					if value := r.Header.Get(name); value != "" {
						head += name + ": " + value + "\r\n"
					}
				}
				conn := dialRaw(t, s, head+"\r\n")
				answer := make([]byte, 12)
				if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 "+row.status {
					t.Errorf("answer %q, %v", answer, err)
				}
			})
		}
	}
}

// a body that does not come is not waited for, and costs nobody else.
func TestBodyTimeout(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "body_timeout 300ms", "upstream "+app.Addr())), Options{})
	d := Delivery{Provider: "github", Body: `{"slow":true}`}
	head, body := raw(t, s, d, nil)
	var conns []net.Conn
	for range 50 {
		conns = append(conns, dialRaw(t, s, head+body[:3]))
	}
	s.Deliver(t, Delivery{Provider: "github", Body: `{"other":true}`}).Is(t, "another", 200, "first")
	for _, conn := range conns {
		answer, err := io.ReadAll(conn)
		if err != nil || !bytes.HasPrefix(answer, []byte("HTTP/1.1 408")) || !bytes.Contains(answer, []byte("reason=body_timeout")) {
			t.Fatalf("answer %q, %v", answer, err)
		}
	}
	s.Deliver(t, d).Is(t, "the whole", 200, "first")
}

// The bodies of all requests together have a bound; who comes beyond it is asked
// to return.
func TestBodyMemory(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{Hookonce: "\t\tbody_memory 900KiB\n"})
	large := Delivery{Provider: "github", Body: strings.Repeat("m", 400<<10)}
	app.Script(named("hold"))
	first := s.Go(t, large)
	app.Wait(t, large.Body, 1)
	other := Delivery{Provider: "github", Body: strings.Repeat("n", 400<<10)}
	a := s.Deliver(t, other)
	a.Is(t, "no room", 503, "refused; reason=no_capacity")
	if a.Header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.Deliver(t, Delivery{Provider: "github", Body: "small"}).Is(t, "a small one", 200, "first")
	app.Release()
	first.Answer(t).Is(t, "first", 200, "first")
	s.Deliver(t, other).Is(t, "room again", 200, "first")
}

// The kept requests have a bound as well.
func TestSpoolFull(t *testing.T) {
	app := NewApp(t, oracle.Config{Default: named("close")})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{Hookonce: "\t\tspool_size 16MiB\n"})
	full := false
	for i := range 200 { // each of them is kept
		d := Delivery{Provider: "github", Body: fmt.Sprint(i, strings.Repeat("k", 512<<10))}
		a := s.Deliver(t, d)
		if a.Status == 503 {
			a.Is(t, "no room", 503, "refused; reason=no_capacity")
			full = true
			break
		}
		a.Is(t, fmt.Sprint("delivery ", i), 200, "held")
	}
	if !full {
		t.Fatal("the spool has no end")
	}
	item := s.Items(t, "state=uncertain")[0]
	s.Act(t, item.ID, "confirm")
	for _, i := range s.Items(t, "state=uncertain")[:4] {
		s.Act(t, i.ID, "drop")
	}
	s.Deliver(t, Delivery{Provider: "github", Body: "small"}).Is(t, "room again", 200, "held")
}

func TestEarlyData(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	d := Delivery{Provider: "github", Body: "{}", Change: func(r *http.Request) { r.Header.Set("Early-Data", "1") }}
	if a := s.Deliver(t, d); a.Status != http.StatusTooEarly {
		t.Errorf("got %v", a)
	}
	if app.Stats().Requests != 0 {
		t.Error("early data reached the app")
	}
	d.Change = nil
	s.Deliver(t, d).Is(t, "later", 200, "first")
}

// A body that ends before its length is no delivery.
func TestBodyCut(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	d := Delivery{Provider: "github", Body: `{"cut":"in the middle"}`}
	head, body := raw(t, s, d, nil)
	conn := dialRaw(t, s, head+body[:5])
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil || len(answer) > 0 && !bytes.HasPrefix(answer, []byte("HTTP/1.1 400")) {
		t.Errorf("answer %q, %v", answer, err)
	}
	s.Deliver(t, d).Is(t, "the whole", 200, "first")
	if n := app.Stats().Requests; n != 1 {
		t.Errorf("%d requests at the app, want 1", n)
	}
}
