// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"encoding/json"
	"errors"
	"net/http"

	"go.uber.org/zap"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// replayBody is how much of an answer "duplicate replay" keeps, in bytes.
const replayBody = 64 << 10

// replayHeaders are the headers of an answer that are kept. What names a
// session or a moment (Set-Cookie, Date, ETag) is not repeated.
var replayHeaders = []string{"Content-Type", "Content-Language", "Content-Encoding", "Location", "X-Slack-No-Retry"}

// storedForm is an answer as it is stored.
type storedForm struct {
	Status int         `json:"status"`
	Header http.Header `json:"header,omitempty"`
	Body   []byte      `json:"body,omitempty"`
}

// storeAnswer keeps an answer before its delivery is confirmed, so that no
// duplicate can find the one without the other.
func (c *call) storeAnswer(n *node, id delivery.ID, a *answer) {
	form := storedForm{Status: a.status, Header: make(http.Header), Body: a.body}
	for _, name := range replayHeaders {
		if v := a.header.Values(name); len(v) > 0 {
			form.Header[name] = v
		}
	}
	if a.cut || len(a.body) > replayBody {
		form.Body = nil
		delete(form.Header, "Content-Encoding")
	}
	data, err := json.Marshal(form)
	if err == nil {
		err = n.store.PutAnswer(detachedFrom(c.r), id, data)
	}
	if err != nil {
		c.h.logger.Warn("the answer cannot be kept; duplicates get an empty one",
			zap.String("delivery", id.Short()), zap.Error(err))
	}
}

// storedAnswer returns the first answer to a duplicate, or nil when it was
// dropped by a person or never kept.
func (c *call) storedAnswer() (*answer, error) {
	data, err := c.lease.Value().store.Answer(c.r.Context(), c.verdict.Record.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var form storedForm
	if err := json.Unmarshal(data, &form); err != nil {
		return nil, err
	}
	return &answer{status: form.Status, header: form.Header, body: form.Body}, nil
}
