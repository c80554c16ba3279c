// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// The test binary runs itself as a child that uses a store under load and tells
// through a pipe what the store has acknowledged. The parent kills it at a random
// moment and looks whether everything acknowledged is there.

const (
	childDir  = "HOOKONCE_TEST_CHILD_DIR"
	childSync = "HOOKONCE_TEST_CHILD_SYNC"
	childFrom = "HOOKONCE_TEST_CHILD_FROM"
	childLoad = "HOOKONCE_TEST_CHILD_LOAD"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Each check of the comparison with the model opens a store a dozen times. The
	// flag on the command line still counts.
	if err := flag.Set("rapid.checks", "30"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// child reserves deliveries with two keys each and ends them in one of four ways,
// until it is killed. Each line on the pipe is one acknowledged fact.
func child(dir string) error {
	if keys, err := strconv.ParseUint(os.Getenv(childLoad), 10, 64); err == nil {
		return load(dir, keys)
	}
	from, err := strconv.Atoi(os.Getenv(childFrom))
	if err != nil {
		return err
	}
	o := killOptions(dir, os.Getenv(childSync) == "true", uint64(from)+1)
	s, err := Open(context.Background(), o)
	if err != nil {
		return err
	}
	if _, err := s.Recover(context.Background(), time.Now().UnixMilli()); err != nil {
		return err
	}
	var n atomic.Int64
	n.Store(int64(from))
	failed := make(chan error)
	for range 16 {
		go func() {
			for {
				if err := childStep(s, o.Boot, int(n.Add(1))); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

func childStep(s *Store, boot uint64, i int) error {
	a := killArrival(i, boot)
	v, err := s.Reserve(context.Background(), a)
	if err != nil {
		return err
	}
	if v.Kind != delivery.First {
		return fmt.Errorf("delivery %d: %s", i, v.Kind)
	}
	fmt.Printf("first %d\n", i)
	ev := delivery.Event{At: a.At, Epoch: 1, Reason: delivery.ReasonTimeout}
	switch i % 4 {
	case 0:
		return nil
	case 1:
		ev.Kind = delivery.Done
	case 2:
		ev.Kind = delivery.Unknown
	default:
		ev.Kind = delivery.NotDoneFinal
	}
	if _, _, err := s.Apply(context.Background(), v.Record.ID, ev); err != nil {
		return err
	}
	fmt.Printf("ended %d\n", i)
	return nil
}

func killOptions(dir string, sync bool, boot uint64) Options {
	o := NewOptions(dir)
	o.Sync, o.Boot, o.Ballast, o.MaxOpen = sync, boot, -1, 10_000_000
	o.memTable = 1 << 20
	return o
}

func killArrival(i int, boot uint64) *delivery.Arrival {
	a := benchArrival(uint64(2 * i))
	a.Boot = boot
	a.Identity = append(a.Identity, delivery.Key{ID: benchArrival(uint64(2*i + 1)).Identity[0].ID, Kind: 'e', Signed: true})
	return a
}

func TestKill(t *testing.T) {
	kills := 16
	if n, err := strconv.Atoi(os.Getenv("HOOKONCE_KILLS")); err == nil {
		kills = n
	}
	for _, sync := range []bool{true, false} {
		t.Run(fmt.Sprintf("sync=%v", sync), func(t *testing.T) {
			k := &killer{T: t, dir: fastDir(t), sync: sync, facts: map[int]string{}}
			for range kills {
				k.round()
			}
			t.Logf("%d kills, %d acknowledged deliveries", kills, len(k.facts))
		})
	}
}

type killer struct {
	*testing.T
	dir   string
	sync  bool
	facts map[int]string // what was acknowledged last of each delivery
	next  int
	boots int
}

// round runs a child, kills it, and mostly looks at what it left.
func (k *killer) round() {
	k.Helper()
	self, err := os.Executable()
	if err != nil {
		k.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childDir+"="+k.dir, childSync+"="+strconv.FormatBool(k.sync),
		childFrom+"="+strconv.Itoa(k.next))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for left := 1 + rand.IntN(6000); left > 0 && lines.Scan(); left-- {
		k.note(lines.Text())
	}
	if err := cmd.Process.Kill(); err != nil {
		k.Fatal(err)
	}
	for lines.Scan() { // acknowledged as well, and already in the pipe
		k.note(lines.Text())
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Exited() {
		k.Fatalf("the child ended by itself: %v", err)
	}
	k.next += 100_000
	if rand.IntN(4) > 0 {
		k.verify()
	}
}

func (k *killer) note(line string) {
	var what string
	var i int
	if _, err := fmt.Sscanf(line, "%s %d", &what, &i); err != nil {
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			k.Fatalf("line %q: %v", line, err)
		}
		return
	}
	k.facts[i] = what
}

// verify opens the store and compares it with the facts.
func (k *killer) verify() {
	k.Helper()
	k.boots++
	s, err := Open(context.Background(), killOptions(k.dir, k.sync, uint64(k.next+k.boots)))
	if err != nil {
		k.Fatalf("open after a kill: %v", err)
	}
	if _, err := s.Recover(context.Background(), time.Now().UnixMilli()); err != nil {
		k.Fatal(err)
	}
	if st := s.Stats(); st.Running != 0 || st.Corrupt != 0 {
		k.Fatalf("after recovery: %+v", st)
	}
	for i, fact := range k.facts {
		a := killArrival(i, 0)
		r, err := s.Get(context.Background(), a.Identity[0].ID)
		if err != nil {
			k.Fatalf("delivery %d (%s): %v", i, fact, err)
		}
		want := []delivery.State{delivery.Uncertain, delivery.Confirmed, delivery.Uncertain, delivery.Ready}[i%4]
		if r.State != want && !(r.State == delivery.Uncertain && (fact == "first" || want == delivery.Confirmed)) {
			k.Fatalf("delivery %d (%s) is %s", i, fact, r.State)
		}
		a.Identity = a.Identity[1:]
		if d, err := s.decide(a, nil); err != nil || d.before.rec.ID != r.ID {
			k.Fatalf("delivery %d: its second key leads to %s, %v", i, d.before.rec.ID, err)
		}
	}
	if err := s.Close(); err != nil {
		k.Fatal(err)
	}
}
