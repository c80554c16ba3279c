// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

func cellsNone() []cell {
	none := in(None)
	return []cell{
		no("NONE/same", none, ev(Same), ErrImpossible),
		no("NONE/other content", none, ev(OtherContent), ErrImpossible),
		no("NONE/claim", none, ev(Claim), ErrImpossible),
		no("NONE/done", none, ev(Done), ErrImpossible),
		no("NONE/not done retry", none, ev(NotDoneRetry), ErrImpossible),
		no("NONE/not done final", none, ev(NotDoneFinal), ErrImpossible),
		no("NONE/unknown", none, ev(Unknown), ErrImpossible),
		no("NONE/older outcome", none, ev(OlderOutcome), ErrImpossible),
		no("NONE/owner gone", none, ev(OwnerGone), ErrImpossible),
		no("NONE/read-back done", none, ev(ReadBackDone), ErrImpossible),
		no("NONE/read-back not done", none, ev(ReadBackNotDone), ErrImpossible),
		no("NONE/read-back without verdict", none, ev(ReadBackNoVerdict), ErrImpossible),
		no("NONE/operator confirm", none, ev(OperatorConfirm), ErrImpossible),
		no("NONE/operator send", none, ev(OperatorSend), ErrImpossible),
		no("NONE/operator drop", none, ev(OperatorDrop), ErrImpossible),
		no("NONE/advisor", none, ev(Advisor), ErrImpossible),
		no("NONE/timer", none, ev(Timer), ErrImpossible),
		no("NONE/window over", none, ev(WindowOver), ErrImpossible),
		no("NONE/operator forget", none, ev(OperatorForget), ErrImpossible),
		no("NONE/done of epoch 0", none, ev(Done, epoch(0)), ErrImpossible),
		no("NONE/unknown of epoch 0", none, ev(Unknown, epoch(0)), ErrImpossible),
	}
}

// cellsFinal is CONFIRMED and DROPPED: final until their window is over (I8).
func cellsFinal(s State, name string) []cell {
	r, over := in(s), in(s, expired)
	capped := now + 1000*window
	return []cell{
		{
			name: name + "/same T29", record: r, event: ev(Same),
			state: s, reason: r.Reason, epoch: 2, expires: anew, acts: SaveLazy, more: seenAgain,
		},
		{
			name: name + "/same T29 for ever", record: r, event: ev(Same, ancient),
			state: s, reason: r.Reason, epoch: 2, expires: start + 4*window, acts: SaveLazy,
			more: func(r *Record) { r.Seen, r.LastSeen = 2, capped },
		},
		only(name+"/other content T30", r, ev(OtherContent), Hold),
		no(name+"/claim", r, ev(Claim), ErrImpossible),
		no(name+"/done", r, ev(Done), ErrImpossible),
		no(name+"/not done retry", r, ev(NotDoneRetry), ErrImpossible),
		no(name+"/not done final", r, ev(NotDoneFinal), ErrImpossible),
		no(name+"/unknown", r, ev(Unknown), ErrImpossible),
		no(name+"/done of epoch 3", r, ev(Done, epoch(3)), ErrImpossible),
		only(name+"/done of epoch 1 T33", r, ev(Done, epoch(1)), PossibleDouble),
		only(name+"/older outcome T33", r, ev(OlderOutcome), PossibleDouble),
		no(name+"/older outcome of epoch 2", r, ev(OlderOutcome, epoch(2)), ErrImpossible),
		no(name+"/owner gone", r, ev(OwnerGone), ErrImpossible),
		no(name+"/read-back done", r, ev(ReadBackDone), ErrImpossible),
		no(name+"/read-back not done proof", r, ev(ReadBackNotDone, proof), ErrImpossible),
		no(name+"/read-back without verdict", r, ev(ReadBackNoVerdict), ErrImpossible),
		no(name+"/operator confirm", r, ev(OperatorConfirm), ErrImpossible),
		only(name+"/operator send T32", r, ev(OperatorSend), Copy|Wake),
		no(name+"/operator drop", r, ev(OperatorDrop), ErrImpossible),
		no(name+"/operator drop peer", r, ev(OperatorDrop, peer), ErrImpossible),
		no(name+"/advisor", r, ev(Advisor), ErrImpossible),
		no(name+"/advisor process", r, ev(Advisor, process), ErrImpossible),
		no(name+"/timer", r, ev(Timer), ErrImpossible),
		no(name+"/timer exhausted", r, ev(Timer, exhausted), ErrImpossible),
		no(name+"/window over", r, ev(WindowOver), ErrImpossible),
		only(name+"/window over T31", over, ev(WindowOver), Remove|Free),
		only(name+"/operator forget", r, ev(OperatorForget), Remove|Free),
	}
}
