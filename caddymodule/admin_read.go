// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// listView is one page of deliveries.
type listView struct {
	Deliveries []deliveryView `json:"deliveries"`
	Cursor     string         `json:"cursor,omitempty"` // empty on the last page
}

// showView is all that is known about one delivery.
type showView struct {
	deliveryView
	CannotSend     string             `json:"cannot_send,omitempty"` // why retry and release are not possible
	Timeline       []fact             `json:"timeline"`
	Audit          []store.AuditEntry `json:"audit"`
	Request        *requestView       `json:"request,omitempty"`
	RequestProblem string             `json:"request_problem,omitempty"` // why there is no request
}

// auditView is the audit trail.
type auditView struct {
	Audit []store.AuditEntry `json:"audit"`
}

// statsView are figures of the store and of the kept requests.
type statsView struct {
	Ready        int64  `json:"ready"`
	Running      int64  `json:"running"`
	Uncertain    int64  `json:"uncertain"`
	Held         int64  `json:"held"`
	DeadLetters  int64  `json:"dead_letters"`
	Attempts     int    `json:"attempts_running"` // of this process
	DiskBytes    int64  `json:"disk_bytes"`
	FreeBytes    int64  `json:"free_bytes"`
	KeptItems    int    `json:"kept_items"`
	KeptBytes    int64  `json:"kept_bytes"`
	KeptCapacity int64  `json:"kept_capacity"`
	CommitErrors int64  `json:"commit_errors"`
	Impossible   int64  `json:"impossible"`
	Corrupt      int64  `json:"corrupt"`
	NotReady     string `json:"not_ready,omitempty"` // why no new deliveries are taken
}

// list answers GET /hookonce/deliveries.
func (c *adminCall) list() (any, error) {
	f, err := c.filter()
	if err != nil {
		return nil, err
	}
	page, err := c.n.store.List(c.r.Context(), f)
	if err != nil {
		return nil, fmt.Errorf("listing deliveries: %w", err)
	}
	out := listView{Deliveries: make([]deliveryView, 0, len(page.Records)), Cursor: page.Cursor}
	for i := range page.Records {
		out.Deliveries = append(out.Deliveries, viewOf(&page.Records[i]))
	}
	return out, nil
}

// filter reads the query. A word that is not known is an error: a filter that
// does less than its author thinks hides what he looks for.
func (c *adminCall) filter() (store.Filter, error) {
	var f store.Filter
	for name, values := range c.r.URL.Query() {
		value := values[len(values)-1]
		var err error
		switch name {
		case "state":
			err = parseStates(&f, values)
		case "route":
			f.Source = value
		case "reason":
			f.Reason = delivery.Reason(value)
			if _, known := reasonWords[f.Reason]; value != "" && !known {
				err = refusal(http.StatusBadRequest, "unknown reason %q", value)
			}
		case "q":
			f.Text = value
		case "all":
			err = parseBool(name, value, &f.All)
		case "limit":
			f.Limit, err = parseLimit(value)
		case "cursor":
			f.Cursor = value
		default:
			err = refusal(http.StatusBadRequest, "unknown parameter %q; known are state, route, reason, q, all, limit and cursor", name)
		}
		if err != nil {
			return f, err
		}
	}
	return f, nil
}

// parseStates reads names of states, separated by commas. Settled states can be
// found only in a walk over the whole store.
func parseStates(f *store.Filter, values []string) error {
	for name := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if name == "" {
			continue
		}
		s, ok := delivery.ParseState(name)
		if !ok || s == delivery.None {
			return refusal(http.StatusBadRequest,
				"unknown state %q; known are ready, running, uncertain, held, confirmed and dropped", name)
		}
		f.States = append(f.States, s)
	}
	if slices.ContainsFunc(f.States, delivery.State.Final) {
		f.All = true
	}
	return nil
}

func parseBool(name, value string, to *bool) error {
	on, err := strconv.ParseBool(value)
	if value == "" {
		on, err = true, nil
	}
	if err != nil {
		return refusal(http.StatusBadRequest, "%s %q: want true or false", name, value)
	}
	*to = *to || on
	return nil
}

func parseLimit(value string) (int, error) {
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > store.MaxLimit {
		return 0, refusal(http.StatusBadRequest, "limit %q: want a number from 1 to %d", value, store.MaxLimit)
	}
	return n, nil
}

// show answers GET /hookonce/deliveries/{id}.
func (c *adminCall) show() (any, error) {
	r, err := c.find(c.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	audit, err := c.n.store.Audit(c.r.Context(), r.ID, store.DefaultLimit)
	if err != nil {
		return nil, fmt.Errorf("audit trail: %w", err)
	}
	out := showView{deliveryView: viewOf(&r), Timeline: timeline(&r, audit), Audit: orEmpty(audit)}
	out.Request, out.RequestProblem = c.keptRequest(&r)
	if slices.Contains(out.Can, actRetry) || slices.Contains(out.Can, actRelease) {
		if err := c.app.canSend(c.n, r); err != nil {
			out.CannotSend = err.Error()
		}
	}
	return out, nil
}

// audit answers GET /hookonce/audit.
func (c *adminCall) audit() (any, error) {
	query, limit := c.r.URL.Query(), store.DefaultLimit
	if text := query.Get("limit"); text != "" {
		var err error
		if limit, err = parseLimit(text); err != nil {
			return nil, err
		}
	}
	var id delivery.ID
	if text := query.Get("delivery"); text != "" {
		if full, err := delivery.ParseID(text); err == nil {
			id = full // also of a delivery that is forgotten
		} else {
			r, err := c.find(text)
			if err != nil {
				return nil, err
			}
			id = r.ID
		}
	}
	entries, err := c.n.store.Audit(c.r.Context(), id, limit)
	if err != nil {
		return nil, fmt.Errorf("audit trail: %w", err)
	}
	return auditView{orEmpty(entries)}, nil
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// stats answers GET /hookonce/stats.
func (c *adminCall) stats() (any, error) {
	s, kept := c.n.store.Stats(), c.n.spool.Stats()
	out := statsView{
		Ready: s.Ready, Running: s.Running, Uncertain: s.Uncertain, Held: s.Held, DeadLetters: s.DeadLetters,
		Attempts: c.n.hub.running(), DiskBytes: s.DiskBytes, FreeBytes: s.FreeBytes,
		KeptItems: kept.Items, KeptBytes: kept.Bytes, KeptCapacity: kept.Capacity,
		CommitErrors: s.CommitErrors, Impossible: s.Impossible, Corrupt: s.Corrupt,
	}
	if err := c.n.store.Ready(); err != nil {
		out.NotReady = err.Error()
	}
	return out, nil
}
