// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package badgerstore keeps deliveries in an embedded Badger database, for a
// single node.
//
// Reads never wait for a write: Badger runs in managed mode, where a read does
// not wait for running commits. All reservations that wait at the same moment
// share one transaction and one sync, made by one goroutine (committer). Who
// decides about a key holds its lock until the decision is durable (keyLocks), so
// of two copies exactly one is first.
//
// What is open, and what is on its way to the disk, is held in memory too
// (cache); what is settled is read from Badger. Outcomes that nobody waits for
// are visible at once and ride on the next commit; if it fails they stay in
// memory and are tried again, in order, before anything newer.
//
// Badger is protected from what it cannot survive: a full disk (guard), damaged
// files (survey), and the loss of the end of its log, of which it says nothing
// (mark). Its own expiry only frees disk; windows end by the store's clock.
package badgerstore
