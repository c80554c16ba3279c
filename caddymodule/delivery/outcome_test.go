// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var (
	contract = Contract{}
	strict   = Contract{Strict: true}
	only202  = Contract{Success: []StatusRange{{202, 202}}}
	upTo3xx  = Contract{Success: []StatusRange{{200, 299}, {302, 303}}}
	allowing = Contract{Strict: true, Success: []StatusRange{{200, 200}, {500, 504}}}
	nothing  = Contract{Success: []StatusRange{}}
)

// What Go's transport and other transports show of an attempt.
var (
	pooled = Evidence{AskedPool: true}                 // asked for a connection, got none
	sent   = Evidence{AskedPool: true, Connections: 1} // got one, so something may be out
	own    = Evidence{AskedPool: true, Connections: 1, CountsBytes: true}
	dialed = Evidence{Connected: 1} // FastCGI: a dial that succeeded
)

func head(status int) Evidence {
	return with(sent, func(e *Evidence) { e.Status = status })
}

func full(status int) Evidence {
	return with(head(status), func(e *Evidence) { e.Complete = true })
}

func with(e Evidence, change func(*Evidence)) Evidence {
	change(&e)
	return e
}

type outcomeRow struct {
	name     string
	evidence Evidence
	contract Contract
	class    Class
	reason   Reason
}

var answerRows = []outcomeRow{
	{"O1 200", full(200), contract, Done, ReasonDone},
	{"O1 204", full(204), contract, Done, ReasonDone},
	{"O1 299", full(299), strict, Done, ReasonDone},
	{"O2 200 without length", full(200), contract, Done, ReasonDone},
	{"O3 200 cut", head(200), contract, Unknown, ReasonTruncated},
	{"O3 200 cut strict", head(200), strict, Unknown, ReasonTruncated},
	{"O4 301", full(301), contract, NotDoneFinal, ReasonRefused},
	{"O4 302 in success set", full(302), upTo3xx, Done, ReasonDone},
	{"O4 304 beside success set", full(304), upTo3xx, NotDoneFinal, ReasonRefused},
	{"O5 400", full(400), contract, NotDoneFinal, ReasonRefused},
	{"O5 401", full(401), contract, NotDoneFinal, ReasonRefused},
	{"O5 403", full(403), contract, NotDoneFinal, ReasonRefused},
	{"O5 404", full(404), strict, NotDoneFinal, ReasonRefused},
	{"O5 405", full(405), contract, NotDoneFinal, ReasonRefused},
	{"O5 411", full(411), contract, NotDoneFinal, ReasonRefused},
	{"O5 413", full(413), contract, NotDoneFinal, ReasonRefused},
	{"O5 414", full(414), contract, NotDoneFinal, ReasonRefused},
	{"O5 415", full(415), contract, NotDoneFinal, ReasonRefused},
	{"O5 422", full(422), contract, NotDoneFinal, ReasonRefused},
	{"O5 422 body cut", head(422), contract, NotDoneFinal, ReasonRefused},
	{"O6 410", full(410), contract, NotDoneFinal, ReasonRefused},
	{"O7 408", full(408), contract, NotDoneRetry, ReasonUpstreamFail},
	{"O7 409", full(409), strict, NotDoneRetry, ReasonUpstreamFail},
	{"O7 421", full(421), contract, NotDoneRetry, ReasonUpstreamFail},
	{"O7 423", full(423), contract, NotDoneRetry, ReasonUpstreamFail},
	{"O7 425", full(425), contract, NotDoneRetry, ReasonUpstreamFail},
	{"O8 429", full(429), contract, NotDoneRetry, ReasonUpstreamBusy},
	{"O8 429 strict", full(429), strict, NotDoneRetry, ReasonUpstreamBusy},
	{"O8 503", full(503), contract, NotDoneRetry, ReasonUpstreamBusy},
	{"O8 503 strict", full(503), strict, NotDoneRetry, ReasonUpstreamBusy},
	{"O9 500 contract", full(500), contract, NotDoneRetry, ReasonUpstreamFail},
	{"O9 500 strict", full(500), strict, Unknown, ReasonServerError},
	{"O9 507 contract", full(507), contract, NotDoneRetry, ReasonUpstreamFail},
	{"O9 507 strict", full(507), strict, Unknown, ReasonServerError},
	{"O9 500 body cut strict", head(500), strict, Unknown, ReasonServerError},
	{"O10 502 contract", full(502), contract, NotDoneRetry, ReasonUpstreamFail},
	{"O10 502 strict", full(502), strict, Unknown, ReasonServerError},
	{"O11 504 contract", full(504), contract, Unknown, ReasonGatewayUnsure},
	{"O11 504 strict", full(504), strict, Unknown, ReasonGatewayUnsure},
	{"O11 524 contract", full(524), contract, Unknown, ReasonGatewayUnsure},
	{"O11 504 in success set", full(504), allowing, Done, ReasonDone},
	{"O21 413 while sending", with(full(413), func(e *Evidence) { e.WriteFailed = true }), contract, NotDoneFinal, ReasonRefused},
	{"O22 101", head(101), contract, Unknown, ReasonUpgrade},
	{"O22 upgraded", with(full(200), func(e *Evidence) { e.Upgraded = true }), contract, Unknown, ReasonUpgrade},
	{"success 202: 202", full(202), only202, Done, ReasonDone},
	{"success 202: 202 cut", head(202), only202, Unknown, ReasonTruncated},
	{"success 202: 200 is neither", full(200), only202, Unknown, ReasonOtherSuccess},
	{"success none: 200", full(200), nothing, Unknown, ReasonOtherSuccess},
	{"success 500: 500", full(500), allowing, Done, ReasonDone},
	{"success 500: 505 strict", full(505), allowing, Unknown, ReasonServerError},
	{"499 of a cancelled proxy", full(499), contract, Unknown, ReasonNoAnswer},
	{"499 before a connection", with(pooled, func(e *Evidence) { e.Status = 499 }), contract, NotDoneRetry, ReasonNotDelivered},
	{"499 without evidence", Evidence{Status: 499, Complete: true}, contract, Unknown, ReasonNoEvidence},
}

