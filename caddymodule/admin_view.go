// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// deliveryView is a delivery as operators see it. It has nothing of the body
// but a digest, and IDs in the form in which the provider sent them.
type deliveryView struct {
	ID       string `json:"id"`
	Route    string `json:"route"`
	Provider string `json:"provider,omitempty"`
	Sender   string `json:"sender,omitempty"`

	State  string    `json:"state"`
	Reason string    `json:"reason,omitempty"`
	Why    string    `json:"why"`
	Since  time.Time `json:"since,omitzero"`
	Can    []string  `json:"can"` // actions that are possible now

	DeliveryID string `json:"delivery_id,omitempty"`
	EventID    string `json:"event_id,omitempty"`
	BodyDigest string `json:"body_digest"` // the first half of the SHA-256, in hex
	Strength   string `json:"strength"`
	Confidence string `json:"confidence"`
	Secret     string `json:"secret,omitempty"` // the name of the secret that verified it

	Created  time.Time `json:"created,omitzero"`
	LastSeen time.Time `json:"last_seen,omitzero"`
	Seen     uint32    `json:"seen"`
	SentAt   time.Time `json:"sent_at,omitzero"`
	Attempts uint32    `json:"attempts"`
	NextAt   time.Time `json:"next_at,omitzero"`
	Expires  time.Time `json:"expires,omitzero"`

	Owed           bool   `json:"owed"`
	MayRepeat      bool   `json:"may_repeat"`
	Kept           bool   `json:"kept"`
	DeadLetter     bool   `json:"dead_letter"`
	UpstreamStatus int    `json:"upstream_status,omitempty"`
	ExternalRef    string `json:"external_ref,omitempty"`
	Rationale      string `json:"rationale,omitempty"`
	Peer           string `json:"peer,omitempty"` // the delivery that it is compared with, or a duplicate of
}

func viewOf(r *delivery.Record) deliveryView {
	v := deliveryView{
		ID: r.ID.String(), Route: r.Source, Provider: r.Provider, Sender: r.Sender,
		State: r.State.String(), Reason: string(r.Reason), Why: explain(r), Since: moment(r.Changed),
		Can:        possibleActions(r),
		DeliveryID: r.DeliveryID, EventID: r.EventID, BodyDigest: hex.EncodeToString(r.Body[:]),
		Strength: r.Strength.String(), Confidence: r.Strength.Confidence(), Secret: r.SecretID,
		Created: moment(r.Created), LastSeen: moment(r.LastSeen), Seen: r.Seen,
		SentAt: moment(r.SentAt), Attempts: r.Attempts, NextAt: moment(r.NextAt), Expires: moment(r.ExpiresAt),
		Owed: r.Owed, MayRepeat: r.MayRepeat, Kept: r.Kept, DeadLetter: r.DeadLetter(),
		UpstreamStatus: r.UpstreamStatus, ExternalRef: r.ExternalRef, Rationale: r.Rationale,
	}
	if !r.Peer.IsZero() {
		v.Peer = r.Peer.String()
	}
	return v
}

// moment is a time of a record; zero stays zero.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// fact is one thing that is known to have happened.
type fact struct {
	At   time.Time `json:"at"`
	What string    `json:"what"`
}

// timeline tells what the record and the audit trail know, oldest first.
func timeline(r *delivery.Record, audit []store.AuditEntry) []fact {
	facts := []fact{{moment(r.Created), "first seen"}}
	if r.SentAt != 0 {
		facts = append(facts, fact{moment(r.SentAt), fmt.Sprintf("attempt %d sent to the app", r.Attempts)})
	}
	if r.Changed != r.Created || r.State.Final() {
		facts = append(facts, fact{moment(r.Changed), r.State.String() + ": " + explain(r)})
	}
	if r.Seen > 1 {
		facts = append(facts, fact{moment(r.LastSeen), fmt.Sprintf("seen again (%d times in all)", r.Seen)})
	}
	for _, e := range audit {
		facts = append(facts, fact{e.At, fmt.Sprintf("%s by %s, %s to %s: %s", actionOf(&e), e.Actor, e.From, e.To, e.Why)})
	}
	slices.SortStableFunc(facts, func(a, b fact) int { return cmp.Compare(a.At.UnixMilli(), b.At.UnixMilli()) })
	return facts
}
