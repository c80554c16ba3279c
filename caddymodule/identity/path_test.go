// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePath(t *testing.T) {
	for text, want := range map[string]string{
		"/a/b":      "/a/b",
		"/**/a":     "/**/a",
		"/**/**/a":  "/**/a",
		"/*/**/*":   "/*/**/*",
		"/a~1b/~0*": "error: a * must be a segment of its own",
		"/a*":       "error: a * must be a segment of its own",
		"/***":      "error: a * must be a segment of its own",
		"/a/**":     "error: ends in **: name the value",
		"/**":       "error: ends in **",
		"":          "error: does not begin with a slash",
		"a":         "error: does not begin with a slash",
		"/~2":       "error: a tilde",
		"/":         "/",
	} {
		p, err := parsePath(text)
		if wanted, isErr := strings.CutPrefix(want, "error: "); isErr {
			if err == nil || !strings.Contains(err.Error(), wanted) {
				t.Errorf("%q: got %v, %v", text, p, err)
			}
		} else if err != nil || p.String() != want {
			t.Errorf("%q: got %v, %v", text, p, err)
		}
	}
}

// matchAll walks place with all paths at once and says which of them lead there.
func matchAll(t rapid.TB, list []Pointer, place []string, asIndex []bool) string {
	var p paths
	ends := make([]int, len(list))
	for i, path := range list {
		end, err := p.add(path, true)
		if err != nil {
			t.Fatal(err)
		}
		ends[i] = end
	}
	at := p.root()
	for i, name := range place {
		if index := arrayIndex(name); index >= 0 && asIndex[i] {
			at = p.element(at, index)
		} else {
			at = p.member(at, []byte(name))
		}
	}
	var got []bool
	for _, end := range ends {
		var set places
		set.add(end)
		got = append(got, at.meets(set))
	}
	return fmt.Sprint(got)
}

func TestPathsAgreeWithReference(t *testing.T) {
	segment := rapid.SampledFrom([]string{"a", "b", "0", "1", "12", "01", "", "*", "**"})
	rapid.Check(t, func(t *rapid.T) {
		var list []Pointer
		var want []bool
		place := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "0", "1", "12", "01", "", "c"}), 1, 6).Draw(t, "place")
		asIndex := rapid.SliceOfN(rapid.Bool(), len(place), len(place)).Draw(t, "in arrays")
		for range rapid.IntRange(1, 18).Draw(t, "paths") {
			text := "/" + strings.Join(rapid.SliceOfN(segment, 1, 6).Draw(t, "path"), "/")
			p, err := parsePath(text)
			if err != nil {
				continue
			}
			list = append(list, p)
			want = append(want, globs(p, place))
		}
		if got := matchAll(t, list, place, asIndex); got != fmt.Sprint(want) {
			t.Fatalf("%v at %q: got %s, want %v", list, place, got, want)
		}
	})
}

// FuzzPath: whatever is accepted has a text of its own and matches as the
// reference does.
func FuzzPath(f *testing.F) {
	f.Add("/a/*/b", "/**/b", "/a/c/b")
	f.Add("/**/0/**/1", "/~0~1", "/0/x/1")
	f.Fuzz(func(t *testing.T, first, second, where string) {
		var list []Pointer
		var want []bool
		place, err := ParsePointer(where)
		if err != nil {
			return
		}
		for _, text := range []string{first, second} {
			p, err := parsePath(text)
			if err != nil {
				return
			}
			again, err := parsePath(p.String())
			if err != nil || again.String() != p.String() {
				t.Fatalf("%q became %q, %v", text, again, err)
			}
			list, want = append(list, p), append(want, globs(p, place))
		}
		if len(list[0])+len(list[1])+2 > maxPlaces || strings.Count(first+second, "**") > 8 {
			return
		}
		if got := matchAll(t, list, place, make([]bool, len(place))); got != fmt.Sprint(want) {
			t.Fatalf("%v at %q: got %s, want %v", list, place, got, want)
		}
	})
}

func TestRulesErrors(t *testing.T) {
	many := make([]string, 43)
	for i := range many {
		many[i] = fmt.Sprintf("/a/%d", i)
	}
	for want, r := range map[string]FingerprintRules{
		"ignore: path \"/a*\"":                  {Ignore: []string{"/b", "/a*"}},
		"fields: JSON pointer \"a\"":            {Fields: []string{"a"}},
		"time: path \"/a/**\" ends":             {Time: []string{"/a/**"}},
		"unordered: the paths are too many":     {Unordered: many},
		"off excludes":                          {Off: true, MinFields: 1},
		"off excludes all":                      {Off: true, Ignore: []string{"/a"}},
		"min_fields is -1":                      {MinFields: -1},
		"min_fields is 2, but there are only 1": {MinFields: 2, Fields: []string{"/a", "/a"}},
	} {
		if err := r.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	for _, r := range []*FingerprintRules{nil, {}, {Off: true}, {Unordered: many[:42]}, {MinFields: 5}} {
		if err := r.Validate(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestIgnoring(t *testing.T) {
	var none *FingerprintRules
	off, some := &FingerprintRules{Off: true}, &FingerprintRules{Ignore: append(make([]string, 0, 9), "/a")}
	if none.Ignoring(nil) != nil || off.Ignoring([]string{"/b"}) != off || some.Ignoring(nil) != some {
		t.Error("rules changed without a reason")
	}
	if got := none.Ignoring([]string{"/b"}); fmt.Sprint(got.Ignore) != "[/b]" {
		t.Errorf("got %+v", got)
	}
	b, c := some.Ignoring([]string{"/b"}), some.Ignoring([]string{"/c"})
	if fmt.Sprint(b.Ignore, c.Ignore, some.Ignore) != "[/a /b] [/a /c] [/a]" {
		t.Errorf("got %v, %v, %v", b, c, some)
	}
}

// TestRulesVersion: digests under different rules never meet, and the order of
// rules does not matter.
func TestRulesVersion(t *testing.T) {
	const body = `{"x":1}`
	base := digestOf(t, FingerprintRules{Ignore: []string{"/a", "/b"}}, body)
	for name, c := range map[string]struct {
		rules FingerprintRules
		equal bool
	}{
		"order":      {FingerprintRules{Ignore: []string{"/b", "/a", "/b"}}, true},
		"min_fields": {FingerprintRules{Ignore: []string{"/a", "/b"}, MinFields: 1}, true},
		"one less":   {FingerprintRules{Ignore: []string{"/a"}}, false},
		"other kind": {FingerprintRules{Time: []string{"/a", "/b"}}, false},
		"moved":      {FingerprintRules{Ignore: []string{"/a"}, Time: []string{"/b"}}, false},
		"none":       {FingerprintRules{}, false},
	} {
		if got := digestOf(t, c.rules, body); (got == base) != c.equal {
			t.Errorf("%s: equal %v", name, got == base)
		}
	}
}
