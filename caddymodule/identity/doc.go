// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package identity answers one question: which delivery is this. It finds the
// IDs that a request carries, says how far each can be trusted, and turns them
// into keyed aliases under which the store remembers an effect.
//
// Two rules hold everywhere. An ID that the signature does not cover can never
// make a body that nobody has seen look like a repeat, therefore such an ID is
// hashed together with the body. And a body that was seen can never become new
// by changing, adding or removing an ID that the signature does not cover,
// therefore such routes also remember the body itself.
//
// Whatever cannot be read in exactly one way (a repeated header, a duplicate
// JSON name on the path, a wrong type, bad encoding, control characters, more
// than MaxIDLen bytes) is a Problem for a person to decide. Nothing is
// repaired, trimmed or guessed.
//
// Content is compared by its meaning. WCF-1 is a hash over the parsed body, under
// rules that say what does not matter (FingerprintRules): it is the identity of
// a delivery without an ID, the check of one with an ID, and what an unsigned ID
// is bound to where attempts differ in known places. Equal fingerprints always
// mean equal content; whatever has no one reading has no fingerprint. A replay
// can change headers, so the fingerprint depends on the body alone.
//
// The package is pure apart from a pool of scratch buffers: no clock, no
// randomness, no input or output. It imports nothing else of hookonce.
package identity