var transportRows = []outcomeRow{
	{"O3 200 cut, panic of the proxy", with(head(200), func(e *Evidence) { e.Panicked = true }), contract, Unknown, ReasonTruncated},
	{"O12 refused", with(pooled, func(e *Evidence) { e.DialFailed = true }), contract, NotDoneRetry, ReasonNotDelivered},
	{"O12 refused FastCGI", Evidence{DialFailed: true}, contract, NotDoneRetry, ReasonNotDelivered},
	{"O12 refused FastCGI, then connected", Evidence{DialFailed: true, Connected: 1}, contract, Unknown, ReasonNoAnswer},
	{"O12 refused after an earlier reset", with(sent, func(e *Evidence) { e.DialFailed = true }), contract, Unknown, ReasonNoAnswer},
	{"O12 dial timeout", with(pooled, func(e *Evidence) { e.DialFailed, e.TimedOut = true, true }), contract, NotDoneRetry, ReasonNotDelivered},
	{"O12 no healthy upstream", Evidence{NoUpstream: true}, contract, NotDoneRetry, ReasonNotDelivered},
	{"O12 no healthy upstream after an attempt", with(sent, func(e *Evidence) { e.NoUpstream = true }), contract, Unknown, ReasonNoAnswer},
	{"O12 no healthy upstream after FastCGI", with(dialed, func(e *Evidence) { e.NoUpstream = true }), contract, Unknown, ReasonNoAnswer},
	{"O13 TLS failure", with(pooled, func(e *Evidence) { e.DialFailed = true }), contract, NotDoneRetry, ReasonNotDelivered},
	{"O13 TLS failure beside FastCGI", with(dialed, func(e *Evidence) { e.AskedPool, e.DialFailed = true, true }), contract, Unknown, ReasonNoAnswer},
	{"O14 pool wait over", with(pooled, func(e *Evidence) { e.TimedOut = true }), contract, NotDoneRetry, ReasonNotDelivered},
	{"O14 no slot", Evidence{Admission: true}, contract, NotDoneRetry, ReasonNotDelivered},
	{"O14 no slot after an attempt", with(sent, func(e *Evidence) { e.Admission = true }), contract, Unknown, ReasonNoAnswer},
	{"O15 reset seen as dial error", with(pooled, func(e *Evidence) { e.DialFailed = true }), strict, NotDoneRetry, ReasonNotDelivered},
	{"O15 reset seen as EOF", sent, contract, Unknown, ReasonNoAnswer},
	{"O15 reset seen as EOF, bytes counted", with(own, func(e *Evidence) { e.Written = 218 }), contract, Unknown, ReasonNoAnswer},
	{"O16 dead connection, nothing written", own, contract, NotDoneRetry, ReasonNotDelivered},
	{"O16 dead connection, not counted", sent, contract, Unknown, ReasonNoAnswer},
	{"O16 nothing written, then no upstream", with(own, func(e *Evidence) { e.NoUpstream = true }), contract, NotDoneRetry, ReasonNotDelivered},
	{"O16 counter without any attempt", Evidence{CountsBytes: true}, contract, Unknown, ReasonNoEvidence},
	{"O17 write broke", with(sent, func(e *Evidence) { e.WriteFailed = true }), contract, Unknown, ReasonWriteFailed},
	{"O18 written, then EOF", sent, contract, Unknown, ReasonNoAnswer},
	{"O18 FastCGI, then EOF", dialed, contract, Unknown, ReasonNoAnswer},
	{"O19 written, timeout", with(sent, func(e *Evidence) { e.TimedOut = true }), contract, Unknown, ReasonTimeout},
	{"O19 FastCGI, timeout", with(dialed, func(e *Evidence) { e.TimedOut = true }), contract, Unknown, ReasonTimeout},
	{"O20 head cut", sent, strict, Unknown, ReasonNoAnswer},
	{"O20 103 then close", head(103), contract, Unknown, ReasonNoAnswer},
	{"O23 stream refused", with(sent, func(e *Evidence) { e.Unprocessed = true }), contract, NotDoneRetry, ReasonNotDelivered},
	{"O23 stream refused, bytes written", with(own, func(e *Evidence) { e.Unprocessed, e.Written = true, 500 }), contract, NotDoneRetry, ReasonNotDelivered},
	{"O23 stream refused at the second attempt", with(sent, func(e *Evidence) { e.Unprocessed, e.Connections = true, 2 }), contract, Unknown, ReasonNoAnswer},
	{"O31 shutdown", with(sent, func(e *Evidence) { e.Shutdown = true }), contract, Unknown, ReasonShutdown},
	{"O31 shutdown and timeout", with(sent, func(e *Evidence) { e.Shutdown, e.TimedOut = true, true }), contract, Unknown, ReasonShutdown},
	{"O31 shutdown before a connection", with(pooled, func(e *Evidence) { e.Shutdown = true }), contract, NotDoneRetry, ReasonNotDelivered},
	{"O34 panic before a connection", Evidence{Panicked: true}, contract, NotDoneFinal, ReasonPanic},
	{"O34 panic after a connection", with(sent, func(e *Evidence) { e.Panicked = true }), contract, Unknown, ReasonPanic},
	{"O34 panic after FastCGI", with(dialed, func(e *Evidence) { e.Panicked = true }), contract, Unknown, ReasonPanic},
	{"nobody behind us", Evidence{NoHandler: true}, contract, NotDoneFinal, ReasonNoHandler},
	{"nobody behind us after a connection", with(sent, func(e *Evidence) { e.NoHandler = true }), contract, Unknown, ReasonNoAnswer},
	{"no evidence at all", Evidence{}, contract, Unknown, ReasonNoEvidence},
	{"no evidence, timeout", Evidence{TimedOut: true}, contract, Unknown, ReasonTimeout},
}

