// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

func cellsUncertain() []cell {
	doubt := in(Uncertain)
	return []cell{
		{
			name: "UNCERTAIN/same T24", record: doubt, event: ev(Same),
			state: Uncertain, reason: ReasonTimeout, epoch: 2, owed: true, acts: SaveLazy, more: seenAgain,
		},
		only("UNCERTAIN/other content T30", doubt, ev(OtherContent), Hold),
		no("UNCERTAIN/claim", doubt, ev(Claim), ErrImpossible),
		{
			name: "UNCERTAIN/done T21", record: doubt, event: ev(Done),
			state: Confirmed, reason: ReasonDone, epoch: 2, expires: anew, acts: Save | Free, more: reportedDone,
		},
		{
			name: "UNCERTAIN/not done retry T21", record: doubt, event: ev(NotDoneRetry),
			state: Ready, reason: ReasonUpstreamBusy, epoch: 2, owed: true, next: later,
			acts: Save | Wake, more: reported(503),
		},
		{
			name: "UNCERTAIN/not done final T21", record: doubt, event: ev(NotDoneFinal),
			state: Ready, reason: ReasonRefused, epoch: 2, owed: true, acts: Save, more: reported(422),
		},
		only("UNCERTAIN/done of epoch 1 T33", doubt, ev(Done, epoch(1)), PossibleDouble),
		only("UNCERTAIN/older outcome T33", doubt, ev(OlderOutcome), PossibleDouble),
		no("UNCERTAIN/unknown", doubt, ev(Unknown), ErrImpossible),
		no("UNCERTAIN/unknown retryUncertain", doubt, ev(Unknown, retryUncertain), ErrImpossible),
		no("UNCERTAIN/done of epoch 3", doubt, ev(Done, epoch(3)), ErrImpossible),
		no("UNCERTAIN/not done retry of epoch 3", doubt, ev(NotDoneRetry, epoch(3)), ErrImpossible),
		no("UNCERTAIN/older outcome of epoch 2", doubt, ev(OlderOutcome, epoch(2)), ErrImpossible),
		no("UNCERTAIN/owner gone", doubt, ev(OwnerGone), ErrImpossible),
		{
			name: "UNCERTAIN/read-back done T18", record: doubt, event: ev(ReadBackDone),
			state: Confirmed, reason: ReasonReadBack, epoch: 2, expires: anew, acts: Save | Free,
			more: func(r *Record) { r.ExternalRef = "order-9" },
		},
		{
			name:   "UNCERTAIN/read-back done T18 without reference",
			record: in(Uncertain, func(r *Record) { r.ExternalRef = "order-8" }),
			event:  ev(ReadBackDone, func(e *Event) { e.ExternalRef = "" }),
			state:  Confirmed, reason: ReasonReadBack, epoch: 2, expires: anew, acts: Save | Free,
		},
		{
			name: "UNCERTAIN/read-back not done T19", record: doubt, event: ev(ReadBackNotDone, proof),
			state: Ready, reason: ReasonAbsent, epoch: 2, owed: true, next: now, acts: Save | Wake,
		},
		{
			name: "UNCERTAIN/read-back not done T20 no proof", record: doubt, event: ev(ReadBackNotDone),
			state: Uncertain, reason: ReasonTimeout, epoch: 2, owed: true, next: later, acts: SaveLazy,
		},
		{
			name: "UNCERTAIN/read-back without verdict T20", record: doubt, event: ev(ReadBackNoVerdict, proof),
			state: Uncertain, reason: ReasonTimeout, epoch: 2, owed: true, next: later, acts: SaveLazy,
		},
		{
			name: "UNCERTAIN/operator confirm T22", record: doubt, event: ev(OperatorConfirm),
			state: Confirmed, reason: ReasonOperator, epoch: 2, expires: anew, acts: Save | Free,
		},
		{
			name: "UNCERTAIN/operator send T22", record: doubt, event: ev(OperatorSend),
			state: Ready, reason: ReasonRetry, epoch: 2, owed: true, repeat: true, next: now, acts: Save | Wake,
		},
		{
			name: "UNCERTAIN/operator drop T22", record: doubt, event: ev(OperatorDrop),
			state: Dropped, reason: ReasonOperator, epoch: 2, expires: anew, acts: Save | Free,
		},
		{
			name: "UNCERTAIN/operator drop T22 duplicate of", record: doubt, event: ev(OperatorDrop, peer),
			state: Dropped, reason: ReasonDuplicateOf, epoch: 2, expires: anew, acts: Save | Free, more: hasPeer,
		},
		no("UNCERTAIN/advisor", doubt, ev(Advisor), ErrImpossible),
		no("UNCERTAIN/advisor process", doubt, ev(Advisor, process), ErrImpossible),
		no("UNCERTAIN/timer", doubt, ev(Timer), ErrImpossible),
		no("UNCERTAIN/timer exhausted", doubt, ev(Timer, exhausted), ErrImpossible),
		no("UNCERTAIN/window over ancient", doubt, ev(WindowOver, ancient), ErrImpossible),
		no("UNCERTAIN/operator forget", doubt, ev(OperatorForget), ErrImpossible),
		no("UNCERTAIN/window over I7", in(Uncertain, expired), ev(WindowOver, ancient), ErrImpossible),
		no("UNCERTAIN/operator forget not owed", in(Uncertain, func(r *Record) { r.Owed = false }), ev(OperatorForget), ErrImpossible),
	}
}
