// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package delivery

import "testing"

// TestSameMeaning is row "signed, seen" of the identity table with content that
// is spelled differently: equal bytes or equal fingerprints are the same content.
func TestSameMeaning(t *testing.T) {
	hit := Record{
		ID: ID{1}, State: Confirmed, Strength: StrengthStrong, Window: 1000, ExpiresAt: 5000,
		Body: Digest{1}, Fingerprint: Digest{7},
	}
	for _, row := range []struct {
		name             string
		body, print, old Digest
		kept             Digest // fingerprint of the record
		want             VerdictKind
	}{
		{"same bytes, other rules", Digest{1}, Digest{8}, Digest{}, Digest{7}, Duplicate},
		{"other bytes, same meaning", Digest{2}, Digest{7}, Digest{}, Digest{7}, Duplicate},
		{"other bytes, same meaning under the old rules", Digest{2}, Digest{8}, Digest{7}, Digest{7}, Duplicate},
		{"other bytes, other meaning T30", Digest{2}, Digest{8}, Digest{9}, Digest{7}, HoldNew},
		{"other bytes, no fingerprints T30", Digest{2}, Digest{}, Digest{}, Digest{}, HoldNew},
		{"other bytes, none of its own T30", Digest{2}, Digest{}, Digest{}, Digest{7}, HoldNew},
		{"other bytes, none in the record T30", Digest{2}, Digest{7}, Digest{}, Digest{}, HoldNew},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := hit
			r.Fingerprint = row.kept
			a := &Arrival{
				At: 100, Boot: 1, Identity: []Key{{ID: ID{1}, Signed: true}}, Strength: StrengthStrong,
				Body: row.body, Fingerprint: row.print, OldFingerprint: row.old, HoldKey: row.body, Kept: true,
			}
			v := Decide(a, Found{Identity: []*Record{&r}})
			if v.Kind != row.want {
				t.Errorf("verdict %s, want %s", v.Kind, row.want)
			}
		})
	}
}