func TestOutcomes(t *testing.T) {
	for _, rows := range [][]outcomeRow{answerRows, transportRows} {
		for _, c := range rows {
			t.Run(c.name, func(t *testing.T) {
				c.evidence.RetryAfter = 7 * time.Second
				want := Outcome{Class: c.class, Reason: c.reason, Status: c.evidence.Status, RetryAfter: 7 * time.Second}
				if got := Classify(c.evidence, c.contract); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
			})
		}
	}
}

// TestOutcomesReachStates follows an outcome into the record: rows O3 to O31 end
// in the state that the table names.
func TestOutcomesReachStates(t *testing.T) {
	next := map[Class]State{Done: Confirmed, NotDoneRetry: Ready, NotDoneFinal: Ready, Unknown: Uncertain}
	for _, rows := range [][]outcomeRow{answerRows, transportRows} {
		for _, c := range rows {
			t.Run(c.name, func(t *testing.T) {
				out := Classify(c.evidence, c.contract)
				r, _, err := Step(in(Running), Event{Kind: out.Class, At: now, Epoch: 2, Reason: out.Reason, Status: out.Status})
				if err != nil || r.State != next[c.class] || r.Reason != c.reason {
					t.Errorf("got %s/%s, %v", r.State, r.Reason, err)
				}
			})
		}
	}
}

