// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestForms(t *testing.T) {
	rules := FingerprintRules{Ignore: []string{"/token"}, Time: []string{"/at"}, MinFields: 2}
	for _, c := range []struct {
		name  string
		rules FingerprintRules
		a, b  string
		equal bool
	}{
		{"R16 reordered fields", FingerprintRules{}, "a=1&b=2", "b=2&a=1", true},
		{"order within a name", FingerprintRules{}, "a=1&a=2", "a=2&a=1", false},
		{"order within a name, others between", FingerprintRules{}, "a=1&b=3&a=2", "b=3&a=1&a=2", true},
		{"spellings of a space", FingerprintRules{}, "a=x+y", "a=x%20y", true},
		{"a plus sign is no space", FingerprintRules{}, "a=x%2By", "a=x+y", false},
		{"case of escapes", FingerprintRules{}, "a=%c3%a4%7E", "%61=%C3%A4~", true},
		{"an escaped separator", FingerprintRules{}, "a=1%26b=2", "a=1&b=2", false},
		{"empty pairs", FingerprintRules{}, "a=1&&b=2&", "a=1&b=2", true},
		{"value with equals sign", FingerprintRules{}, "a=b=c", "a=b%3Dc", true},
		{"name and value", FingerprintRules{}, "a=bc", "ab=c", false},
		{"no value is an empty one", FingerprintRules{}, "a=1&b", "a=1&b=", true},
		{"missing and empty", FingerprintRules{}, "a=1&b=", "a=1", false},
		{"ignored", rules, "a=1&b=2&token=3", "b=2&a=1", true},
		{"time", rules, "a=1&at=1790000000", "at=2026-09-21T14%3A13%3A20Z&a=1", true},
		{"long values", FingerprintRules{}, "a=" + longText(400) + "a", "a=" + longText(400) + "b", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := digestOf(t, c.rules, c.a), digestOf(t, c.rules, c.b)
			if strings.HasPrefix(a, "no digest") || strings.HasPrefix(b, "no digest") || (a == b) != c.equal {
				t.Errorf("equal: %v; %.30q, %.30q", a == b, a, b)
			}
		})
	}
}

func TestFormNotes(t *testing.T) {
	for body, want := range map[string]Note{
		"a=1%":                                  NoteInvalidForm,
		"a=1&b%zz=2":                            NoteInvalidForm,
		"a=x y":                                 NoteUnknownType,
		"a=1\n":                                 NoteUnknownType,
		"a=\"1\"":                               NoteUnknownType,
		"a=ä":                                   NoteUnknownType,
		"=1":                                    NoteUnknownType,
		"hello":                                 NoteUnknownType,
		"hello&a=1":                             NoteUnknownType,
		"a=&b=":                                 NoteNothingLeft,
		"payload=%7B%22a%22%3A1%7D":             "",
		"items[0][name]=x&t=1:2@3/4?5*":         "",
		strings.Repeat("a=1&", 100_000) + "a=1": NoteTooManyTokens,
	} {
		var z canonizer
		if _, note := z.digest(mustRules(t, FingerprintRules{}), []byte(body)); note != want {
			t.Errorf("%.40q: got %q, want %q", body, note, want)
		}
	}
}

func isReadAsForm(body string) bool {
	return looksLikeForm([]byte(body)) && body[0] != '[' && !strings.HasPrefix(body, "--")
}

// compareForms checks against net/url, as far as it agrees with the standard.
func compareForms(t rapid.TB, a, b string) {
	c, err := compileRules(&FingerprintRules{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var z canonizer
	x, noteX := z.digest(c, []byte(a))
	y, noteY := z.digest(c, []byte(b))
	valuesA, errA := url.ParseQuery(a)
	valuesB, errB := url.ParseQuery(b)
	if !isReadAsForm(a) || !isReadAsForm(b) || strings.Contains(a+b, ";") {
		return
	}
	for _, form := range []struct {
		text   string
		note   Note
		values url.Values
		err    error
	}{{a, noteX, valuesA, errA}, {b, noteY, valuesB, errB}} {
		hasValue := slices.ContainsFunc(slices.Collect(maps.Values(form.values)), func(v []string) bool {
			return strings.Join(v, "") != ""
		})
		want := Note("")
		switch {
		case form.err != nil:
			want = NoteInvalidForm
		case !hasValue:
			want = NoteNothingLeft
		}
		if form.note != want {
			t.Fatalf("%q: note %q, want %q", form.text, form.note, want)
		}
	}
	if errA == nil && errB == nil && (x == y) != reflect.DeepEqual(valuesA, valuesB) {
		t.Fatalf("%q and %q: equal digests %v", a, b, x == y)
	}
}

func TestFormsAgreeWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pair := rapid.StringMatching(`([ab+]|%2[06bB]|%61){1,3}=([ab+=]|%2[06bB]|%61){0,2}`)
		a := rapid.SliceOfN(pair, 1, 4).Draw(t, "a")
		b := rapid.Permutation(a).Draw(t, "b")
		if rapid.Bool().Draw(t, "other") {
			b = append(b[:len(b)-1], pair.Draw(t, "pair"))
		}
		compareForms(t, strings.Join(a, "&"), strings.Join(b, "&"))
	})
}

func FuzzFormFingerprint(f *testing.F) {
	f.Add("a=1&b=2", "b=2&a=1")
	f.Add("a=%2", "a=+&a=%20&&c")
	f.Fuzz(func(t *testing.T, a, b string) { compareForms(t, a, b) })
}
