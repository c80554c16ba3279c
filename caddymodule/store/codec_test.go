// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/binary"
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/hookonce/hookonce/caddymodule/delivery"
)

func drawID(t *rapid.T, name string) (id delivery.ID) {
	copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, name))
	return id
}

func drawRecord(t *rapid.T) delivery.Record {
	when := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 1<<50))
	text := rapid.String()
	r := delivery.Record{
		ID: drawID(t, "id"), Source: text.Draw(t, "source"), Provider: text.Draw(t, "provider"),
		Sender: text.Draw(t, "sender"), State: delivery.State(rapid.IntRange(1, 6).Draw(t, "state")),
		Reason: delivery.Reason(text.Draw(t, "reason")), Epoch: rapid.Uint32().Draw(t, "epoch"),
		Owner: rapid.Uint64().Draw(t, "owner"), Attempts: rapid.Uint32().Draw(t, "attempts"),
		NextAt: when.Draw(t, "next"), Owed: rapid.Bool().Draw(t, "owed"),
		MayRepeat: rapid.Bool().Draw(t, "may repeat"), Kept: rapid.Bool().Draw(t, "kept"),
		Created: when.Draw(t, "created"), SentAt: when.Draw(t, "sent"), Changed: when.Draw(t, "changed"),
		LastSeen: when.Draw(t, "last seen"), Seen: rapid.Uint32().Draw(t, "seen"),
		UpstreamStatus: rapid.IntRange(0, 999).Draw(t, "status"), ExternalRef: text.Draw(t, "ref"),
		Strength: delivery.Strength(rapid.IntRange(0, 3).Draw(t, "strength")),
		SecretID: text.Draw(t, "secret"), DeliveryID: text.Draw(t, "delivery"),
		EventID: text.Draw(t, "event"), Rationale: text.Draw(t, "rationale"),
		Window: when.Draw(t, "window"), ExpiresAt: when.Draw(t, "expires"),
	}
	if r.Kept {
		r.Spool = drawID(t, "spool")
	}
	r.Body = delivery.Digest(drawID(t, "body"))
	r.Peer = drawID(t, "peer")
	for range rapid.IntRange(0, 4).Draw(t, "aliases") {
		r.Aliases = append(r.Aliases, drawID(t, "alias"))
	}
	return r
}

func TestCodec(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := drawRecord(t)
		prefix := []byte("before")
		b := AppendRecord(prefix, &r)
		got, err := DecodeRecord(r.ID, b[len(prefix):])
		if err != nil || !reflect.DeepEqual(got, r) {
			t.Fatalf("%v\n%+v\n%+v", err, got, r)
		}
	})
}

// TestCodecDamage changes and cuts an encoded record at every place.
func TestCodecDamage(t *testing.T) {
	r := delivery.Record{
		ID: delivery.ID{1}, State: delivery.Running, Source: "shop", DeliveryID: "d1", Created: 5,
		Aliases: []delivery.ID{{2}}, Peer: delivery.ID{3},
	}
	good := AppendRecord(nil, &r)
	for i := range good {
		bad := append([]byte(nil), good...)
		bad[i] ^= 1
		if _, err := DecodeRecord(r.ID, bad); !errors.Is(err, ErrCorrupt) {
			t.Errorf("byte %d changed: %v", i, err)
		}
		if _, err := DecodeRecord(r.ID, good[:i]); !errors.Is(err, ErrCorrupt) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	if _, err := DecodeRecord(delivery.ID{9}, good); !errors.Is(err, ErrCorrupt) {
		t.Errorf("under another key: %v", err)
	}
}

func TestCodecNewerVersion(t *testing.T) {
	r := delivery.Record{ID: delivery.ID{1}, State: delivery.Ready}
	b := AppendRecord(nil, &r)
	b[0] = recordVersion + 1
	resign(r.ID, b)
	if _, err := DecodeRecord(r.ID, b); !errors.Is(err, ErrFormat) {
		t.Fatalf("error %v", err)
	}
}

func TestCodecManyAliases(t *testing.T) {
	r := delivery.Record{ID: delivery.ID{1}, State: delivery.Ready}
	for i := range MaxAliases + 50 {
		r.Aliases = append(r.Aliases, delivery.ID{byte(i), byte(i >> 8), 1})
	}
	got, err := DecodeRecord(r.ID, AppendRecord(nil, &r))
	if err != nil || !reflect.DeepEqual(got.Aliases, r.Aliases[50:]) {
		t.Fatalf("%v, %d aliases", err, len(got.Aliases))
	}
}

// resign makes the checksum of changed bytes right.
func resign(id delivery.ID, b []byte) {
	binary.LittleEndian.PutUint32(b[len(b)-4:], checksum(id, b[:len(b)-4]))
}

// FuzzDecodeRecord reads any bytes under a right checksum. What it accepts means
// the same after it was written and read again.
func FuzzDecodeRecord(f *testing.F) {
	id := delivery.ID{1, 2, 3}
	for _, r := range []delivery.Record{
		{ID: id, State: delivery.Ready},
		{ID: id, State: delivery.Confirmed, Source: "shop", Aliases: []delivery.ID{{4}}, Created: 1e12, ExpiresAt: 2e12, Kept: true},
	} {
		f.Add(AppendRecord(nil, &r))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := DecodeRecord(id, b); err == nil && len(b) < 8 {
			t.Fatal("accepted too few bytes")
		}
		if len(b) < 4 {
			return
		}
		b = append([]byte(nil), b...)
		resign(id, b)
		r, err := DecodeRecord(id, b)
		if err != nil {
			if !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrFormat) {
				t.Fatalf("error %v", err)
			}
			return
		}
		again, err := DecodeRecord(id, AppendRecord(nil, &r))
		if err != nil || !reflect.DeepEqual(again, r) {
			t.Fatalf("%v\n%+v\n%+v", err, again, r)
		}
	})
}
