// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

// byState answers a repeat of a known effect: the answer table.
func byState(a *Arrival, hit *Record) Verdict {
	v := Verdict{Record: *hit}
	r := &v.Record
	if r.State == Running && r.Owner != a.Boot { // T15, found before recovery did
		*r, v.Actions, _ = ownerGone(*r, Event{At: a.At})
	}
	if r.State == Uncertain && a.Policy.RetryUncertain && !a.Policy.Accept { // T23
		r.MayRepeat = true
		r.settle(Ready, r.Reason, a.At)
	}
	var acts Actions
	*r, acts, _ = same(*r, Event{Kind: Same, At: a.At})
	v.Actions |= acts
	switch {
	case r.State == Running && !r.Owed && !a.Policy.Accept:
		v.Kind = Join
	case r.State == Running:
		v.Kind = Owed
		v.takeDebt(a)
	case r.State.Final():
		v.Kind = Duplicate
	case r.State != Ready: // UNCERTAIN, HELD
		v.Kind = Parked
		v.takeDebt(a)
	case a.Policy.Accept && r.Owed: // T7
		v.Kind = Owed
		v.takeDebt(a)
	case a.Policy.Accept: // not done under relay mode; now it is ours to send
		v.Kind = Owed
		v.takeDebt(a)
		next := max(r.NextAt, a.At)
		r.settle(Ready, ReasonAccepted, a.At)
		r.NextAt = next
		v.Actions |= Wake
	default:
		v.takeOver(a)
	}
	return v
}

// takeDebt is what a 2xx for an effect that is not done asks for (I3): we have
// the bytes, and the record says that we owe.
func (v *Verdict) takeDebt(a *Arrival) {
	r := &v.Record
	if !r.Kept && a.Kept {
		r.Kept, r.Spool, v.Rebound = true, a.Spool, true
		v.Actions |= Save
	}
	if !r.Owed {
		r.Owed = true
		v.Actions |= Save
	}
}

// takeOver is T6 by the provider's retry. What we owe is sent as well: it is
// known not to be done, and a provider that comes back, because somebody pressed
// Redeliver, brings what is needed. T7 is left for what has a time of its own.
func (v *Verdict) takeOver(a *Arrival) {
	r, acts, err := claim(v.Record, Event{At: a.At, Boot: a.Boot})
	switch {
	case err != nil && v.Record.Owed: // T7
		v.Kind = Owed
		v.takeDebt(a)
		return
	case err != nil:
		v.Kind = NotYet
		return
	}
	// The new delivery brings a fresh signature and timestamp: its bytes replace
	// the kept ones, and it may have been verified by another secret.
	r.SecretID, r.Body, r.Fingerprint = a.SecretID, a.Body, a.Fingerprint
	if a.Kept {
		if r.Kept && r.Spool != a.Spool {
			v.Stale = r.Spool
		}
		r.Kept, r.Spool = true, a.Spool
	}
	v.Kind, v.Record, v.Actions = TakeOver, r, acts|v.Actions&Alarm
}
