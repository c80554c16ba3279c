// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package verify checks webhook signatures described as data.
//
// A Scheme says where a signature is, how it is written, what text it covers
// and which algorithm made it. A Preset is a Scheme plus everything else that
// is known about one provider; the presets are JSON files in presets/, and a
// user's own verify block has the same structure. Compile turns a Scheme and
// its secrets into a Verifier and reports every configuration error; nothing
// about a configuration can fail later.
//
// Rules that hold for every scheme:
//
//   - The algorithm is fixed by the scheme and by the kind of the key, never by
//     the request. A weak scheme is not used beside a stronger one.
//   - A header that takes part in verification must occur exactly once, and an
//     empty signature is never accepted.
//   - Decoding is strict: one spelling of a digest, but for the case of hex
//     digits and the padding of base64.
//   - Only a time that the signature covers counts for freshness, and its text
//     is signed as it was sent, never formatted again.
//   - All active secrets are tried on every delivery, in constant time.
package verify
