// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// newSeed makes the choices of a random test. HOOKONCE_SEED repeats a run, as
// far as the machine does.
func newSeed(t testing.TB) uint64 {
	t.Helper()
	n := rand.Uint64N(1 << 32)
	if text := os.Getenv("HOOKONCE_SEED"); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("HOOKONCE_SEED: %v", err)
		}
	}
	t.Logf("HOOKONCE_SEED=%d makes the same choices", n)
	return n
}

// Event is something that happened at a provider. It is delivered until it is
// answered with a success, and sometimes afterwards.
type Event struct {
	Delivery
	fate    fate
	digest  string
	mu      sync.Mutex
	replies []Reply
}

// Reply is what came of one delivery. Err is set when there was no answer.
type Reply struct {
	Answer
	Err          error
	Began, Ended time.Time
}

// taken tells that the provider need not deliver again.
func (r Reply) taken() bool { return r.Err == nil && r.Status/100 == 2 }

func (r Reply) String() string {
	if r.Err != nil {
		return "no answer"
	}
	return fmt.Sprintf("%d %s", r.Status, r.Word)
}

// Replies returns what came so far, in the order in which it came.
func (e *Event) Replies() []Reply {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Reply(nil), e.replies...)
}

// fate is what the app does with an event: one behaviour for each attempt, the
// last one for all that follow. The app reads it from the body.
type fate struct {
	name    string
	unknown bool // nobody can tell from the app's answer whether it was done
	does    []oracle.Behaviour
}

// fates of a crowd, each as often as it stands here.
func fates(rng *rand.Rand) fate {
	ok := oracle.Behaviour{DelayMS: rng.IntN(15)}
	status := func(s int) oracle.Behaviour { return oracle.Behaviour{Status: s} }
	switch n := rng.IntN(100); {
	case n < 60:
		return fate{"ok", false, []oracle.Behaviour{ok}}
	case n < 68:
		return fate{"slow", false, []oracle.Behaviour{{DelayMS: 50 + rng.IntN(250)}}}
	case n < 74:
		return fate{"late", false, []oracle.Behaviour{{DelayMS: rng.IntN(30), Effect: oracle.EffectLate}}}
	case n < 82:
		return fate{"fails once", false, []oracle.Behaviour{status(500), ok}}
	case n < 86:
		return fate{"fails thrice", false, []oracle.Behaviour{status(503), status(500), status(409), ok}}
	case n < 91:
		return fate{"refuses once", false, []oracle.Behaviour{status(404), ok}}
	case n < 94:
		return fate{"resets", true, []oracle.Behaviour{named("reset")}}
	case n < 96:
		return fate{"closes", true, []oracle.Behaviour{named("close")}}
	case n < 98:
		return fate{"cuts its answer", true, []oracle.Behaviour{named("cut-length")}}
	default:
		return fate{"gateway timeout", true, []oracle.Behaviour{status(504)}}
	}
}

// calm is an app that does what it should.
func calm(rng *rand.Rand) fate {
	return fate{"ok", false, []oracle.Behaviour{{DelayMS: rng.IntN(10)}}}
}

// newEvent makes the event of a number, always the same one for a seed. Small
// ones are kept inside the segments of the spool, a few in files of their own.
func newEvent(seed uint64, n int, choose func(*rand.Rand) fate) *Event {
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	e := &Event{fate: choose(rng)}
	size := rng.IntN(2000)
	if n := rng.IntN(100); n == 0 {
		size = 70<<10 + rng.IntN(60<<10)
	} else if n < 5 {
		size = 8<<10 + rng.IntN(20<<10)
	}
	does, err := json.Marshal(e.fate.does)
	if err != nil {
		panic(err) // plain structs
	}
	e.Provider = [...]string{"github", "stripe"}[rng.IntN(2)]
	e.Body = fmt.Sprintf(`{"id":"evt_%d_%d","effectd":%s,"fill":%q}`, seed, n, does, strings.Repeat("x", size))
	e.digest = digest(e.Body)
	return e
}

// deliver sends the event once, and gives up after patience if that is not 0,
// as providers do.
func (e *Event) deliver(t testing.TB, s *Sidecar, patience time.Duration) Reply {
	d := e.Delivery
	if patience > 0 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		d.Context = ctx
	}
	req := d.Request(t, "http://"+s.Site)
	r := Reply{Began: time.Now()}
	r.Answer, r.Err = s.Send(req)
	r.Ended = time.Now()
	kept := r
	kept.Body, kept.Header, kept.Trailer = "", nil, nil
	e.mu.Lock()
	defer e.mu.Unlock()
	e.replies = append(e.replies, kept)
	return r
}
