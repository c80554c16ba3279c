// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"cmp"
	"fmt"
)

// ProblemCode says why a delivery cannot be identified safely and waits for a
// person. The empty code means that there is no problem.
type ProblemCode string

// The problems. Their texts are the hold reasons of a parked delivery.
const (
	// ProblemAmbiguousID means that an ID can be read in more than one way, or
	// not at all.
	ProblemAmbiguousID ProblemCode = "ambiguous_id"
	// ProblemNoSafeKey means that there is neither an ID nor content that could
	// stand in for it.
	ProblemNoSafeKey ProblemCode = "no_safe_key"
)

// Reason says what makes an ID ambiguous, or content unsafe.
type Reason string

// The reasons of ProblemNoSafeKey, beside an empty body. Their texts complete
// the sentence "no ID and ...".
const (
	ReasonHashForbidden Reason = "equal bodies of this sender need not be one event"
	ReasonNothingLeft   Reason = "the fingerprint rules leave nothing of the body"
	ReasonTooFewFields  Reason = "the body has fewer values than min_fields"
)

// The reasons of ProblemAmbiguousID. Their texts complete the sentence "the ID
// ...".
const (
	ReasonRepeated      Reason = "occurs more than once"
	ReasonDuplicateName Reason = "has a duplicate JSON name on its path"
	ReasonOddName       Reason = "has a JSON name on its path that parsers read differently"
	ReasonWrongType     Reason = "is neither a string nor a number"
	ReasonTooLong       Reason = "is longer than 256 bytes"
	ReasonControl       Reason = "contains control characters"
	ReasonEncoding      Reason = "is badly encoded"
	ReasonTooDeep       Reason = "is in a JSON document of more than 64 levels"
	ReasonDisagree      Reason = "differs from that in another signed header"
)

// Problem is why Derive found no safe identity. The zero value is none. It
// never contains anything that the request carried.
type Problem struct {
	Code ProblemCode
	// Source is the text form of the configured source that caused it. It is
	// empty for ProblemNoSafeKey.
	Source string
	// Reason is empty for ProblemNoSafeKey when the body is empty.
	Reason Reason
}

// String describes the problem for a log record or an operator.
func (p Problem) String() string {
	switch p.Code {
	case "":
		return ""
	case ProblemNoSafeKey:
		return "no_safe_key: no ID and " + cmp.Or(string(p.Reason), "an empty body")
	}
	return fmt.Sprintf("%s: the ID in %s %s", p.Code, p.Source, p.Reason)
}

// Interface guard.
var _ fmt.Stringer = Problem{}
