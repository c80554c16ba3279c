// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"sync"
	"time"
)

// clock is the time by which windows end. It follows the wall clock, but never
// goes back, and does not follow a jump of more than jumpLimit before the wall
// clock has agreed with itself for settleTime: a wrong clock must not make the
// store forget what it has to remember.
type clock struct {
	now     func() time.Time
	elapsed func() time.Duration // nil: what now says since begin
	begin   time.Time

	mu     sync.Mutex
	base   int64 // Unix ms at the moment start
	start  time.Duration
	jumped bool          // the wall clock is ahead and not believed yet
	offset int64         // by how much
	since  time.Duration // since when
}

const (
	jumpLimit  = int64(60_000)
	settleTime = 2 * time.Hour
)

// newClock continues from the largest time that was ever stored.
func newClock(now func() time.Time, elapsed func() time.Duration, largest int64) *clock {
	c := &clock{now: now, elapsed: elapsed, begin: now()}
	var wall int64
	wall, c.start = c.hands()
	c.base = max(wall, largest)
	return c
}

// hands reads both clocks. A time of the real clock carries both.
func (c *clock) hands() (wall int64, mono time.Duration) {
	now := c.now()
	if c.elapsed == nil {
		return now.UnixMilli(), now.Sub(c.begin)
	}
	return now.UnixMilli(), c.elapsed()
}

// read returns the time by which windows end, in Unix milliseconds.
func (c *clock) read() int64 {
	wall, mono := c.hands()
	c.mu.Lock()
	defer c.mu.Unlock()
	own := c.base + (mono - c.start).Milliseconds()
	ahead := wall - own
	if ahead <= 0 {
		c.jumped = false
		return own
	}
	if ahead > jumpLimit {
		if !c.jumped || abs(ahead-c.offset) > jumpLimit {
			c.jumped, c.offset, c.since = true, ahead, mono
		}
		if mono-c.since < settleTime {
			return own
		}
	}
	c.base, c.start, c.jumped = wall, mono, false
	return wall
}

// paused reports whether the wall clock jumped and is not believed yet.
func (c *clock) paused() bool {
	c.read()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.jumped
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}
