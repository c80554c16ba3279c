// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// Every way to speak to an app, with the outcomes that tell them apart: done,
// known not to be done, and doubt.
func TestTransports(t *testing.T) {
	plain := NewApp(t, oracle.Config{})
	unix := NewApp(t, oracle.Config{Addr: "unix/" + filepath.Join(t.TempDir(), "app.sock")})
	h2c := NewApp(t, oracle.Config{HTTP: oracle.HTTP2})
	h2 := NewApp(t, oracle.Config{HTTP: oracle.HTTP2, TLS: oracle.TLSGood})
	forward := func(to string) string { return "forward {\n\t\treverse_proxy " + to + "\n\t}" }
	rows := []struct {
		name, line string
		app        *App
	}{
		{"plain", "upstream " + plain.Addr(), plain},
		{"http", "upstream http://" + plain.Addr(), plain},
		{"unix", "upstream " + unix.Addr(), unix},
		{"h2c", "upstream h2c://" + h2c.Addr(), h2c},
		{"h2", "upstream https://" + h2.Addr() + " {\n\t\ttls_insecure_skip_verify\n\t}", h2},
		{"forward-unix", forward(unix.Addr()), unix},
		{"forward-h2c", forward("h2c://" + h2c.Addr()), h2c},
		{"forward-h2", forward("https://" + h2.Addr() + " {\n\t\t\ttransport http {\n\t\t\t\ttls_insecure_skip_verify\n\t\t\t}\n\t\t}"), h2},
	}
	var routes []string
	for _, r := range rows {
		routes = append(routes, Route("/"+r.name, "github", r.line))
	}
	s := Start(t, Site(routes...), Options{})
	for _, r := range rows {
		for _, o := range []struct {
			name   string
			app    oracle.Behaviour
			status int
			word   string
			next   string
		}{
			{"done", answering(201), 201, "first", "duplicate"},
			{"not done", answering(500), 500, "first", "first-again"},
			{"doubt", named("close"), 200, "held", "held"},
			{"cut", named("cut-length"), 200, "held", "held"},
		} {
			t.Run(r.name+"/"+o.name, func(t *testing.T) {
				r.app.Script(o.app)
				d := Delivery{Provider: "github", Path: "/" + r.name, Body: t.Name()}
				s.Deliver(t, d).Is(t, "first", o.status, o.word)
				s.Deliver(t, d).Is(t, "repeat", 200, o.next)
				if n := r.app.Effects(t, d.Body); n != 1 {
					t.Errorf("%d effects, want 1", n)
				}
			})
		}
	}
}

// fastCGI serves what a PHP app would, and counts.
type fastCGI struct{ arrived chan string }

func (f *fastCGI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(err)
	}
	f.arrived <- string(body)
	switch {
	case strings.Contains(string(body), "fail"):
		w.WriteHeader(http.StatusInternalServerError)
	case strings.Contains(string(body), "long"):
		w.Header().Set("Content-Length", "100")
	}
	io.WriteString(w, "php says so")
}

// A FastCGI transport reports less than one of HTTP: dials only. What was sent
// and not answered is in doubt all the same.
func TestFastCGI(t *testing.T) {
	listen := func() net.Listener {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ln.Close() })
		return ln
	}
	app, good, mute := &fastCGI{arrived: make(chan string, 100)}, listen(), listen()
	go func() { _ = fcgi.Serve(good, app) }() // ends when the listener is closed
	go func() {
		for {
			conn, err := mute.Accept()
			if err != nil {
				return
			}
			conn.Close() // takes the request and says nothing
		}
	}()
	proxy := func(to string) string {
		return "reverse_proxy " + to + " {\n\t\t\ttransport fastcgi {\n\t\t\t\troot /srv\n\t\t\t}\n\t\t}"
	}
	s := Start(t, Site(
		Route("/good.php", "github", "forward {\n\t\t"+proxy(good.Addr().String())+"\n\t}"),
		Route("/next.php", "github"), "handle /next.php {\n\t"+proxy(good.Addr().String())+"\n}",
		Route("/mute.php", "github", "forward {\n\t\t"+proxy(mute.Addr().String())+"\n\t}"),
		Route("/down.php", "github", "forward {\n\t\t"+proxy(freeAddr(t))+"\n\t}"),
	), Options{})
	for _, r := range []struct {
		path, body string
		status     int
		word       string
		again      int
		next       string
		calls      int
	}{
		{"/good.php", "done", 200, "first", 200, "duplicate", 1},
		{"/good.php", "fail", 500, "first", 500, "first-again", 2},
		{"/good.php", "long", 200, "held", 200, "held", 1},
		{"/next.php", "done", 200, "first", 200, "duplicate", 1},
		{"/next.php", "fail", 500, "first", 500, "first-again", 2},
		{"/mute.php", "doubt", 200, "held", 200, "held", 0},
		{"/down.php", "down", 503, "not-delivered", 503, "not-delivered", 0},
	} {
		t.Run(r.path[1:]+"/"+r.body, func(t *testing.T) {
			d := Delivery{Provider: "github", Path: r.path, Body: r.path + r.body}
			s.Deliver(t, d).Is(t, "first", r.status, r.word)
			s.Deliver(t, d).Is(t, "repeat", r.again, r.next)
			for range r.calls {
				if got := <-app.arrived; got != d.Body {
					t.Errorf("arrived: %q", got)
				}
			}
			if n := len(app.arrived); n != 0 {
				t.Errorf("%d calls too many", n)
			}
		})
	}
}
