// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// Bounds of what an operator writes, in bytes.
const (
	maxActionBody = 16 << 10
	maxActor      = 200
	maxWhy        = 1000
)

// actionRequest is the body of an action.
type actionRequest struct {
	Actor       string `json:"actor"`
	Reason      string `json:"reason"`
	DuplicateOf string `json:"duplicate_of,omitempty"` // drop: names the other delivery
}

// actionView is what came of an action.
type actionView struct {
	Delivery       deliveryView `json:"delivery"`
	Sent           bool         `json:"sent"`              // an attempt was made
	Outcome        string       `json:"outcome,omitempty"` // of that attempt
	UpstreamStatus int          `json:"upstream_status,omitempty"`
	Note           string       `json:"note"`
}

// act answers POST /hookonce/deliveries/{id}/{action}.
func (c *adminCall) act() (any, error) {
	action := c.r.PathValue("action")
	if !slices.Contains(operatorActions, action) {
		return nil, refusal(http.StatusNotFound, "unknown action %q; known are %s", action, strings.Join(operatorActions, ", "))
	}
	req, err := c.readAction()
	if err != nil {
		return nil, err
	}
	r, err := c.find(c.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if !slices.Contains(possibleActions(&r), action) {
		return nil, impossibleAction(action, &r)
	}
	// The operator may hang up; what he decided is carried out all the same.
	ctx := context.WithoutCancel(c.r.Context())
	switch action {
	case actRetry, actRelease:
		return c.sendAgain(ctx, action, r, req)
	case actDrop:
		return c.drop(ctx, r, req)
	case actForget:
		return c.decide(ctx, action, r, c.event(delivery.OperatorForget, req))
	default:
		return c.decide(ctx, action, r, c.event(delivery.OperatorConfirm, req))
	}
}

func (c *adminCall) readAction() (actionRequest, error) {
	var req actionRequest
	dec := json.NewDecoder(http.MaxBytesReader(nil, c.r.Body, maxActionBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&req); err != nil && !errors.Is(err, io.EOF) {
		return req, refusal(http.StatusBadRequest, "the body is not what an action needs: %w", err)
	}
	req.Actor, req.Reason = strings.TrimSpace(req.Actor), strings.TrimSpace(req.Reason)
	switch {
	case req.Reason == "":
		return req, refusal(http.StatusBadRequest, "an action needs a reason: it is kept in the audit trail, for whoever asks later")
	case req.Actor == "":
		return req, refusal(http.StatusBadRequest, "an action needs an actor: the name of whoever decides, for the audit trail")
	case len(req.Actor) > maxActor || len(req.Reason) > maxWhy:
		return req, refusal(http.StatusBadRequest, "the actor may have %d bytes, and the reason %d", maxActor, maxWhy)
	case !utf8.ValidString(req.Actor + req.Reason):
		return req, refusal(http.StatusBadRequest, "actor and reason must be UTF-8")
	}
	return req, nil
}

func impossibleAction(action string, r *delivery.Record) error {
	words := impossibleWords(action, r)
	if can := possibleActions(r); len(can) > 0 {
		words += "; possible now: " + strings.Join(can, ", ")
	}
	return refusal(http.StatusConflict, "cannot %s delivery %s, which is %s: %s", action, r.ID.Short(), r.State, words)
}

func (c *adminCall) event(kind delivery.EventKind, req actionRequest) delivery.Event {
	return delivery.Event{Kind: kind, At: c.now.UnixMilli(), Actor: req.Actor, Why: req.Reason}
}

// drop is T9, T22 and T26.
func (c *adminCall) drop(ctx context.Context, r delivery.Record, req actionRequest) (any, error) {
	ev := c.event(delivery.OperatorDrop, req)
	if req.DuplicateOf != "" {
		peer, err := c.find(req.DuplicateOf)
		if err != nil {
			return nil, fmt.Errorf("duplicate_of: %w", err)
		}
		if peer.ID == r.ID {
			return nil, refusal(http.StatusBadRequest, "a delivery cannot be a duplicate of itself")
		}
		ev.Peer = peer.ID
	}
	return c.decide(ctx, actDrop, r, ev)
}

// decide applies an event after which nothing is sent.
func (c *adminCall) decide(ctx context.Context, action string, r delivery.Record, ev delivery.Event) (any, error) {
	after, _, err := c.apply(ctx, action, r, ev)
	if err != nil {
		return nil, err
	}
	view, note := viewOf(&after), ""
	switch action {
	case actForget:
		view.State, view.Reason, view.Since, view.Can = delivery.None.String(), "", moment(ev.At), []string{}
		view.Why, view.Kept = "it is forgotten", false
		note = "forgotten: the provider's next delivery of it counts as the first"
	case actConfirm:
		note = "confirmed: a further delivery of it is a duplicate"
	case actDrop:
		note = "dropped: it is not sent, and a further delivery of it is a duplicate"
	}
	return actionView{Delivery: view, Note: note}, nil
}

// apply steps the delivery, with its entry in the audit trail, and frees what is
// not needed any more.
func (c *adminCall) apply(ctx context.Context, action string, r delivery.Record, ev delivery.Event) (delivery.Record, delivery.Actions, error) {
	after, acts, err := c.n.store.Apply(ctx, r.ID, ev)
	if errors.Is(err, delivery.ErrImpossible) && after.State != r.State && after.State != delivery.None {
		return after, acts, impossibleAction(action, &after) // it changed meanwhile
	}
	if err != nil {
		return after, acts, fmt.Errorf("%s of delivery %s: %w", action, r.ID.Short(), err)
	}
	if acts.Has(delivery.Free) {
		c.n.spool.Free(after.Spool)
	}
	c.logger.Info("operator's action", zap.String("action", action), zap.String("key", r.ID.Short()),
		zap.String("route", r.Source), zap.String("from", r.State.String()), zap.String("actor", visible(ev.Actor)))
	return after, acts, nil
}

// sendAgain is T6, T22 and T25 by the operator's hand, with the attempt at once.
// What cannot be sent from here is refused before anything changes.
func (c *adminCall) sendAgain(ctx context.Context, action string, r delivery.Record, req actionRequest) (any, error) {
	if err := c.app.canSend(c.n, r); err != nil {
		return nil, refusal(http.StatusConflict, "cannot %s delivery %s, and nothing was changed: %w", action, r.ID.Short(), err)
	}
	ready, acts, err := c.apply(ctx, action, r, c.event(delivery.OperatorSend, req))
	if err != nil {
		return nil, err
	}
	if acts.Has(delivery.Copy) {
		return nil, c.undoCopy(ctx, ready)
	}
	res, err := c.app.sendKept(ctx, c.n, ready)
	switch {
	case errors.Is(err, delivery.ErrImpossible):
		return c.current(ctx, ready, "somebody else is sending it at this moment")
	case err != nil:
		return c.current(ctx, ready, "it is marked to be sent, but no attempt could be made: "+err.Error())
	}
	out := actionView{
		Delivery: viewOf(&res.Record), Sent: res.Sent, Outcome: res.Outcome.Class.String(),
		UpstreamStatus: res.Outcome.Status, Note: res.Note,
	}
	if out.Note == "" {
		out.Note = outcomeNote(res.Outcome, c.now, res.Record.NextAt)
	}
	return out, nil
}

// undoCopy takes a copy back that came about because the delivery was settled
// between our look and our step. Its request is not kept, so the debt could
// never be paid.
func (c *adminCall) undoCopy(ctx context.Context, copied delivery.Record) error {
	_, _, err := c.n.store.Apply(ctx, copied.ID, delivery.Event{
		Kind: delivery.OperatorDrop, At: c.now.UnixMilli(), Actor: "hookonce", Peer: copied.Peer,
		Why: "the delivery was settled at the moment of the retry",
	})
	if err != nil {
		return fmt.Errorf("taking back the copy %s: %w", copied.ID.Short(), err)
	}
	return refusal(http.StatusConflict, "delivery %s was settled at this moment, so nothing was sent; look at it again", copied.Peer.Short())
}

// current answers with the delivery as it stands now.
func (c *adminCall) current(ctx context.Context, r delivery.Record, note string) (any, error) {
	if now, err := c.n.store.Get(ctx, r.ID); err == nil {
		r = now
	}
	return actionView{Delivery: viewOf(&r), Note: note}, nil
}

func outcomeNote(o delivery.Outcome, now time.Time, next int64) string {
	status := ""
	if o.Status != 0 {
		status = fmt.Sprintf(" (status %d)", o.Status)
	}
	if o.Class == delivery.Done {
		return "sent, and the app did it" + status
	}
	if o.Class == delivery.Unknown {
		return "sent, and nobody knows whether the app did it" + status + ": " + reasonWords[o.Reason]
	}
	note := "sent, but the app did not do it" + status + ": " + reasonWords[o.Reason] + "; it stays open"
	if wait := time.UnixMilli(next).Sub(now).Round(time.Second); next != 0 && wait > 0 {
		note += fmt.Sprintf(", and the app asks to wait %s", wait)
	}
	return note
}
