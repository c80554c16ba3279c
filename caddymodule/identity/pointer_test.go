// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestParsePointer(t *testing.T) {
	// The pointers of RFC 6901 section 5, but for the empty one.
	for text, want := range map[string]Pointer{
		"/foo":   {"foo"},
		"/foo/0": {"foo", "0"},
		"/":      {""},
		"/a~1b":  {"a/b"},
		"/c%d":   {"c%d"},
		"/i\\j":  {"i\\j"},
		"/k\"l":  {"k\"l"},
		"/ ":     {" "},
		"/m~0n":  {"m~n"},
		"/~01":   {"~1"},
		"/a//b":  {"a", "", "b"},
	} {
		got, err := ParsePointer(text)
		if err != nil || !reflect.DeepEqual(got, want) || got.String() != text {
			t.Errorf("ParsePointer(%q) = %q (%s), %v; want %q", text, []string(got), got, err, []string(want))
		}
	}
}

func TestParsePointerErrors(t *testing.T) {
	for _, text := range []string{
		"", "a", "#/a", "/a~", "/a~2", "/~", "/\xff", "/" + longText(257), strings.Repeat("/a", 65),
	} {
		if got, err := ParsePointer(text); err == nil {
			t.Errorf("ParsePointer(%.20q) = %q, want an error", text, []string(got))
		}
	}
}

func TestTreeLimit(t *testing.T) {
	root := &node{index: -1}
	for i := range maxSiblings {
		if err := root.add(Pointer{fmt.Sprint(i)}, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := root.add(Pointer{"0", "below"}, 0); err != nil {
		t.Errorf("a known name was refused: %v", err)
	}
	if err := root.add(Pointer{"more"}, 0); err == nil {
		t.Error("the child beyond the limit was accepted")
	}
}

func FuzzParsePointer(f *testing.F) {
	for _, seed := range []string{"/a/b", "/~0~1", "/", "/a~", "//"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePointer(text)
		if err != nil {
			return
		}
		if p.String() != text {
			t.Fatalf("%q became %q", text, p.String())
		}
	})
}
