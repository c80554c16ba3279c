// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

// Note says why a body has no fingerprint, in a word that can label a metric.
// The empty note means that it has one.
type Note string

// The notes.
const (
	// NoteNoRules: the route compares raw bytes.
	NoteNoRules Note = "no_rules"
	// NoteEmptyBody: there is nothing to compare.
	NoteEmptyBody Note = "empty_body"
	// NoteUnknownType: the body is none of JSON, form and multipart.
	NoteUnknownType Note = "unknown_type"
	// NoteInvalidJSON: it begins like JSON, but is not.
	NoteInvalidJSON Note = "invalid_json"
	// NoteDuplicateName: parsers differ about which of two equal names counts.
	NoteDuplicateName Note = "duplicate_name"
	// NoteInvalidText: there is bad UTF-8, or half of a surrogate pair.
	NoteInvalidText Note = "invalid_text"
	// NoteTooDeep: there are more than 64 levels.
	NoteTooDeep Note = "too_deep"
	// NoteTooManyTokens: there are more than 200,000 names, values and ends, or
	// more than 1,000 parts.
	NoteTooManyTokens Note = "too_many_tokens"
	// NoteInvalidForm: it looks like a form, but has a broken escape.
	NoteInvalidForm Note = "invalid_form"
	// NoteInvalidMultipart: it begins like a multipart body, but is not one that
	// can be read in one way only.
	NoteInvalidMultipart Note = "invalid_multipart"
	// NoteInvalidCompression: it begins like compressed data, but is not.
	NoteInvalidCompression Note = "invalid_compression"
	// NoteTooLarge: it expands to more than 8 MiB, or more than a hundredfold.
	NoteTooLarge Note = "too_large"
	// NoteNothingLeft: the rules leave no value.
	NoteNothingLeft Note = "nothing_left"
	// NoteTooFewFields: the rules leave fewer values than they demand.
	NoteTooFewFields Note = "too_few_fields"
)

// thin tells that the body was understood, but that what counts of it says too
// little: other events would look the same. Its raw bytes are no way out, since
// they differ in what does not count.
func (n Note) thin() bool { return n == NoteNothingLeft || n == NoteTooFewFields }
