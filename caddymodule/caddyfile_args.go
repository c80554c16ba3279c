// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/caddyserver/caddy/v2/caddyconfig/caddyfile"
	"github.com/dustin/go-humanize"

	"github.com/hookonce/hookonce/caddymodule/identity"
)

// caddyfilePlace writes a place as Caddy's own errors do. The directory is left
// out, so that the adapted configuration does not depend on where it lies.
func caddyfilePlace(file string, line int) string {
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

func oneArg(d *caddyfile.Dispenser, to *string) error {
	args := d.RemainingArgs()
	if len(args) != 1 || args[0] == "" {
		return d.Errf("%s", "wrong argument count or an empty argument: exactly one is wanted")
	}
	*to = args[0]
	return nil
}

func flag(d *caddyfile.Dispenser, to *bool) error {
	if d.NextArg() {
		return d.ArgErr()
	}
	*to = true
	return nil
}

func oneOfArg(d *caddyfile.Dispenser, to *string, options ...string) error {
	name := d.Val()
	if err := oneArg(d, to); err != nil {
		return err
	}
	if err := oneOf(name, *to, options...); err != nil {
		return d.WrapErr(err)
	}
	return nil
}

func duration(d *caddyfile.Dispenser, to *caddy.Duration) error {
	var text string
	name := d.Val()
	if err := oneArg(d, &text); err != nil {
		return err
	}
	v, err := caddy.ParseDuration(text)
	if err != nil || v <= 0 {
		return d.Errf("%s %q: want a duration such as 10s, 5m or 7d", name, text)
	}
	*to = caddy.Duration(v)
	return nil
}

func size(d *caddyfile.Dispenser, to *int64) error {
	var text string
	name := d.Val()
	if err := oneArg(d, &text); err != nil {
		return err
	}
	v, err := humanize.ParseBytes(text)
	if err != nil || v == 0 || v > math.MaxInt64 {
		return d.Errf("%s %q: want a size such as 512KiB, 1MiB or 4GiB", name, text)
	}
	*to = int64(v)
	return nil
}

func number(d *caddyfile.Dispenser, to *int) error {
	var text string
	name := d.Val()
	if err := oneArg(d, &text); err != nil {
		return err
	}
	v, err := strconv.Atoi(text)
	if err != nil {
		return d.Errf("%s %q: want a number", name, text)
	}
	*to = v
	return nil
}

func timestamp(d *caddyfile.Dispenser, to **time.Time) error {
	var text string
	if err := oneArg(d, &text); err != nil {
		return err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return d.Errf("until %q: want a time such as 2027-01-31T00:00:00Z", text)
	}
	*to = &t
	return nil
}

// sources parses alternatives: "header A json /b" are two sources, and
// "header A + json /b" is one composite.
func sources(d *caddyfile.Dispenser, to *[]identity.Source) error {
	args := d.RemainingArgs()
	if len(args) == 0 {
		return d.Errf("a source is wanted, such as: header X-Delivery-Id, or: json /id")
	}
	list, err := identity.ParseSources(args)
	if err != nil {
		return d.WrapErr(err)
	}
	*to = list
	return nil
}

// suggest returns ": did you mean ..." when one of the known names is near.
func suggest(name string, known []string) string {
	best, distance := "", 3
	for _, k := range known {
		if n := editDistance(name, k); n < distance {
			best, distance = k, n
		}
	}
	if best == "" {
		return "; known are " + strings.Join(known, ", ")
	}
	return "; did you mean " + best + "?"
}

// editDistance is the Levenshtein distance.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
