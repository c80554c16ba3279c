// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// A thousand attempts under way at a kill are all uncertain, with their bytes,
// before the first request is served, and that within seconds.
func TestRestartWithManyAttempts(t *testing.T) {
	const attempts = 1000
	app := NewApp(t, oracle.Config{Default: oracle.Behaviour{Hold: true}})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{Level: "INFO"})
	delivery := func(n int) Delivery {
		return Delivery{Provider: "github", Body: fmt.Sprintf(`{"n":%d,"fill":%q}`, n, strings.Repeat("x", n))}
	}
	all := make([]*Pending, attempts)
	for n := range attempts {
		all[n] = s.Go(t, delivery(n))
	}
	for n := range attempts {
		app.Wait(t, delivery(n).Body, 1)
	}
	s.Kill(t)
	for _, p := range all {
		if p.Err() == nil {
			t.Fatalf("answered %v", p.Answer(t))
		}
	}
	app.Release()
	began := time.Now()
	s.Restart(t)
	took := time.Since(began)
	t.Logf("%d attempts were under way; it served again after %v", attempts, took)
	if took > 20*time.Second { // of a fraction of one, on an idle machine
		t.Errorf("the start took %v", took)
	}
	s.Deliver(t, delivery(attempts-1)).Is(t, "the first after the restart", 200, "held")
	items := s.Items(t, "state=uncertain&reason=owner_lost")
	if len(items) != attempts {
		t.Errorf("%d deliveries are uncertain, want %d", len(items), attempts)
	}
	known := make(map[string]bool)
	for n := range attempts {
		known[digest(delivery(n).Body)] = true
	}
	for _, i := range items {
		if i = s.Item(t, i.ID); i.Request == nil || !known[i.Request.BodySHA256] || !i.Owed {
			t.Fatalf("not as it was: %+v", i)
		}
	}
}

// O25: a process that is killed before a delivery has wholly arrived leaves
// nothing behind, and the next delivery of it is the first.
func TestO25_killedBeforeTheClaim(t *testing.T) {
	app := NewApp(t, oracle.Config{})
	s := Start(t, Site(Route("/github", "github", "upstream "+app.Addr())), Options{})
	d := Delivery{Provider: "github", Body: `{"o":25,"fill":"` + strings.Repeat("x", 5000) + `"}`}
	for _, cut := range []int{-1, 1, 100} { // bytes of the body that never arrive
		conn, err := net.Dial("tcp", s.Site)
		if err != nil {
			t.Fatal(err)
		}
		var whole strings.Builder
		if err := d.Request(t, "http://"+s.Site).Write(&whole); err != nil {
			t.Fatal(err)
		}
		part := whole.String()
		if cut > 0 {
			part = part[:len(part)-cut]
		} else {
			part = part[:strings.Index(part, "\r\n\r\n")+4]
		}
		if _, err := conn.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		// Another delivery on the way behind it shows that the part is there.
		s.Deliver(t, Delivery{Provider: "github", Body: fmt.Sprintf(`{"behind":%d}`, cut)}).Is(t, "behind", 200, "first")
		s.Kill(t)
		if _, err := bufio.NewReader(conn).ReadByte(); err == nil {
			t.Error("the connection should have died without an answer")
		}
		conn.Close()
		s.Restart(t)
		if st := s.Stats(t); st.Uncertain+st.Ready+st.Held != 0 {
			t.Errorf("something is left of a delivery that had not arrived: %+v", st)
		}
	}
	s.Deliver(t, d).Is(t, "the whole of it", 200, "first")
	s.Deliver(t, d).Is(t, "repeat", 200, "duplicate")
	if n := len(app.Arrivals(d.Body)); n != 1 {
		t.Errorf("%d requests at the app, want 1", n)
	}
}
