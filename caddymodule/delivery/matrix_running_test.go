// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

func cellsRunning() []cell {
	running, debt := in(Running), in(Running, owed)
	return []cell{
		{
			name: "RUNNING/same T16", record: running, event: ev(Same),
			state: Running, epoch: 2, more: seenAgain,
		},
		only("RUNNING/other content T30", running, ev(OtherContent), Hold),
		no("RUNNING/claim", running, ev(Claim), ErrImpossible),
		{
			name: "RUNNING/done T11", record: running, event: ev(Done),
			state: Confirmed, reason: ReasonDone, epoch: 2, expires: anew, acts: SaveLazy | Free, more: reportedDone,
		},
		{
			name: "RUNNING/done T11 owed", record: debt, event: ev(Done),
			state: Confirmed, reason: ReasonDone, epoch: 2, expires: anew, acts: SaveLazy | Free, more: reportedDone,
		},
		only("RUNNING/done of epoch 1 T33", running, ev(Done, epoch(1)), PossibleDouble),
		only("RUNNING/not done retry of epoch 1 T33", running, ev(NotDoneRetry, epoch(1)), PossibleDouble),
		only("RUNNING/not done final of epoch 1 T33", running, ev(NotDoneFinal, epoch(1)), PossibleDouble),
		only("RUNNING/unknown of epoch 1 T33", running, ev(Unknown, epoch(1)), PossibleDouble),
		no("RUNNING/done of epoch 3", running, ev(Done, epoch(3)), ErrImpossible),
		no("RUNNING/not done retry of epoch 3", running, ev(NotDoneRetry, epoch(3)), ErrImpossible),
		no("RUNNING/not done final of epoch 3", running, ev(NotDoneFinal, epoch(3)), ErrImpossible),
		no("RUNNING/unknown of epoch 3", running, ev(Unknown, epoch(3)), ErrImpossible),
		{
			name: "RUNNING/not done retry T12", record: running, event: ev(NotDoneRetry),
			state: Ready, reason: ReasonUpstreamBusy, epoch: 2, next: later, expires: anew,
			acts: Save | Wake, more: reported(503),
		},
		{
			name: "RUNNING/not done retry T12 owed", record: debt, event: ev(NotDoneRetry),
			state: Ready, reason: ReasonUpstreamBusy, epoch: 2, owed: true, next: later,
			acts: Save | Wake, more: reported(503),
		},
		{
			name: "RUNNING/not done final T13", record: running, event: ev(NotDoneFinal),
			state: Ready, reason: ReasonRefused, epoch: 2, expires: anew, acts: Save, more: reported(422),
		},
		{
			name: "RUNNING/not done final T13 owed", record: debt, event: ev(NotDoneFinal),
			state: Ready, reason: ReasonRefused, epoch: 2, owed: true, acts: Save, more: reported(422),
		},
		{
			name: "RUNNING/unknown T14", record: running, event: ev(Unknown),
			state: Uncertain, reason: ReasonTimeout, epoch: 2, owed: true, acts: Save | Alarm, more: reported(504),
		},
		{
			name: "RUNNING/unknown T23", record: running, event: ev(Unknown, retryUncertain),
			state: Ready, reason: ReasonTimeout, epoch: 2, repeat: true, next: later, expires: anew,
			acts: Save | Wake, more: reported(504),
		},
		{
			name: "RUNNING/unknown T23 owed", record: debt, event: ev(Unknown, retryUncertain),
			state: Ready, reason: ReasonTimeout, epoch: 2, owed: true, repeat: true, next: later,
			acts: Save | Wake, more: reported(504),
		},
		only("RUNNING/older outcome T33", running, ev(OlderOutcome), PossibleDouble),
		no("RUNNING/older outcome of epoch 2", running, ev(OlderOutcome, epoch(2)), ErrImpossible),
		{
			name: "RUNNING/owner gone T15", record: running, event: ev(OwnerGone),
			state: Uncertain, reason: ReasonOwnerLost, epoch: 2, owed: true, acts: Save | Alarm,
		},
		{
			name: "RUNNING/owner gone T15 owed", record: debt, event: ev(OwnerGone, ancient),
			state: Uncertain, reason: ReasonOwnerLost, epoch: 2, owed: true, acts: Save | Alarm,
		},
		no("RUNNING/read-back done", running, ev(ReadBackDone), ErrImpossible),
		no("RUNNING/read-back not done proof", running, ev(ReadBackNotDone, proof), ErrImpossible),
		no("RUNNING/read-back without verdict", running, ev(ReadBackNoVerdict), ErrImpossible),
		no("RUNNING/operator confirm", running, ev(OperatorConfirm), ErrImpossible),
		no("RUNNING/operator send", running, ev(OperatorSend), ErrImpossible),
		no("RUNNING/operator drop", running, ev(OperatorDrop), ErrImpossible),
		no("RUNNING/advisor", running, ev(Advisor), ErrImpossible),
		no("RUNNING/advisor process", running, ev(Advisor, process), ErrImpossible),
		{
			name: "RUNNING/timer T17", record: running, event: ev(Timer),
			state: Running, epoch: 2, owed: true, acts: Save,
		},
		no("RUNNING/timer T17 without bytes", in(Running, notKept), ev(Timer), ErrImpossible),
		no("RUNNING/timer exhausted", running, ev(Timer, exhausted), ErrImpossible),
		no("RUNNING/window over ancient", running, ev(WindowOver, ancient), ErrImpossible),
		no("RUNNING/operator forget", running, ev(OperatorForget), ErrImpossible),
		no("RUNNING/window over I6", in(Running, expired), ev(WindowOver, ancient), ErrImpossible),
	}
}
