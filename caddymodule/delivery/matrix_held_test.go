// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

func cellsHeld() []cell {
	held := in(Held)
	return []cell{
		{
			name: "HELD/same T28", record: held, event: ev(Same),
			state: Held, reason: ReasonSameBody, owed: true, acts: SaveLazy, more: seenAgain,
		},
		only("HELD/other content T30", held, ev(OtherContent), Hold),
		no("HELD/claim", held, ev(Claim), ErrImpossible),
		no("HELD/done", held, ev(Done), ErrImpossible),
		no("HELD/done of epoch 0", held, ev(Done, epoch(0)), ErrImpossible),
		no("HELD/not done retry", held, ev(NotDoneRetry), ErrImpossible),
		no("HELD/not done retry of epoch 0", held, ev(NotDoneRetry, epoch(0)), ErrImpossible),
		no("HELD/not done final", held, ev(NotDoneFinal), ErrImpossible),
		no("HELD/not done final of epoch 0", held, ev(NotDoneFinal, epoch(0)), ErrImpossible),
		no("HELD/unknown", held, ev(Unknown), ErrImpossible),
		no("HELD/unknown of epoch 0", held, ev(Unknown, epoch(0)), ErrImpossible),
		no("HELD/older outcome", held, ev(OlderOutcome), ErrImpossible),
		no("HELD/older outcome of epoch 0", held, ev(OlderOutcome, epoch(0)), ErrImpossible),
		no("HELD/owner gone", held, ev(OwnerGone), ErrImpossible),
		no("HELD/read-back done", held, ev(ReadBackDone), ErrImpossible),
		no("HELD/read-back not done proof", held, ev(ReadBackNotDone, proof), ErrImpossible),
		no("HELD/read-back without verdict", held, ev(ReadBackNoVerdict), ErrImpossible),
		no("HELD/operator confirm", held, ev(OperatorConfirm), ErrImpossible),
		{
			name: "HELD/operator send T25", record: held, event: ev(OperatorSend),
			state: Ready, reason: ReasonReleased, owed: true, next: now, acts: Save | Wake,
		},
		{
			name: "HELD/operator drop T26", record: held, event: ev(OperatorDrop, peer),
			state: Dropped, reason: ReasonDuplicateOf, expires: anew, acts: Save | Free, more: hasPeer,
		},
		{
			name: "HELD/operator drop T26 without peer", record: held, event: ev(OperatorDrop),
			state: Dropped, reason: ReasonOperator, expires: anew, acts: Save | Free,
		},
		{
			name: "HELD/advisor T27 process", record: held, event: ev(Advisor, process),
			state: Ready, reason: ReasonAdvisor, owed: true, next: now, acts: Save | Wake,
		},
		{
			name: "HELD/advisor T27 skip", record: held, event: ev(Advisor, peer),
			state: Dropped, reason: ReasonAdvisor, expires: anew, acts: Save | Free, more: hasPeer,
		},
		no("HELD/timer", held, ev(Timer), ErrImpossible),
		no("HELD/timer exhausted", held, ev(Timer, exhausted), ErrImpossible),
		no("HELD/window over ancient", held, ev(WindowOver, ancient), ErrImpossible),
		no("HELD/operator forget", held, ev(OperatorForget), ErrImpossible),
		no("HELD/window over I4", in(Held, expired), ev(WindowOver, ancient), ErrImpossible),
	}
}
