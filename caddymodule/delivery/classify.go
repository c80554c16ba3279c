// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import "time"

// Class is how an attempt ended. There are three classes, and NotDone has two
// kinds: the upstream may be asked again (retry), or it refused (final).
type Class = EventKind

// Evidence is what was seen of one call to the upstream, over all attempts the
// call made. It is collected by the forwarder or by net/http/httptrace.
type Evidence struct {
	// Connection.
	Connections int  // connections that were handed out for a request (GotConn)
	AskedPool   bool // an HTTP transport asked for a connection (GetConn)
	Connected   int  // dials that succeeded, without those whose TLS handshake failed; for transports without a pool
	DialFailed  bool // a dial, a look-up or a TLS handshake failed
	NoUpstream  bool // the proxy had no healthy upstream and sent nothing
	Admission   bool // our own limits refused before anything was sent
	CountsBytes bool // Written is exact: our own forwarder counts them
	Written     int64
	Unprocessed bool // HTTP/2: the peer said that it did not process the stream

	// Answer.
	Status     int // final status whose head was complete, 0: none
	Complete   bool
	Upgraded   bool
	NoHandler  bool // nobody behind us answered
	RetryAfter time.Duration

	// End of the call.
	TimedOut    bool
	Shutdown    bool // we stopped and could wait no longer
	WriteFailed bool // the request broke while it was written
	Panicked    bool // the handler behind us panicked (not the abort of a cut answer)
}

// Contract is the part of a route's policy that reads statuses.
type Contract struct {
	// Strict makes 500, 502 and other 5xx unknown instead of "not done".
	Strict bool
	// Success holds the statuses that mean "done"; nil means 200 to 299.
	Success []StatusRange
}

// StatusRange is an inclusive range of statuses.
type StatusRange struct{ From, To int }

// Succeeds reports whether a status is in the success set.
func (c Contract) Succeeds(status int) bool {
	if c.Success == nil {
		return status >= 200 && status <= 299
	}
	for _, r := range c.Success {
		if status >= r.From && status <= r.To {
			return true
		}
	}
	return false
}

// Outcome is the verdict about one attempt.
type Outcome struct {
	Class      Class // Done, NotDoneRetry, NotDoneFinal or Unknown
	Reason     Reason
	Status     int // upstream status when its head was complete
	RetryAfter time.Duration
}

// Classify reads the evidence of one attempt. Only positive evidence makes
// "not done"; no evidence is unknown (rows O1 to O34).
func Classify(ev Evidence, c Contract) Outcome {
	out := Outcome{Status: ev.Status, RetryAfter: ev.RetryAfter}
	switch {
	case ev.Upgraded || ev.Status == 101: // O22
		out.Class, out.Reason = Unknown, ReasonUpgrade
	case ev.answered():
		byStatus(&out, ev, c)
	case ev.notSent(): // O12 to O16, O23
		out.Class, out.Reason = NotDoneRetry, ReasonNotDelivered
	case ev.NoHandler && !ev.reached():
		out.Class, out.Reason = NotDoneFinal, ReasonNoHandler
	case ev.Panicked && !ev.reached(): // O34
		out.Class, out.Reason = NotDoneFinal, ReasonPanic
	case ev.Panicked:
		out.Class, out.Reason = Unknown, ReasonPanic
	case ev.Shutdown: // O31
		out.Class, out.Reason = Unknown, ReasonShutdown
	case ev.TimedOut: // O19
		out.Class, out.Reason = Unknown, ReasonTimeout
	case ev.WriteFailed: // O17
		out.Class, out.Reason = Unknown, ReasonWriteFailed
	case ev.reached(): // O18, O20
		out.Class, out.Reason = Unknown, ReasonNoAnswer
	default:
		out.Class, out.Reason = Unknown, ReasonNoEvidence
	}
	return out
}

// answered reports whether the status is an answer of the upstream. An interim
// status is none (O20), and 499 is what a proxy writes when its own call was
// cancelled: nobody behind it said that.
func (ev *Evidence) answered() bool { return ev.Status >= 200 && ev.Status != 499 }

// reached reports whether anybody may have got something of the request.
func (ev *Evidence) reached() bool { return ev.Connections > 0 || ev.Connected > 0 }

// notSent is the evidence rule: over all attempts of the call, nothing of the
// request reached anybody who could act on it.
func (ev *Evidence) notSent() bool {
	nobody := !ev.reached()
	return (ev.Admission || ev.NoUpstream) && nobody ||
		ev.AskedPool && nobody || // an HTTP transport that never got a connection
		ev.DialFailed && nobody || // FastCGI and other transports without a pool
		ev.CountsBytes && ev.Written == 0 && (ev.Connections > 0 || ev.DialFailed) || // O16: counted on a dead connection
		ev.Unprocessed && ev.Connections <= 1 // O23: the protocol says so, whatever was written
}

// byStatus is O1 to O11 and O21: a complete head speaks for itself, and a
// success counts only with its whole body.
func byStatus(out *Outcome, ev Evidence, c Contract) {
	s := ev.Status
	switch {
	case c.Succeeds(s) && ev.Complete: // O1, O2
		out.Class, out.Reason = Done, ReasonDone
	case c.Succeeds(s): // O3
		out.Class, out.Reason = Unknown, ReasonTruncated
	case s < 300: // in neither set: the route narrowed what counts as done
		out.Class, out.Reason = Unknown, ReasonOtherSuccess
	case s == 504 || s == 524: // O11
		out.Class, out.Reason = Unknown, ReasonGatewayUnsure
	case s == 429 || s == 503: // O8
		out.Class, out.Reason = NotDoneRetry, ReasonUpstreamBusy
	case s == 408 || s == 409 || s == 421 || s == 423 || s == 425: // O7
		out.Class, out.Reason = NotDoneRetry, ReasonUpstreamFail
	case s >= 500 && c.Strict: // O9, O10
		out.Class, out.Reason = Unknown, ReasonServerError
	case s >= 500:
		out.Class, out.Reason = NotDoneRetry, ReasonUpstreamFail
	default: // O4, O5, O6
		out.Class, out.Reason = NotDoneFinal, ReasonRefused
	}
}
