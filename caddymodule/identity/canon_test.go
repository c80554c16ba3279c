// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"strings"
	"testing"
)

// digestOf returns the digest as a string that says why there is none.
func digestOf(t testing.TB, r FingerprintRules, body string) string {
	t.Helper()
	var z canonizer
	sum, note := z.digest(mustRules(t, r), []byte(body))
	if note != "" {
		return "no digest: " + string(note)
	}
	return string(sum[:])
}

// TestPairs: what is equal and what is not, one pair for each rule.
func TestPairs(t *testing.T) {
	ignore := FingerprintRules{Ignore: []string{"/sent_at", "/meta/*/n", "/**/etag", "/list/1"}}
	fields := FingerprintRules{Fields: []string{"/id", "/items/*/id"}, Ignore: []string{"/items/*/id/v"}}
	times := FingerprintRules{Time: []string{"/at", "/**/on"}}
	unordered := FingerprintRules{Unordered: []string{"/tags", "/*/tags"}}
	for _, c := range []struct {
		name  string
		rules FingerprintRules
		a, b  string
		equal bool
	}{
		{"R16 reordered fields", FingerprintRules{}, `{"a":1,"b":{"c":2,"d":3}}`, "{ \"b\": {\"d\":3,\n\"c\":2}, \"a\":1 }", true},
		{"R16 partial payload change", FingerprintRules{}, `{"a":1,"b":2}`, `{"a":1,"b":3}`, false},
		{"B-04 byte order mark", FingerprintRules{}, "\ufeff{\"a\":1}", `{"a":1}`, true},
		{"escapes", FingerprintRules{}, `{"a":"\u00e4\/\ud83c\udf89\"\\\b\f\n\r\t"}`, `{"\u0061":"ä/🎉\u0022\u005c\u0008\u000c\u000a\u000d\u0009"}`, true},
		{"B-02 a line feed is not a tab", FingerprintRules{}, `{"a":"\n"}`, `{"a":"\t"}`, false},
		{"no Unicode normalisation", FingerprintRules{}, `{"a":"é"}`, `{"a":"e\u0301"}`, false},
		{"equal numbers", FingerprintRules{}, `[1,1.0,1e0,10E-1,0,-0.0e5]`, `[1.00,1,100e-2,1,-0,0]`, true},
		{"I-16 above 2^53", FingerprintRules{}, `[9007199254740993]`, `[9007199254740992]`, false},
		{"long decimals", FingerprintRules{}, `[0.1000000000000000055511151231257827]`, `[0.1]`, false},
		{"1e400 and 1e401", FingerprintRules{}, `[1e400]`, `[1e401]`, false},
		{"S12 absurd exponents", FingerprintRules{}, `[1e999999999]`, `[1e999999998]`, false},
		{"S12 exponents beyond 64 bits", FingerprintRules{}, `[1e18446744073709551617]`, `[1e1]`, false},
		{"sign", FingerprintRules{}, `[1]`, `[-1]`, false},
		{"I-17 number and text", FingerprintRules{}, `[1000]`, `["1000"]`, false},
		{"null and absent", FingerprintRules{}, `{"a":1,"b":null}`, `{"a":1}`, false},
		{"null, false, zero, empty", FingerprintRules{}, `[1,null,false,0,""]`, `[1,false,null,"",0]`, false},
		{"object and array", FingerprintRules{}, `{"x":{"0":1}}`, `{"x":[1]}`, false},
		{"nesting", FingerprintRules{}, `[["a"],"b"]`, `[["a","b"]]`, false},
		{"joined text", FingerprintRules{}, `["ab","c"]`, `["a","bc"]`, false},
		{"order of elements", FingerprintRules{}, `[1,2]`, `[2,1]`, false},
		{"long values", FingerprintRules{}, `["` + longText(400) + `a"]`, `["` + longText(400) + `b"]`, false},
		{"long values, first letter", FingerprintRules{}, `["a` + longText(400) + `"]`, `["b` + longText(400) + `"]`, false},
		{"long object and long array", FingerprintRules{}, `[{"` + longText(400) + `":1}]`, `[["` + longText(400) + `",1]]`, false},
		{"a digest is not the text of one", FingerprintRules{}, `["#` + longText(32) + `"]`, `["` + longText(400) + `"]`, false},

		{"R16 time drift in an ignored field", ignore, `{"id":1,"sent_at":"12:00"}`, `{"id":1,"sent_at":"12:05"}`, true},
		{"I-09 ignored is absent", ignore, `{"id":1,"sent_at":{"x":[1,2]}}`, `{"id":1}`, true},
		{"ignored elsewhere counts", ignore, `{"id":1,"x":{"sent_at":1}}`, `{"id":1,"x":{"sent_at":2}}`, false},
		{"one segment", ignore, `{"id":1,"meta":{"a":{"n":1},"b":{"n":2}}}`, `{"id":1,"meta":{"b":{},"a":{"n":3}}}`, true},
		{"one segment is not two", ignore, `{"id":1,"meta":{"n":1}}`, `{"id":1,"meta":{"n":2}}`, false},
		{"any depth", ignore, `{"id":1,"etag":1,"a":[{"etag":2,"x":{"etag":3}}]}`, `{"id":1,"a":[{"x":{},"etag":4}],"etag":5}`, true},
		{"ignored element", ignore, `{"list":[1,2,3]}`, `{"list":[1,9,3]}`, true},
		{"ignored element at the end", ignore, `{"list":[1,2]}`, `{"list":[1]}`, true},
		{"element beside an ignored one", ignore, `{"list":[1,2,3]}`, `{"list":[1,2,4]}`, false},

		{"fields alone", fields, `{"id":1,"x":1,"items":[{"id":2,"y":1}]}`, `{"z":2,"items":[{"y":[],"id":2}],"id":1}`, true},
		{"field changed", fields, `{"id":1,"items":[{"id":2}]}`, `{"id":1,"items":[{"id":3}]}`, false},
		{"field missing", fields, `{"id":1,"items":[{"id":2}]}`, `{"items":[{"id":2}]}`, false},
		{"selected is null, not absent", fields, `{"id":1,"items":[{"id":null}]}`, `{"id":1,"items":[{}]}`, false},
		{"a field keeps its place", fields, `{"items":[{"id":2},{}]}`, `{"items":[{},{"id":2}]}`, false},
		{"elements without fields at the end", fields, `{"items":[{"id":2},{"x":1},3]}`, `{"items":[{"id":2}]}`, true},
		{"ignored inside a field", fields, `{"id":1,"items":[{"id":{"v":1}}]}`, `{"id":1,"items":[{"id":{"v":2}}]}`, true},

		{"same instant", times, `{"at":"2026-09-21T16:13:20+02:00"}`, `{"at":"2026-09-21T14:13:20.000Z"}`, true},
		{"seconds and milliseconds", times, `{"at":1790000000}`, `{"at":1790000000000}`, true},
		{"number and text", times, `{"at":"1790000000.5"}`, `{"at":1790000000500}`, true},
		{"Unix and RFC 3339", times, `{"x":[{"on":1790000000.25}]}`, `{"x":[{"on":"2026-09-21T14:13:20.250Z"}]}`, true},
		{"drift of a nanosecond", times, `{"at":"2026-09-21T14:13:20.000000001Z"}`, `{"at":"2026-09-21T14:13:20Z"}`, false},
		{"drift below a nanosecond", times, `{"at":"2026-09-21T14:13:20.0000000001Z"}`, `{"at":"2026-09-21T14:13:20Z"}`, false},
		{"time elsewhere", times, `{"to":1790000000}`, `{"to":1790000000000}`, false},
		{"not a time stays literal", times, `{"at":"soon"}`, `{"at":"later"}`, false},
		{"two fractions are not a time", times, `{"at":"2026-09-21T14:13:20.5.5Z"}`, `{"at":"2026-09-21T14:13:20.5Z"}`, false},
		{"a comma is not RFC 3339", times, `{"at":"2026-09-21T14:13:20,5Z"}`, `{"at":"2026-09-21T14:13:20.5Z"}`, false},
		{"fraction before 1970", times, `{"at":"1969-12-31T23:59:58.5Z"}`, `{"at":-2.5}`, false},
		{"before 1970", times, `{"at":"1969-12-31T23:59:58Z"}`, `{"at":-2}`, true},
		{"leap second", times, `{"at":"2016-12-31T23:59:60Z"}`, `{"at":"2017-01-01T00:00:00Z"}`, false},
		{"an object is not a time", times, `{"at":{"x":1}}`, `{"at":{"x":2}}`, false},
		{"an instant is not its number", times, `{"at":5,"x":1}`, `{"at":"5 ","x":1}`, false},

		{"unordered", unordered, `{"tags":["a",{"x":1,"y":2},"b"]}`, `{"tags":["b","a",{"y":2,"x":1}]}`, true},
		{"unordered keeps how often", unordered, `{"tags":["a","a","b"]}`, `{"tags":["a","b","b"]}`, false},
		{"unordered one level down", unordered, `{"x":{"tags":[1,2]},"y":[1,2]}`, `{"x":{"tags":[2,1]},"y":[1,2]}`, true},
		{"unordered without what does not count", FingerprintRules{Unordered: []string{"/t"}, Fields: []string{"/t/*/id"}},
			`{"t":[{"id":1},{"x":1},{"id":2}]}`, `{"t":[{"id":2},{"id":1}]}`, true},
		{"ordered beside it", unordered, `{"tags":[1],"y":[1,2]}`, `{"tags":[1],"y":[2,1]}`, false},
		{"unordered is not ordered", unordered, `{"tags":[1],"x":[1]}`, `{"x":[1],"tags":{"0":1}}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := digestOf(t, c.rules, c.a), digestOf(t, c.rules, c.b)
			for _, d := range []string{a, b} {
				if strings.HasPrefix(d, "no digest") {
					t.Fatal(d)
				}
			}
			if (a == b) != c.equal {
				t.Errorf("equal: %v", a == b)
			}
		})
	}
}

// TestNotes: why a body has no fingerprint. S12 and S13 are threats.
func TestNotes(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + "1" + strings.Repeat("]", n) }
	for _, c := range []struct {
		name  string
		rules FingerprintRules
		body  string
		want  Note
	}{
		{"empty", FingerprintRules{}, "", NoteEmptyBody},
		{"only a byte order mark", FingerprintRules{}, "\ufeff", NoteUnknownType},
		{"XML", FingerprintRules{}, `<a x="1">b</a>`, NoteUnknownType},
		{"CSV", FingerprintRules{}, "a,b\n1,2\n", NoteUnknownType},
		{"I-19 null", FingerprintRules{}, `null`, NoteUnknownType},
		{"I-19 text", FingerprintRules{}, `"x"`, NoteUnknownType},
		{"I-19 number", FingerprintRules{}, `42`, NoteUnknownType},
		{"I-19 empty array", FingerprintRules{}, `[]`, NoteNothingLeft},
		{"empty object", FingerprintRules{}, ` {} `, NoteNothingLeft},
		{"nothing but nulls", FingerprintRules{}, `{"a":null,"b":[""]}`, NoteNothingLeft},
		{"cut off", FingerprintRules{}, `{"a":1`, NoteInvalidJSON},
		{"two values", FingerprintRules{}, `{"a":1}{}`, NoteInvalidJSON},
		{"comma at the end", FingerprintRules{}, `[1,]`, NoteInvalidJSON},
		{"no colon", FingerprintRules{}, `{"a" 1}`, NoteInvalidJSON},
		{"leading zero", FingerprintRules{}, `[01]`, NoteInvalidJSON},
		{"bare control character", FingerprintRules{}, "[\"a\x01\"]", NoteInvalidJSON},
		{"unknown escape", FingerprintRules{}, `["\x"]`, NoteInvalidJSON},
		{"S13 duplicate name", FingerprintRules{}, `{"a":1,"a":1}`, NoteDuplicateName},
		{"S13 escaped duplicate", FingerprintRules{}, `{"a":1,"b":{"\u0061":1,"a":2}}`, NoteDuplicateName},
		{"S13 duplicate of what is ignored", FingerprintRules{Ignore: []string{"/a"}}, `{"a":1,"b":1,"a":2}`, NoteDuplicateName},
		{"S13 duplicate inside what is ignored", FingerprintRules{Ignore: []string{"/a"}}, `{"a":{"x":1,"x":2},"b":1}`, NoteDuplicateName},
		{"S13 duplicate beside the fields", FingerprintRules{Fields: []string{"/b"}}, `{"a":1,"b":1,"a":2}`, NoteDuplicateName},
		{"S13 bad UTF-8", FingerprintRules{}, "{\"a\":\"\xff\"}", NoteInvalidText},
		{"S13 high half", FingerprintRules{}, `{"a":"\ud800"}`, NoteInvalidText},
		{"S13 low half in a name", FingerprintRules{}, `{"\udc00x":1}`, NoteInvalidText},
		{"S13 halves in the wrong order", FingerprintRules{}, `{"a":"\udc00\ud800"}`, NoteInvalidText},
		{"S13 other case is another name", FingerprintRules{}, `{"a":1,"A":2}`, ""},
		{"S13 replacement character", FingerprintRules{}, `{"a":"\ufffd"}`, ""},
		{"S12 64 levels", FingerprintRules{}, deep(64), ""},
		{"S12 65 levels", FingerprintRules{}, deep(65), NoteTooDeep},
		{"S12 100,000 levels", FingerprintRules{}, strings.Repeat("[", 100_000), NoteTooDeep},
		{"S12 200,000 tokens", FingerprintRules{}, "[" + strings.Repeat("1,", 199_997) + "1]", ""},
		{"S12 200,001 tokens", FingerprintRules{}, "[" + strings.Repeat("1,", 199_998) + "1]", NoteTooManyTokens},
		{"S12 tokens in what is ignored", FingerprintRules{Ignore: []string{"/a"}},
			`{"b":1,"a":[` + strings.Repeat("{},", 100_000) + `1]}`, NoteTooManyTokens},
		{"R16 missing fingerprint fields", FingerprintRules{Fields: []string{"/a", "/b/c"}, MinFields: 2}, `{"a":1,"b":{"d":1}}`, NoteTooFewFields},
		{"all fields are there", FingerprintRules{Fields: []string{"/a", "/b/c"}, MinFields: 2}, `{"a":1,"b":{"c":{"x":2}}}`, ""},
		{"one field with many values", FingerprintRules{Fields: []string{"/a", "/b"}, MinFields: 2}, `{"a":[1,2,3]}`, NoteTooFewFields},
		{"a field that is null", FingerprintRules{Fields: []string{"/a", "/b"}, MinFields: 2}, `{"a":1,"b":null}`, NoteTooFewFields},
		{"no field is there", FingerprintRules{Fields: []string{"/a"}}, `{"b":1}`, NoteNothingLeft},
		{"an array without fields", FingerprintRules{Fields: []string{"/0/a"}}, `[{"b":1}]`, NoteNothingLeft},
		{"too few values", FingerprintRules{MinFields: 3}, `{"a":1,"b":[true]}`, NoteTooFewFields},
		{"enough values", FingerprintRules{MinFields: 3}, `{"a":1,"b":[true,"x"]}`, ""},
		{"everything ignored", FingerprintRules{Ignore: []string{"/*"}}, `{"a":1,"b":[true]}`, NoteNothingLeft},
		{"ignored values do not count", FingerprintRules{Ignore: []string{"/b"}, MinFields: 2}, `{"a":1,"b":[1,2,3]}`, NoteTooFewFields},
	} {
		t.Run(c.name, func(t *testing.T) {
			var z canonizer
			for range 2 { // the scratch of one body must not leak into the next
				sum, note := z.digest(mustRules(t, c.rules), []byte(c.body))
				if note != c.want {
					t.Errorf("got note %q, want %q", note, c.want)
				}
				if (sum == [32]byte{}) != (note != "" && !note.thin()) {
					t.Errorf("note %q, digest %x", note, sum)
				}
			}
		})
	}
}
