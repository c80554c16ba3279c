// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4/pb"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

func FuzzDecodeValue(f *testing.F) {
	key := delivery.ID{7}
	r := delivery.Record{ID: key, State: delivery.Held, Source: "shop"}
	f.Add(encodeRecord(&r, evidence{body: delivery.ID{1}, plain: delivery.ID{2}}))
	f.Add(encodePointer(key, pointsBody, delivery.ID{9}, 1<<40))
	f.Add(gone)
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 4 && b[0] == kindPointer {
			b = append([]byte(nil), b...)
			binary.LittleEndian.PutUint32(b[len(b)-4:], keyedSum(key, b[:len(b)-4]))
		}
		v, err := decodeValue(key, b)
		if err != nil {
			if !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrFormat) {
				t.Fatalf("error %v", err)
			}
			return
		}
		if v.kind != kindPointer {
			return
		}
		again, err := decodeValue(key, encodePointer(key, v.points, v.target, v.expires))
		if err != nil || again.target != v.target || again.expires != v.expires || again.points != v.points {
			t.Fatalf("%+v, %+v, %v", again, v, err)
		}
	})
}

// FuzzSurvey gives the readers of Badger's files any bytes: they may refuse them
// and must not panic or take memory for lengths that the file does not have.
func FuzzSurvey(f *testing.F) {
	f.Add([]byte("short"))
	f.Add(make([]byte, 64))
	f.Add(append(make([]byte, 40), 0, 0, 0, 3, 8, 0, 16, 0, 0, 0, 4))
	none := func(uint64) (*pb.DataKey, error) { return nil, nil }
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := openTable(path, nil); err == nil && len(b) < 16 {
			t.Error("took a few bytes for a table")
		}
		newest, _, err := surveyLog(path, none)
		if err != nil {
			t.Errorf("log: %v", err)
		}
		if newest != 0 && len(b) < logHeader+16 {
			t.Error("found a commit in a few bytes")
		}
	})
}

func TestValues(t *testing.T) {
	key := delivery.ID{7}
	r := delivery.Record{ID: key, State: delivery.Held, Source: "shop"}
	for _, ev := range []evidence{{}, {body: delivery.ID{1}}, {plain: delivery.ID{2}}, {body: delivery.ID{1}, plain: delivery.ID{2}}} {
		raw := encodeRecord(&r, ev)
		if v, err := decodeValue(key, raw); err != nil || v.evidence != ev || v.rec.Source != "shop" {
			t.Errorf("%+v: %+v, %v", ev, v, err)
		}
		for i := range raw {
			if _, err := decodeValue(key, raw[:i]); !errors.Is(err, store.ErrCorrupt) {
				t.Errorf("%+v cut at %d: %v", ev, i, err)
			}
		}
	}
	p := encodePointer(key, pointsIdentity, delivery.ID{9}, 1<<41)
	for i := range p {
		bad := append([]byte(nil), p...)
		bad[i] ^= 0x40
		if _, err := decodeValue(key, bad); !errors.Is(err, store.ErrCorrupt) {
			t.Errorf("pointer, byte %d: %v", i, err)
		}
	}
	if _, err := decodeValue(delivery.ID{8}, p); !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("pointer under another key: %v", err)
	}
}
