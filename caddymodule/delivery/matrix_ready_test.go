// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

func cellsReady() []cell {
	ready, debt := in(Ready), in(Ready, owed)
	return []cell{
		{
			name: "READY/same T7 owed", record: debt, event: ev(Same),
			state: Ready, reason: ReasonUpstreamFail, epoch: 2, owed: true, acts: SaveLazy, more: seenAgain,
		},
		{
			name: "READY/same not owed", record: ready, event: ev(Same),
			state: Ready, reason: ReasonUpstreamFail, epoch: 2, expires: anew, acts: SaveLazy, more: seenAgain,
		},
		only("READY/other content T30", ready, ev(OtherContent), Hold),
		{
			name: "READY/claim T6", record: ready, event: ev(Claim),
			state: Running, epoch: 3, acts: Save | Send, more: claimed,
		},
		{
			name: "READY/claim T6 owed", record: debt, event: ev(Claim),
			state: Running, epoch: 3, owed: true, acts: Save | Send, more: claimed,
		},
		{
			name: "READY/claim T6 may repeat", record: in(Ready, mayRepeat), event: ev(Claim),
			state: Running, epoch: 3, repeat: true, acts: Save | Send, more: claimed,
		},
		no("READY/claim T6 before its time", in(Ready, notDue), ev(Claim), ErrNotYet),
		{
			name: "READY/done T21 after a retry was allowed", record: in(Ready, owed, mayRepeat), event: ev(Done),
			state: Confirmed, reason: ReasonDone, epoch: 2, repeat: true, expires: anew,
			acts: Save | Free, more: reportedDone,
		},
		{
			name: "READY/done T21 after an absence proof", record: in(Ready, owed, absent), event: ev(Done),
			state: Confirmed, reason: ReasonDone, epoch: 2, expires: anew, acts: Save | Free, more: reportedDone,
		},
		only("READY/done of epoch 1 T33", ready, ev(Done, epoch(1)), PossibleDouble),
		no("READY/done", ready, ev(Done), ErrImpossible),
		no("READY/done of epoch 3", ready, ev(Done, epoch(3)), ErrImpossible),
		no("READY/not done retry", ready, ev(NotDoneRetry), ErrImpossible),
		no("READY/not done final", ready, ev(NotDoneFinal), ErrImpossible),
		no("READY/unknown", ready, ev(Unknown), ErrImpossible),
		no("READY/unknown may repeat", in(Ready, mayRepeat), ev(Unknown), ErrImpossible),
		no("READY/not done retry may repeat", in(Ready, mayRepeat), ev(NotDoneRetry), ErrImpossible),
		only("READY/older outcome T33", ready, ev(OlderOutcome), PossibleDouble),
		no("READY/older outcome of epoch 2", ready, ev(OlderOutcome, epoch(2)), ErrImpossible),
		no("READY/owner gone", ready, ev(OwnerGone), ErrImpossible),
		no("READY/read-back done", ready, ev(ReadBackDone), ErrImpossible),
		no("READY/read-back not done proof", ready, ev(ReadBackNotDone, proof), ErrImpossible),
		no("READY/read-back without verdict", ready, ev(ReadBackNoVerdict), ErrImpossible),
		no("READY/operator confirm", ready, ev(OperatorConfirm), ErrImpossible),
		{
			name: "READY/operator send", record: debt, event: ev(OperatorSend),
			state: Ready, reason: ReasonUpstreamFail, epoch: 2, owed: true, next: now, acts: Save | Wake,
			more: func(r *Record) { r.Changed = now },
		},
		{
			name: "READY/operator send before its time", record: in(Ready, notDue), event: ev(OperatorSend),
			state: Ready, reason: ReasonUpstreamFail, epoch: 2, next: now, expires: fresh, acts: Save | Wake,
			more: func(r *Record) { r.Changed = now },
		},
		{
			name: "READY/operator drop T9", record: debt, event: ev(OperatorDrop),
			state: Dropped, reason: ReasonOperator, epoch: 2, expires: anew, acts: Save | Free,
		},
		{
			name: "READY/operator drop T9 duplicate of", record: ready, event: ev(OperatorDrop, peer),
			state: Dropped, reason: ReasonDuplicateOf, epoch: 2, expires: anew, acts: Save | Free, more: hasPeer,
		},
		no("READY/advisor", ready, ev(Advisor), ErrImpossible),
		no("READY/advisor process", ready, ev(Advisor, process), ErrImpossible),
		no("READY/timer", ready, ev(Timer), ErrImpossible),
		{
			name: "READY/timer T8 owed", record: debt, event: ev(Timer, exhausted),
			state: Ready, reason: ReasonExhausted, epoch: 2, owed: true, acts: Save | Alarm,
		},
		{
			name: "READY/timer T8 not owed", record: in(Ready, notDue), event: ev(Timer, exhausted),
			state: Ready, reason: ReasonExhausted, epoch: 2, expires: anew, acts: Save | Alarm,
		},
		only("READY/window over T10", in(Ready, expired), ev(WindowOver), Remove|Free),
		no("READY/window over too early", ready, ev(WindowOver), ErrImpossible),
		no("READY/window over owed", debt, ev(WindowOver, ancient), ErrImpossible),
		only("READY/operator forget", ready, ev(OperatorForget), Remove|Free),
		no("READY/operator forget owed", debt, ev(OperatorForget), ErrImpossible),
	}
}

func claimed(r *Record) {
	r.Owner, r.SentAt, r.Attempts = 8, now, 3
}
