// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Item is a delivery as the admin API shows it.
type Item struct {
	ID         string `json:"id"`
	Route      string `json:"route"`
	State      string `json:"state"`
	Reason     string `json:"reason"`
	DeliveryID string `json:"delivery_id"`
	BodyDigest string `json:"body_digest"` // the first half of the SHA-256, in hex
	Attempts   int    `json:"attempts"`
	Seen       int    `json:"seen"`
	Owed       bool   `json:"owed"`
	MayRepeat  bool   `json:"may_repeat"`
	Kept       bool   `json:"kept"`

	// Of Item alone, not of Items.
	Request *struct {
		BodySHA256 string `json:"body_sha256"`
		BodySize   int    `json:"body_size"`
	} `json:"request"`
	RequestProblem string `json:"request_problem"`
	Audit          []struct {
		Action string `json:"action"`
		Actor  string `json:"actor"`
	} `json:"audit"`
}

// Is tells whether the item is that of a body.
func (i Item) Is(body string) bool { return strings.HasPrefix(digest(body), i.BodyDigest) }

// Items lists the open deliveries that query selects, such as state=uncertain.
func (s *Sidecar) Items(t testing.TB, query string) (all []Item) {
	t.Helper()
	for cursor := ""; ; {
		var page struct {
			Deliveries []Item `json:"deliveries"`
			Cursor     string `json:"cursor"`
		}
		s.get(t, "/hookonce/deliveries?limit=1000&cursor="+url.QueryEscape(cursor)+"&"+query, &page)
		all = append(all, page.Deliveries...)
		if cursor = page.Cursor; cursor == "" {
			return all
		}
	}
}

// Item returns all that is known about one delivery.
func (s *Sidecar) Item(t testing.TB, id string) (i Item) {
	t.Helper()
	s.get(t, "/hookonce/deliveries/"+id, &i)
	return i
}

// ItemOf returns the only open delivery with this body.
func (s *Sidecar) ItemOf(t testing.TB, body string) Item {
	t.Helper()
	var found []Item
	for _, i := range s.Items(t, "") {
		if i.Is(body) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d open deliveries have this body, want 1: %+v", len(found), found)
	}
	return s.Item(t, found[0].ID)
}

// Act does what an operator does, and fails the test when it is refused.
func (s *Sidecar) Act(t testing.TB, id, action string) {
	t.Helper()
	status, body := s.Call(t, http.MethodPost, "/hookonce/deliveries/"+id+"/"+action, `{"actor":"e2e","reason":"the test decides"}`)
	if status != http.StatusOK {
		t.Errorf("%s %s: %d %s", action, id, status, body)
	}
}

// Stats are the figures of the store that the tests look at.
type Stats struct {
	Ready      int    `json:"ready"`
	Running    int    `json:"running"`
	Uncertain  int    `json:"uncertain"`
	Held       int    `json:"held"`
	Attempts   int    `json:"attempts_running"`
	KeptItems  int    `json:"kept_items"`
	Impossible int    `json:"impossible"`
	Corrupt    int    `json:"corrupt"`
	NotReady   string `json:"not_ready"`
}

// Stats returns the figures of the store.
func (s *Sidecar) Stats(t testing.TB) (st Stats) {
	t.Helper()
	s.get(t, "/hookonce/stats", &st)
	return st
}

func (s *Sidecar) get(t testing.TB, path string, into any) {
	t.Helper()
	status, body := s.Call(t, http.MethodGet, path, "")
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, status, body)
	}
	if err := json.Unmarshal(body, into); err != nil {
		t.Fatalf("GET %s: %v\n%s", path, err, body)
	}
}

// metric reads one sample of /metrics, 0 when it is not there.
func (s *Sidecar) metric(t testing.TB, series string) (v float64) {
	t.Helper()
	for line := range strings.SplitSeq(s.Metrics(t), "\n") {
		if rest, ok := strings.CutPrefix(line, series+" "); ok {
			if _, err := fmt.Sscan(rest, &v); err != nil {
				t.Fatalf("metric %q: %v", line, err)
			}
		}
	}
	return v
}
