// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"
	"io"
	"slices"
)

// Report sums up a ledger by delivery.
type Report struct {
	Effects int
	// Keys are the deliveries in the order of their first effect.
	Keys []KeyReport
}

// KeyReport is what happened for one delivery.
type KeyReport struct {
	Key string
	// Effects is how many times the app did the work, Seqs which they were.
	Effects int
	Seqs    []int64
	// Bodies are the different digests under this key; more than one means
	// that one ID came with different bytes.
	Bodies []string
}

// Check sums up effects by Key.
func Check(effects []Effect) Report {
	r := Report{Effects: len(effects)}
	at := make(map[string]int)
	for _, e := range effects {
		i, ok := at[e.Key()]
		if !ok {
			i = len(r.Keys)
			at[e.Key()] = i
			r.Keys = append(r.Keys, KeyReport{Key: e.Key()})
		}
		k := &r.Keys[i]
		k.Effects++
		k.Seqs = append(k.Seqs, e.Seq)
		if !slices.Contains(k.Bodies, e.SHA256) {
			k.Bodies = append(k.Bodies, e.SHA256)
		}
	}
	return r
}

// Doubled returns the deliveries with more than one effect.
func (r Report) Doubled() []KeyReport {
	var doubled []KeyReport
	for _, k := range r.Keys {
		if k.Effects > 1 {
			doubled = append(doubled, k)
		}
	}
	return doubled
}

// Print writes the sums, and a line for each delivery that had more than one
// effect or more than one body.
func (r Report) Print(w io.Writer) {
	fmt.Fprintf(w, "%d effects of %d deliveries, %d doubled\n", r.Effects, len(r.Keys), len(r.Doubled()))
	for _, k := range r.Keys {
		if k.Effects > 1 || len(k.Bodies) > 1 {
			fmt.Fprintf(w, "%s: %d effects (seq %v), %d bodies\n", k.Key, k.Effects, k.Seqs, len(k.Bodies))
		}
	}
}
