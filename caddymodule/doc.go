// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package caddymodule adapts hookonce to Caddy. It is the only package that
// knows both Caddy and the core (delivery, verify, identity, store, spool).
package caddymodule
