// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Package spool keeps the bytes of requests on disk from before the first send
// until their effect is settled, so that a later attempt, or a person, has them.
//
// # Promise
//
// When Wait of a Put has returned nil, Get returns exactly those bytes until
// Free, also after a kill of the process and, with Options.Sync, after a power
// cut on a disk that keeps what it confirmed. Damage is found by a checksum (and
// by AES-256-GCM when a key is set) and reported, never returned as bytes.
//
// # Layout
//
// Entries of up to InlineMax bytes live in segment files that were written full
// of zeros once and are recycled for ever: their blocks exist and their size
// never changes, so a flush writes data alone and costs about half of what an
// appended file costs. One goroutine writes them, and all that wait share one
// write and one fdatasync. Larger entries are files of their own, each written,
// flushed and renamed into place. Both kinds of file begin with the same header
// and hold the same entries:
//
//	file    64 bytes: magic, flags, random salt, key check, checksum
//	        (a segment repeats this header in its last 64 bytes)
//	entry   64 bytes: magic, tag of the file's salt, ID, number, time, epoch,
//	        length, checksum of the payload, checksum of this header
//	mark    32 bytes, zero until Settle overwrites them in place
//	payload, sealed when the file says so; padded with zeros to 64 bytes
//
// An incarnation of a segment is known by its random salt. Entries of an earlier
// incarnation that lie behind the newest ones carry another tag, and no payload
// can pretend to be an entry, because nobody outside knows the salt.
//
// # Start
//
// Free is a matter of memory alone, so that it costs nothing; after a start all
// entries that were not overwritten yet are back. Scan shows them and Retain
// drops those that the store no longer calls open. Among several entries with
// one ID the intact one with the highest number counts. A damaged one counts only
// when there is no other, because it may be what a crash left of a replacement
// that nobody was told of; Entry.Epoch tells which one it is.
package spool
