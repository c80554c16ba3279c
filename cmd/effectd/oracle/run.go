// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import "time"

// run takes one request through the points at which its effect may happen. It
// is the same for all versions of HTTP.
type run struct {
	s     *Server
	b     Behaviour
	e     Effect
	freed <-chan struct{}
}

// begin records an early effect and tells Arrived. The release channel is
// taken first, so that a Release that follows the arrival is never missed.
func (s *Server) begin(e Effect, b Behaviour) (*run, error) {
	r := &run{s: s, b: b, e: e}
	if b.point() == EffectEarly {
		if err := r.record(); err != nil {
			return nil, err
		}
	}
	if b.Hold {
		r.freed = s.held()
		s.holding.Add(1)
	}
	s.signals.send(r.e)
	return r, nil
}

// pause holds and delays, then records a late effect. It returns false if the
// server stopped, gone was closed or the ledger failed: then there must be no
// answer.
func (r *run) pause(gone <-chan struct{}) bool {
	if r.b.Hold {
		defer r.s.holding.Add(-1)
		select {
		case <-r.freed:
		case <-gone:
			return false
		case <-r.s.done:
			return false
		}
	}
	if r.b.DelayMS > 0 {
		select {
		case <-r.s.cfg.After(time.Duration(r.b.DelayMS) * time.Millisecond):
		case <-gone:
			return false
		case <-r.s.done:
			return false
		}
	}
	return r.b.point() != EffectLate || r.record() == nil
}

// after records an effect that comes after the answer.
func (r *run) after() {
	if r.b.point() == EffectAfter {
		_ = r.record() // logged there, and the answer is out
	}
}

func (r *run) record() error {
	r.e.Time = r.s.cfg.Now()
	e, err := r.s.ledger.append(r.e)
	if err != nil {
		r.s.cfg.Logf("%v", err)
		return err
	}
	r.e = e
	return nil
}