// TestEvidenceRule compares Classify with the rule as prose states it.
func TestEvidenceRule(t *testing.T) {
	statuses := []int{0, 0, 0, 100, 103, 200, 202, 204, 302, 400, 408, 409, 410, 413, 422, 429, 499, 500, 502, 503, 504, 524, 599}
	contracts := []Contract{contract, strict, only202, upTo3xx, allowing, nothing}
	flag := rapid.Bool()
	rapid.Check(t, func(t *rapid.T) {
		rare := func(name string) bool { return rapid.IntRange(0, 4).Draw(t, name) == 0 }
		ev := Evidence{
			Connections: rapid.IntRange(0, 2).Draw(t, "connections"),
			AskedPool:   flag.Draw(t, "asked pool"),
			Connected:   rapid.IntRange(0, 2).Draw(t, "connected"),
			DialFailed:  flag.Draw(t, "dial failed"),
			NoUpstream:  rare("no upstream"),
			Admission:   rare("admission"),
			CountsBytes: flag.Draw(t, "counts bytes"),
			Written:     int64(rapid.IntRange(0, 1).Draw(t, "written")),
			Unprocessed: rare("unprocessed"),
			Status:      rapid.SampledFrom(statuses).Draw(t, "status"),
			Complete:    flag.Draw(t, "complete"),
			Upgraded:    rare("upgraded"),
			NoHandler:   rare("no handler"),
			TimedOut:    flag.Draw(t, "timed out"),
			Shutdown:    rare("shutdown"),
			WriteFailed: flag.Draw(t, "write failed"),
			Panicked:    rare("panicked"),
		}
		c := contracts[rapid.IntRange(0, len(contracts)-1).Draw(t, "contract")]
		got := Classify(ev, c)
		notDone := got.Class == NotDoneRetry || got.Class == NotDoneFinal
		if want := naiveDone(ev, c); (got.Class == Done) != want {
			t.Fatalf("%+v: %+v, done by the rule: %v", ev, got, want)
		}
		if want := naiveNotDone(ev, c); notDone != want {
			t.Fatalf("%+v: %+v, not done by the rule: %v", ev, got, want)
		}
		if !notDone && got.Class != Done && got.Class != Unknown {
			t.Fatalf("%+v: no class: %+v", ev, got)
		}
	})
}

// naiveDone: a complete head with a status of the success set, body complete.
func naiveDone(e Evidence, c Contract) bool {
	return naiveHead(e) && naiveSuccess(e.Status, c) && e.Complete
}

// naiveHead: a complete status line and headers that came from the upstream.
func naiveHead(e Evidence) bool {
	final := e.Status != 0 && e.Status/100 != 1
	return final && e.Status != 499 && !e.Upgraded
}

func naiveSuccess(status int, c Contract) bool {
	if c.Success == nil {
		return status/100 == 2
	}
	found := false
	for _, r := range c.Success {
		found = found || r.From <= status && status <= r.To
	}
	return found
}

// naiveNotDone: an answer with a status of the "not done" set, or no answer and
// positive evidence that nobody who could act on it got the request.
func naiveNotDone(e Evidence, c Contract) bool {
	if e.Upgraded || e.Status == 101 {
		return false
	}
	if naiveHead(e) {
		s := e.Status
		undecided := s == 504 || s == 524 || c.Strict && s >= 500 && s != 503
		return !naiveSuccess(s, c) && s/100 != 2 && !undecided
	}
	nobody := e.Connections == 0 && e.Connected == 0
	var evidence []bool
	evidence = append(evidence,
		e.AskedPool && nobody,                   // a pool that never handed out a connection
		e.DialFailed && nobody,                  // other transports: dials failed, none succeeded
		(e.NoUpstream || e.Admission) && nobody, // refused before anything was sent
		e.CountsBytes && e.Written == 0 && (e.Connections > 0 || e.DialFailed), // O16
		e.Unprocessed && e.Connections <= 1,                                    // O23
		(e.NoHandler || e.Panicked) && nobody,                                  // nobody behind us, O34
	)
	for _, yes := range evidence {
		if yes {
			return true
		}
	}
	return false
}
