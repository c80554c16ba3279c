// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// minPrefix is how many hex digits name a delivery at least: as many as logs
// and lists show.
const minPrefix = 8

// find returns the one delivery that an operator means: by its ID, by a prefix
// of that, or by the provider's own delivery or event ID.
func (c *adminCall) find(text string) (delivery.Record, error) {
	if id, err := delivery.ParseID(text); err == nil {
		r, err := c.n.store.Get(c.r.Context(), id)
		if err != nil {
			return r, fmt.Errorf("%q: %w", text, err)
		}
		return r, nil
	}
	if text == "" {
		return delivery.Record{}, refusal(http.StatusBadRequest, "the ID of the delivery is empty")
	}
	found, err := c.matching(text)
	switch {
	case err != nil:
		return delivery.Record{}, err
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && isHex(text) && len(text) < minPrefix:
		return delivery.Record{}, refusal(http.StatusNotFound,
			"no delivery has the ID %q: give at least %d hex digits of its ID, or the provider's whole ID", text, minPrefix)
	case len(found) == 0:
		return delivery.Record{}, refusal(http.StatusNotFound, "no delivery has the ID %q; it was never seen, or it is over its window", text)
	}
	return delivery.Record{}, refusal(http.StatusConflict, "%q names more than one delivery: %s; give more of the ID", text, choices(found))
}

// maxChoices bounds how many deliveries are named when an ID is ambiguous.
const maxChoices = 8

// matching walks all deliveries, the settled ones too, because an open delivery
// is often held for the very reason that its ID is that of a settled one.
func (c *adminCall) matching(text string) (found []delivery.Record, err error) {
	prefix := isHex(text) && len(text) >= minPrefix
	filter := store.Filter{Text: firstBytes(text, maxSearched), All: true, Limit: store.MaxLimit}
	for {
		page, err := c.n.store.List(c.r.Context(), filter)
		if err != nil {
			return nil, fmt.Errorf("looking for %q: %w", text, err)
		}
		for _, r := range page.Records {
			if isID(r.DeliveryID, text) || isID(r.EventID, text) || prefix && strings.HasPrefix(r.ID.String(), text) {
				found = append(found, r)
			}
		}
		if page.Cursor == "" || len(found) > maxChoices {
			return found, nil
		}
		filter.Cursor = page.Cursor
	}
}

// maxSearched is how much of a text is searched for. Records have no more than
// 128 bytes of an ID, and say by an ellipsis that it is longer.
const maxSearched = 100

// isID reports whether text is the ID that a record shows.
func isID(shown, text string) bool {
	head, cut := strings.CutSuffix(shown, "…")
	return shown == text || cut && len(head) > maxSearched && strings.HasPrefix(text, head)
}

// firstBytes cuts a text to at most n bytes, between two characters.
func firstBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func choices(found []delivery.Record) string {
	var b strings.Builder
	for i, r := range found[:min(len(found), maxChoices)] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s (%s)", r.ID, r.State)
	}
	if len(found) > maxChoices {
		b.WriteString(" and others")
	}
	return b.String()
}

// isHex reports whether text has nothing but the digits that IDs are shown in.
func isHex(text string) bool {
	return strings.IndexFunc(text, func(c rune) bool { return !strings.ContainsRune("0123456789abcdef", c) }) < 0
}
