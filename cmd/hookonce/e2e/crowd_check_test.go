// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// done are the words of answers that say that the app did the work.
var done = []string{"first", "first-again", "in-progress", "duplicate"}

// account is what three witnesses say: the app's ledger, the provider's log and
// the open deliveries of the sidecar.
type account struct {
	ledger map[string][]oracle.Effect // by digest of the body
	open   map[*Event]Item
}

// account asks the witnesses. Nothing may be under way.
func (c *Crowd) account() account {
	c.t.Helper()
	a := account{make(map[string][]oracle.Effect), make(map[*Event]Item)}
	effects, err := c.app.Ledger()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range effects {
		a.ledger[e.SHA256] = append(a.ledger[e.SHA256], e)
	}
	events := make(map[string]*Event)
	for _, e := range c.events {
		events[e.digest[:32]] = e
	}
	for digest, list := range a.ledger { // P6
		if events[digest[:32]] == nil || slices.ContainsFunc(list, func(e oracle.Effect) bool { return !e.Complete }) {
			c.t.Errorf("P6: the app got a body that nobody sent, or not all of it: %+v", list)
		}
	}
	for _, i := range c.s.Items(c.t, "") {
		e := events[i.BodyDigest]
		if e == nil {
			c.t.Errorf("an open delivery that nobody sent: %+v", i)
			continue
		}
		if other, ok := a.open[e]; ok {
			c.t.Errorf("one event is open twice: %s and %s", other.ID, i.ID)
		}
		a.open[e] = c.s.Item(c.t, i.ID)
	}
	return a
}

// check holds what was promised against the account.
func (c *Crowd) check(a account) {
	c.t.Helper()
	bad := 0
	for n, e := range c.events {
		item, open := a.open[e]
		err := errors.Join(e.checkLoss(a.ledger[e.digest], item, open), e.checkDouble(a.ledger[e.digest]),
			e.checkOrder(), c.checkCause(e, item, open))
		if err == nil {
			continue
		}
		if bad++; bad <= 5 {
			c.t.Errorf("event %d (the app %s, %s, %d bytes): %v\nreplies: %v\nledger: %v\nopen: %v %s %s", n, e.fate.name, e.Provider,
				len(e.Body), err, e.Replies(), a.ledger[e.digest], open, item.State, item.Reason)
		}
	}
	if bad > 5 {
		c.t.Errorf("%d events in all are wrong", bad)
	}
	st := c.s.Stats(c.t)
	if st.Impossible != 0 || st.Corrupt != 0 || st.Running != 0 {
		c.t.Errorf("the store counts events without effect, or unreadable records: %+v", st)
	}
	if st.KeptItems != len(a.open) {
		c.t.Errorf("P9: %d requests are kept for %d open deliveries", st.KeptItems, len(a.open))
	}
	if bad := c.s.Logs.Find(c.alarming); len(bad) > 0 {
		c.t.Errorf("%d errors in the log, such as %v", len(bad), bad[0])
	}
}

// alarming tells records that only a fault of ours can cause. Badger calls it an
// error, too, that a kill left it a log without a byte, which it makes anew.
func (c *Crowd) alarming(r Record) bool {
	switch {
	case strings.Contains(r.Msg(), "panic"), strings.Contains(r.Msg(), "fatal error"), strings.Contains(r.Msg(), "SIGBUS"):
		return true
	case r.Str("level") != "error", strings.Contains(r.Msg(), "Create a new file. Cleaning up"):
		return false
	}
	return c.refused == nil || !strings.Contains(r.Msg()+r.Str("error"), "no room for new deliveries")
}

// checkLoss is P1 and P3: who was told that the app did it can find it in the
// ledger, with an earlier time; what is held is there with its bytes.
func (e *Event) checkLoss(ledger []oracle.Effect, item Item, open bool) error {
	for _, r := range e.Replies() {
		switch {
		case !r.taken():
		case slices.Contains(done, r.Word):
			if len(ledger) == 0 || ledger[0].Time.After(r.Ended) {
				return fmt.Errorf("P1/P3: answered %v, and the app had not done it", r)
			}
		case r.Word != "held":
			return fmt.Errorf("P3: answered %v", r)
		case !open:
			return fmt.Errorf("P1: answered %v, and it is not open any more", r)
		case item.State != "uncertain" || !item.Owed || item.Request == nil || item.Request.BodySHA256 != e.digest:
			return fmt.Errorf("P1: answered %v, and what is kept is %+v", r, item)
		}
	}
	return nil
}

