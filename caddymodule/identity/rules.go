// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
)

// FingerprintRules say which differences between two bodies do not matter. The
// zero value compares the parsed content as a whole: only spelling, white space
// and the order of members are free.
//
// A path is a JSON pointer in which a segment * stands for any one name or
// index and ** for any number of them, also none. The fields of a form and the
// parts of a multipart body are members of the root.
type FingerprintRules struct {
	// Fields are the only values that count, with everything below them. Empty:
	// all. In an array a value keeps its place when those before it do not count.
	Fields []string `json:"fields,omitempty"`
	// Ignore are values that are treated as absent, with everything below them.
	Ignore []string `json:"ignore,omitempty"`
	// Time are values that are compared as instants: RFC 3339 text, or seconds
	// or milliseconds since 1970 as number or text (milliseconds from 10^11 on).
	// Anything else at these paths is compared as it is.
	Time []string `json:"time,omitempty"`
	// Unordered are arrays whose elements may come in any order.
	Unordered []string `json:"unordered,omitempty"`
	// MinFields is how many values must be left for the content to stand in for
	// an ID. With Fields it counts the paths that lead to a value. Null and empty
	// text do not count. Default 1.
	MinFields int `json:"min_fields,omitempty"`
	// Off compares the raw bytes.
	Off bool `json:"off,omitempty"`
}

// Validate reports the first thing that is wrong with the rules. Nil is valid.
func (r *FingerprintRules) Validate() error {
	_, err := compileRules(r, nil)
	return err
}

// Ignoring returns the rules with more paths to ignore, such as those that a
// provider is known to change in each attempt. Without paths, or when the rules
// are off, it returns r itself. Nil rules become rules that ignore the paths.
func (r *FingerprintRules) Ignoring(volatile []string) *FingerprintRules {
	if len(volatile) == 0 || r != nil && r.Off {
		return r
	}
	var out FingerprintRules
	if r != nil {
		out = *r
	}
	out.Ignore = append(slices.Clip(out.Ignore), volatile...)
	return &out
}

// rules are compiled FingerprintRules.
type rules struct {
	paths
	fields, ignore, time, unordered places // positions behind the paths of each kind
	selects                         bool   // there are fields
	min                             int
	prefix                          []byte // what every digest under these rules begins with
}

// canonPrefix names the format. Whatever changes a digest must change it, or
// every delivery that is remembered would be forgotten.
const canonPrefix = "wcf1"

// compileRules returns nil rules for nil and for Off. The scope separates the
// digests of different sources.
func compileRules(r *FingerprintRules, scope []byte) (*rules, error) {
	if r == nil {
		return nil, nil
	}
	if err := r.check(); err != nil || r.Off {
		return nil, err
	}
	c := &rules{selects: len(r.Fields) > 0, min: max(r.MinFields, 1)}
	hash := sha256.New()
	for _, kind := range []struct {
		name  string
		paths []string
		ends  *places
	}{
		{"fields", r.Fields, &c.fields},
		{"ignore", r.Ignore, &c.ignore},
		{"time", r.Time, &c.time},
		{"unordered", r.Unordered, &c.unordered},
	} {
		texts, err := c.addAll(kind.paths, kind.ends)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind.name, err)
		}
		hash.Write(texts)
	}
	if n := c.fields.count(); c.selects && c.min > n {
		return nil, fmt.Errorf("min_fields is %d, but there are only %d fields", c.min, n)
	}
	c.prefix = appendField(c.prefix, canonPrefix)
	c.prefix = appendField(c.prefix, scope)
	c.prefix = appendField(c.prefix, hash.Sum(nil))
	return c, nil
}

// addAll compiles the paths of one kind. It returns their text in a form that
// does not depend on order or repetition.
func (c *rules) addAll(list []string, ends *places) ([]byte, error) {
	var parsed []string
	for _, text := range list {
		path, err := parsePath(text)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, path.String())
	}
	slices.Sort(parsed)
	parsed = slices.Compact(parsed)
	out := appendField(nil, fmt.Sprint(len(parsed)))
	for _, text := range parsed {
		path, err := parsePath(text)
		if err != nil {
			return nil, err
		}
		end, err := c.add(path, true)
		if err != nil {
			return nil, err
		}
		ends.add(end)
		out = appendField(out, text)
	}
	return out, nil
}

func (r *FingerprintRules) check() error {
	lists := len(r.Fields) + len(r.Ignore) + len(r.Time) + len(r.Unordered)
	switch {
	case r.Off && (lists > 0 || r.MinFields != 0):
		return errors.New("off excludes all other rules")
	case r.MinFields < 0:
		return fmt.Errorf("min_fields is %d, want 1 or more", r.MinFields)
	}
	return nil
}

// literalRules select the values at plain pointers, in which a * is only a name.
func literalRules(pointers []Pointer, scope []byte) (*rules, error) {
	c := &rules{selects: true, min: 1, prefix: appendField(appendField(nil, canonPrefix), scope)}
	for _, p := range pointers {
		end, err := c.add(p, false)
		if err != nil {
			return nil, err
		}
		c.fields.add(end)
		c.prefix = appendField(c.prefix, p.String())
	}
	return c, nil
}
