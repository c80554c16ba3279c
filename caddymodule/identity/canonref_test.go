// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// reference is the canonical form the slow way: the document as a tree, numbers
// as big fractions, every path compared with every value, and a text as result.
type reference struct {
	rules FingerprintRules
	left  int             // values that count
	hit   map[string]bool // fields that led to one
}

// of returns the canonical text of a JSON body, and whether it has one at all.
func (r *reference) of(body []byte) (text string, note Note) {
	body = bytes.TrimPrefix(body, []byte("\ufeff"))
	if !utf8.Valid(body) || !json.Valid(body) || hasHalfPair(body) {
		return "", NoteInvalidJSON
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	doc, err := decodeTree(dec)
	if err != nil {
		panic(err)
	}
	if tooDeepOrDouble(doc, 0) {
		return "", NoteInvalidJSON
	}
	r.hit = map[string]bool{}
	text, _ = r.value(doc, nil, len(r.rules.Fields) == 0, nil)
	left := r.left
	if len(r.rules.Fields) > 0 {
		left = len(r.hit)
	}
	switch {
	case left == 0:
		return text, NoteNothingLeft
	case left < r.rules.MinFields:
		return text, NoteTooFewFields
	}
	return text, ""
}

var escapes = regexp.MustCompile(`\\(?:u[0-9a-fA-F]{4}|.)`)

// hasHalfPair finds half surrogate pairs, which encoding/json turns into U+FFFD.
func hasHalfPair(body []byte) bool {
	whole := escapes.ReplaceAllFunc(body, func(e []byte) []byte {
		if bytes.EqualFold(e, []byte(`\ufffd`)) {
			return []byte("?")
		}
		return e
	})
	whole = bytes.ReplaceAll(whole, []byte("\ufffd"), []byte("?"))
	dec := json.NewDecoder(bytes.NewReader(whole))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return false
		}
		if s, ok := token.(string); ok && strings.Contains(s, "\ufffd") {
			return true
		}
	}
}

func tooDeepOrDouble(v any, depth int) bool {
	switch v := v.(type) {
	case []any:
		return depth == 64 || slices.ContainsFunc(v, func(e any) bool { return tooDeepOrDouble(e, depth+1) })
	case []member:
		names := map[string]bool{}
		return depth == 64 || slices.ContainsFunc(v, func(m member) bool {
			double := names[m.name]
			names[m.name] = true
			return double || tooDeepOrDouble(m.value, depth+1)
		})
	}
	return false
}

// matching returns those of a list of paths that lead to a place.
func matching(list []string, place []string) (out []string) {
	for _, text := range list {
		p, err := ParsePointer(text)
		if err != nil {
			panic(err)
		}
		if globs(p, place) {
			out = append(out, p.String())
		}
	}
	return out
}

func globs(pattern, place []string) bool {
	switch {
	case len(pattern) == 0:
		return len(place) == 0
	case pattern[0] == "**":
		return globs(pattern[1:], place) || len(place) > 0 && globs(pattern, place[1:])
	case len(place) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == place[0]) && globs(pattern[1:], place[1:])
}

// value returns the text of what the rules leave of a value, if they leave it.
func (r *reference) value(v any, place []string, kept bool, fields []string) (text string, present bool) {
	if found := matching(r.rules.Fields, place); len(found) > 0 {
		kept, fields = true, append(slices.Clip(fields), found...)
	}
	switch v := v.(type) {
	case []any:
		return r.array(v, place, kept, fields)
	case []member:
		var parts []string
		for _, m := range v {
			inner := append(slices.Clip(place), m.name)
			if len(matching(r.rules.Ignore, inner)) > 0 {
				continue
			}
			if text, ok := r.value(m.value, inner, kept, fields); ok {
				parts = append(parts, strconv.Quote(m.name)+":"+text)
			}
		}
		slices.Sort(parts)
		return "{" + strings.Join(parts, ",") + "}", kept || len(parts) > 0
	}
	if kept && v != nil && v != "" {
		r.left++
		for _, f := range fields {
			r.hit[f] = true
		}
	}
	return refScalar(v, len(matching(r.rules.Time, place)) > 0), kept
}

func (r *reference) array(v []any, place []string, kept bool, fields []string) (text string, present bool) {
	unordered := len(matching(r.rules.Unordered, place)) > 0
	var parts []string
	for i, e := range v {
		inner := append(slices.Clip(place), strconv.Itoa(i))
		if len(matching(r.rules.Ignore, inner)) > 0 {
			continue
		}
		text, ok := r.value(e, inner, kept, fields)
		present = present || ok
		switch {
		case ok:
			parts = append(parts, text)
		case !unordered:
			parts = append(parts, "-")
		}
	}
	for len(parts) > 0 && parts[len(parts)-1] == "-" {
		parts = parts[:len(parts)-1]
	}
	if unordered {
		slices.Sort(parts)
		return "(" + strings.Join(parts, ",") + ")", present || kept
	}
	return "[" + strings.Join(parts, ",") + "]", present || kept
}

func refScalar(v any, isTime bool) string {
	switch v := v.(type) {
	case string:
		if at := refDate(v); isTime && at != nil {
			return "T" + at.RatString()
		}
		if plainNumber.MatchString(v) && isTime {
			if at := refUnix(v); at != nil {
				return "T" + at.RatString()
			}
		}
		return strconv.Quote(v)
	case json.Number:
		if at := refUnix(v.String()); isTime && at != nil {
			return "T" + at.RatString()
		}
		return refNumber(v.String())
	}
	return fmt.Sprint(v)
}

// refNumber expands a number, unless its exponent is absurd.
func refNumber(token string) string {
	if _, e, found := strings.Cut(strings.ToLower(token), "e"); found {
		if exponent, err := strconv.Atoi(e); err != nil || exponent > 10_000 || exponent < -10_000 {
			return "N" + token
		}
	}
	n, ok := new(big.Rat).SetString(token)
	if !ok {
		panic(token)
	}
	return "n" + n.RatString()
}

var (
	plainNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	dateForm    = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$`)
)

func refUnix(token string) *big.Rat {
	if !plainNumber.MatchString(token) {
		return nil
	}
	n, _ := new(big.Rat).SetString(token)
	switch size := new(big.Rat).Abs(n); {
	case size.Cmp(big.NewRat(1e11, 1)) < 0:
		return n
	case size.Cmp(big.NewRat(1e15, 1)) < 0:
		return n.Quo(n, big.NewRat(1000, 1))
	}
	return nil
}

func refDate(text string) *big.Rat {
	m := dateForm.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	at, err := time.Parse(time.RFC3339, m[1]+m[3])
	if err != nil {
		return nil
	}
	seconds := new(big.Rat).SetInt64(at.Unix())
	if m[2] == "" {
		return seconds
	}
	fraction, _ := new(big.Rat).SetString("0" + m[2])
	if at.Unix() < 0 && fraction.Sign() > 0 {
		return nil
	}
	return seconds.Add(seconds, fraction)
}
