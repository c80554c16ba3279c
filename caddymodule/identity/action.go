// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"crypto/sha256"
	"errors"
)

// comparer computes the digest over the values that all deliveries of one action
// must agree on.
type comparer struct {
	rules *rules // selects the JSON values; nil: there are none
	other []leaf // in headers, forms and queries
}

// compileAction checks the settings of the action that are beside its sources.
func (d *Deriver) compileAction(cfg *Config) error {
	switch {
	case len(cfg.Action) == 0 && (cfg.ActionVersion != nil || len(cfg.ActionCompare) > 0):
		return errors.New("action: a version or values to compare are given, but no action")
	case cfg.ActionVersion != nil && !cfg.ActionVersion.Signed:
		return errors.New("action: the version " + cfg.ActionVersion.Source.String() + " is not covered by the signature")
	case len(cfg.ActionCompare) == 0:
		return nil
	}
	c, pointers := &comparer{}, []Pointer(nil)
	for _, s := range cfg.ActionCompare {
		if err := s.Validate(); err != nil {
			return err
		}
		for _, part := range s.Leaves() {
			if part.JSON == "" {
				l, err := d.compileLeaf(part)
				if err != nil {
					return err
				}
				c.other = append(c.other, l)
				continue
			}
			p, err := ParsePointer(part.JSON)
			if err != nil {
				return err
			}
			pointers = append(pointers, p)
		}
	}
	d.compare = c
	if len(pointers) == 0 {
		return nil
	}
	var err error
	c.rules, err = literalRules(pointers, appendField(nil, KindAction))
	return err
}

// digest covers each value, or that it is missing. JSON values count by their
// meaning; of a body without canonical form all bytes count, so that only equal
// bodies agree.
func (c *comparer) digest(d *Deriver, w *work, req *Request, raw [sha256.Size]byte) [sha256.Size]byte {
	w.message = appendField(w.message[:0], KindAction)
	if c.rules != nil {
		sum, note := w.canonizer.digest(c.rules, req.Body)
		tag := byte(tagDigest)
		if note != "" && !note.thin() {
			tag, sum = tagString, raw
		}
		w.message = append(append(w.message, tag), sum[:]...)
	}
	for i := range c.other {
		p, present, bad := d.readRaw(w, req, &c.other[i])
		switch {
		case bad != "":
			// No two deliveries may agree on a value that cannot be read. The
			// raw body is the most that is known of this one.
			w.message = appendField(appendField(append(w.message, tagToken), bad), raw[:])
		case present:
			w.message = appendField(append(w.message, tagString), p.text)
		default:
			w.message = append(w.message, tagAbsent)
		}
	}
	return sha256.Sum256(w.message)
}
