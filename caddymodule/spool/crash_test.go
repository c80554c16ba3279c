// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"
)

const (
	childEnv = "HOOKONCE_SPOOL_CHILD" // directory that a re-executed child writes to
	firstEnv = "HOOKONCE_SPOOL_FIRST" // number of its first entry
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		fmt.Fprintln(os.Stderr, "spool child:", crashChild(dir))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// crashOptions makes segments so small that many change during one life.
func crashOptions(dir string) Options {
	return Options{Dir: dir, SegmentSize: minSegmentSize, Sync: true, Key: testKey}
}

// crashPayload is what the entry of a number holds for an attempt. One in
// sixteen is too large for a segment.
func crashPayload(n int, epoch uint32) []byte {
	size := 500 + n*37%6000
	if n%16 == 0 {
		size += InlineMax
	}
	return testPayload(n*8+int(epoch), size)
}

// crashChild puts, replaces, settles and frees until it is killed. Each line on
// standard output says what was acknowledged ("put", "set") or begun ("free").
func crashChild(dir string) error {
	s, err := Open(crashOptions(dir))
	if err != nil {
		return err
	}
	var first int
	if _, err := fmt.Sscan(os.Getenv(firstEnv), &first); err != nil {
		return err
	}
	const workers = 8
	failed := make(chan error, workers)
	for w := range workers {
		go func() {
			for n := first + w; ; n += workers {
				if err := crashStep(s, n); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	return <-failed
}

func crashStep(s *Spool, n int) error {
	id := testID(n)
	say := func(what string, epoch uint32) { fmt.Fprintf(os.Stdout, "%s %d %d\n", what, n, epoch) }
	last := uint32(1 + n%2)
	for epoch := uint32(1); epoch <= last; epoch++ {
		if err := s.Put(id, epoch, crashPayload(n, epoch)).Wait(); err != nil {
			return err
		}
		say("put", epoch)
	}
	if n%3 != 0 {
		if err := s.Settle(id, last, Mark{Class: uint8(n), Status: 200, At: int64(n)}); err != nil {
			return err
		}
		say("set", last)
	}
	if n%11 != 0 {
		say("free", last)
		s.Free(id)
	}
	return nil
}

// promise is what the child has told about one entry.
type promise struct {
	put, set uint32
	free     bool
}

// TestKillNine kills a writing process at random moments, thirty-two times over the
// same directory, and checks after each that every promise is kept.
func TestKillNine(t *testing.T) {
	dir := t.TempDir()
	told := map[int]*promise{}
	var acks, marks int
	for round := range 32 {
		crashRound(t, dir, round*1_000_000, told)
		s, err := Open(crashOptions(dir))
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		a, m := checkPromises(t, s, told)
		acks, marks = acks+a, marks+m
		s.Retain(func(id ID) bool {
			p := told[idNumber(id)]
			return p != nil && !p.free
		})
		for n, p := range told {
			if p.free {
				delete(told, n)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if acks < 1000 || marks < 500 {
		t.Errorf("only %d acknowledged entries and %d marks were checked", acks, marks)
	}
	t.Logf("%d entries and %d marks checked after 32 kills", acks, marks)
}

func idNumber(id ID) int {
	n := 0
	for _, b := range id[8:] {
		n = n<<8 | int(b)
	}
	return n
}

// crashRound runs a child, kills it after a random number of lines and enters
// what it said.
func crashRound(t *testing.T, dir string, first int, told map[int]*promise) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childEnv+"="+dir, fmt.Sprintf("%s=%d", firstEnv, first))
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	after := 1 + rand.IntN(1000)
	var once sync.Once
	lines := bufio.NewScanner(out)
	for seen := 0; lines.Scan(); seen++ {
		if seen == after {
			once.Do(func() { _ = cmd.Process.Kill() })
		}
		var what string
		var n int
		var epoch uint32
		if k, _ := fmt.Sscan(lines.Text(), &what, &n, &epoch); k != 3 {
			continue // cut off by the kill
		}
		p := told[n]
		if p == nil {
			p = &promise{}
			told[n] = p
		}
		switch what {
		case "put":
			p.put = epoch
		case "set":
			p.set = epoch
		case "free":
			p.free = true
		}
	}
	if err := cmd.Wait(); err == nil || complaint.Len() != 0 {
		t.Fatalf("child ended by itself: %v %s", err, complaint.String())
	}
}

// checkPromises compares the spool with what the child said.
func checkPromises(t *testing.T, s *Spool, told map[int]*promise) (acks, marks int) {
	t.Helper()
	found := map[int]Entry{}
	if err := s.Scan(func(e Entry) { found[idNumber(e.ID)] = e }); err != nil {
		t.Fatal(err)
	}
	for n, e := range found {
		got, err := s.Get(e.ID)
		if err != nil {
			// The kill may have cut the last write, of which nobody was told.
			if p := told[n]; p != nil && p.put > 0 && !p.free {
				t.Errorf("entry %d was acknowledged and is unreadable: %v", n, err)
			}
		} else if !bytes.Equal(got, crashPayload(n, e.Epoch)) {
			t.Errorf("entry %d holds other bytes", n)
		}
	}
	for n, p := range told {
		if p.free || p.put == 0 {
			continue
		}
		acks++
		e, ok := found[n]
		if !ok || e.Epoch < p.put {
			t.Errorf("entry %d was acknowledged for epoch %d, found %v %+v", n, p.put, ok, e)
		}
		if p.set == 0 {
			continue
		}
		marks++
		if want := (Mark{Class: uint8(n), Status: 200, Epoch: p.set, At: int64(n)}); e.Mark != want {
			t.Errorf("mark of %d is %+v, want %+v", n, e.Mark, want)
		}
	}
	return acks, marks
}
