// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

// Reason says why a delivery was refused; the empty Reason means that it was
// not. It is meant for logs and metrics, never for the client.
type Reason string

// The reasons, in the spelling that logs and metrics use.
const (
	OK                 Reason = ""
	SignatureMissing   Reason = "signature_missing"
	SignatureMalformed Reason = "signature_malformed"
	SignatureMismatch  Reason = "signature_mismatch"
	TimestampMissing   Reason = "timestamp_missing"
	TimestampMalformed Reason = "timestamp_malformed"
	TimestampStale     Reason = "timestamp_stale"
	TimestampFuture    Reason = "timestamp_future"
)

// rank orders the reasons of several methods tried on one delivery: the one
// that got furthest explains the refusal best.
func (r Reason) rank() int {
	switch r {
	case SignatureMissing:
		return 1
	case SignatureMalformed:
		return 2
	case SignatureMismatch:
		return 3
	default:
		return 4
	}
}
