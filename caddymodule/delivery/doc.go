// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package delivery decides what may happen to a delivery. It is pure: no I/O,
// no clock, no goroutine, no knowledge of Caddy or of any store, so that every
// decision can be tested as a table.
//
// Three functions carry the semantics:
//
//   - [Classify] turns the evidence of one attempt into an [Outcome]
//     (rows O1 to O34 of the outcome table).
//   - [Decide] turns an arriving delivery and what the store knows about its
//     keys into a [Verdict] (who is forwarded, who waits, who is held).
//   - [Step] applies one [Event] to one [Record] (transitions T6 to T35).
//
// The states and the ways between them:
//
//	(none) --accept--> READY <-----------------------------  HELD
//	  |                 | ^                                  ^  |
//	  | relay: claim    | | NOT_DONE                         |  | drop
//	  v      claim      v |                ambiguous --------+  v
//	RUNNING <-----------+ |                identity          DROPPED
//	  |  \                |
//	  |   \ UNKNOWN, owner gone, shutdown
//	  |    v
//	  |   UNCERTAIN -- late DONE, read-back done, operator confirm --> CONFIRMED
//	  |      |  \----- late NOT_DONE, read-back not done ------------> READY
//	  |      \-------- operator retry, policy retry (may repeat) -----> READY
//	  | DONE                                operator drop -----------> DROPPED
//	  v
//	CONFIRMED --(window over)--> (none)
//
// Age is never evidence: no transition leaves RUNNING or UNCERTAIN because time
// has passed.
package delivery
