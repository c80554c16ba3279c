// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the hookonce binary from outside: a real process, real
// sockets, a scripted app behind it, and a provider that signs as the real one
// does.
//
// # The binary
//
// TestMain builds ./cmd/hookonce once. HOOKONCE_BIN=<file> uses a binary that is
// there already; HOOKONCE_RACE=1 builds with the race detector, whose reports
// then fail the test that stops the sidecar.
//
// # A sidecar
//
//	s := Start(t, sites, Options{})
//
// starts a process of its own with its own store, XDG directories, admin port
// and site port, and returns when it serves. sites is a Caddyfile without global
// options, in which these words are replaced:
//
//	<site>      http://127.0.0.1:port, the address that Deliver sends to
//	<any>       the same site for requests with any Host
//	<admin>     host:port of the admin API
//	<dir>       a directory of the test, with the store in <dir>/store
//	<NAME>      the entry NAME of Options.Vars, such as the address of an app
//
// Options adds lines to the global options (Global) and to the hookonce block in
// them (Hookonce), and variables to the environment (Env). Every secret of the
// catalogue of providers is there as {env.SECRET_<PROVIDER>}, see Provider.
//
// The process is steered by Kill (SIGKILL), Stop (SIGTERM, waits, and fails the
// test when the exit is not clean), Restart (same files, same ports), Reload
// (the admin API with a Caddyfile, which may be refused), Admin and Metrics. It
// is stopped when the test ends.
//
// Logs are JSON records: Logs.Wait returns the first record that matches, now
// or later, Logs.Find those so far, Logs.Text everything as it was written.
//
// # An app
//
//	app := NewApp(t, oracle.Config{})
//
// is the scripted upstream of cmd/effectd/oracle in this process, behind a
// ledger. App.Wait waits until n requests with a body have arrived,
// App.Effects counts what the ledger holds for a body. Nothing waits by
// sleeping.
//
// # A provider
//
//	a := s.Deliver(t, Delivery{Provider: "github", Path: "/github", Body: body})
//
// signs and sends one delivery and returns the answer: Status, Word (the header
// Hookonce-Status), Header, Body. Send does the same and returns the error, for
// deliveries whose connection is expected to die; Go delivers in the
// background.
//
// # An operator
//
// Items lists the open deliveries, Item and ItemOf show all about one of them, Act
// decides about it, Stats are the figures of the store.
//
// # A crowd
//
//	c := newCrowd(t, newSeed(t), fates)
//
// is a provider with several connections and its own app. It delivers events until
// they are taken, and repeats some; what the app does with each is chosen from a
// seed that HOOKONCE_SEED repeats. Its account is checked against what was
// promised: the app's ledger, the provider's log and the open deliveries have to
// agree. HOOKONCE_KILLS is how often TestCrash kills the process (200).
//
// # A volume
//
// mountTmpfs and mountExt4 make small file systems to fill and to break. They
// need root and fail without it.
//
// Run runs the binary for a command that ends by itself, such as validate.
package e2e
