// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

// parseStatuses reads statuses such as 200, 2xx or 200-204. None means 2xx.
func parseStatuses(words []string) ([]delivery.StatusRange, error) {
	var out []delivery.StatusRange
	for _, w := range words {
		r, ok := parseStatus(w)
		if !ok {
			return nil, fmt.Errorf("success %q: want a status such as 200, 2xx or 200-204", w)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseStatus(w string) (r delivery.StatusRange, ok bool) {
	if len(w) == 3 && strings.HasSuffix(w, "xx") && w[0] >= '2' && w[0] <= '5' {
		from := int(w[0]-'0') * 100
		return delivery.StatusRange{From: from, To: from + 99}, true
	}
	from, to, span := strings.Cut(w, "-")
	if !span {
		to = from
	}
	a, err1 := strconv.Atoi(from)
	b, err2 := strconv.Atoi(to)
	ok = err1 == nil && err2 == nil && a >= 200 && b <= 599 && a <= b
	return delivery.StatusRange{From: a, To: b}, ok
}