// checkDouble is P2.
func (e *Event) checkDouble(ledger []oracle.Effect) error {
	if len(ledger) > 1 {
		return fmt.Errorf("P2: the app did it %d times", len(ledger))
	}
	return nil
}

// checkOrder is P4 and P5: what was answered before a delivery began binds the
// answer to it.
func (e *Event) checkOrder() error {
	replies := e.Replies()
	for _, before := range replies {
		if !before.taken() {
			continue
		}
		want := "duplicate"
		if before.Word == "held" {
			want = "held"
		}
		for _, after := range replies {
			if after.Began.After(before.Ended) && after.Err == nil && (after.Status != 200 || after.Word != want) {
				return fmt.Errorf("P4/P5: answered %v, and later %v", before, after)
			}
		}
	}
	return nil
}

// checkCause is P7: what is uncertain has a cause, and nobody else was told
// another thing. The exact cause may be lost with an outcome that a full disk did
// not take before a kill.
func (c *Crowd) checkCause(e *Event, item Item, open bool) error {
	if !open {
		return nil
	}
	unanswered := slices.ContainsFunc(e.Replies(), func(r Reply) bool { return r.Err != nil })
	told := slices.ContainsFunc(e.Replies(), func(r Reply) bool { return r.taken() && slices.Contains(done, r.Word) })
	switch {
	case item.State != "uncertain":
		return fmt.Errorf("P7: it is %s (%s) although every delivery was answered", item.State, item.Reason)
	case told:
		return errors.New("P7: it is uncertain although the provider was told that it is done")
	case item.Reason == "owner_lost" && !unanswered && (c.refused == nil || !e.fate.unknown):
		return errors.New("P7: its process was lost, but each delivery of it was answered")
	case item.Reason != "owner_lost" && !e.fate.unknown:
		return fmt.Errorf("P7: it is uncertain (%s), and the app did nothing strange", item.Reason)
	}
	return nil
}

// decide is an operator who knows the app's ledger: what was done is confirmed,
// of the rest one in eight is dropped and the others are sent again. Then no
// event is open, and each repeat is a duplicate.
func (c *Crowd) decide(a account) {
	c.t.Helper()
	again, dropped := make(map[*Event]int), make(map[*Event]bool)
	for e, item := range a.open {
		effects := len(a.ledger[e.digest])
		if effects == 0 && len(dropped)*8 < len(again) {
			c.s.Act(c.t, item.ID, "drop")
			dropped[e] = true
			continue
		}
		for tries := 0; effects == 0 && tries < len(e.fate.does); tries++ {
			c.s.Act(c.t, item.ID, "retry")
			again[e]++
			if c.s.Item(c.t, item.ID).State == "confirmed" {
				break
			}
		}
		if effects > 0 || e.fate.unknown {
			c.s.Act(c.t, item.ID, "confirm")
		}
	}
	c.each(c.events, func(e *Event) { e.deliver(c.t, c.s, 0) })
	left := c.account()
	for e, item := range left.open {
		c.t.Errorf("open after the operator decided about all: %s %s, the app %s", item.State, item.Reason, e.fate.name)
	}
	for n, e := range c.events {
		replies, effects := e.Replies(), len(left.ledger[e.digest])
		if last := replies[len(replies)-1]; last.Status != 200 || last.Word != "duplicate" {
			c.t.Errorf("event %d: a repeat of what is decided got %v", n, replies)
		}
		if dropped[e] && effects != 0 || !dropped[e] && (effects < 1 || effects > 1+again[e]) {
			c.t.Errorf("event %d: %d effects after %d retries, dropped: %v", n, effects, again[e], dropped[e])
		}
	}
	c.t.Logf("the operator retried %d and dropped %d of %d", len(again), len(dropped), len(a.open))
}
