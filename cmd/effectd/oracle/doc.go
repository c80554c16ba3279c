// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package oracle is a scripted upstream: it writes each effect to a ledger that
// survives a crash, and then misbehaves exactly as told. Tests use it
// in-process, the command effectd runs it as a process of its own.
//
// # The ledger
//
// The ledger has one line of JSON for each effect, synced before the request
// is answered. What it holds happened; what it does not hold did not. It is
// continued after a restart, with rising sequence numbers, and a last line
// that a crash tore is dropped.
//
// # What a request meets
//
// The receiver's requests need nothing special. What happens is decided by, in
// this order:
//
//  1. the script: behaviours used up one by one (Server.Script, POST /script);
//  2. the path: /do/<name>/anything meets the named behaviour;
//  3. the body: the top-level JSON field "effectd" holds a behaviour, or a list
//     of which the n-th arrival of the same body meets the n-th;
//  4. the default (Server.Default, POST /default).
//
// A behaviour says how much is read, when the effect happens, what comes then
// and how the answer ends; see Behaviour for the fields and Names for a table
// of named ones with what a client sees. Fields combine freely:
//
//	"cut-length"
//	{"status": 503, "header": {"Retry-After": "2"}, "times": 3}
//	{"read": "head", "bytes": 100, "then": "reset"}
//	{"hold": true, "effect": "late", "then": "close"}
//
// # Waiting for things
//
// Arrived tells of each request as it is there and its early effect durable.
// Hold and Release let a test decide when the answer goes out. Neither needs a
// sleep.
//
// # Versions of HTTP
//
// HTTP/1.1 is served from raw connections, with or without TLS, on TCP and
// unix sockets, so every behaviour is exact. A FIN is a half close after which
// the rest of the request is swallowed: the client sees an end of file, never
// a reset by chance. HTTP/2 is served by net/http; there Reset ends the stream
// and Close the connection, cut heads become stream resets, and RefuseStream
// and GoAway say in the words of the protocol that nothing was processed.
package oracle
