// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// decimal is a number that can be spelled in many ways.
type decimal struct {
	negative bool
	digits   string
	exponent int
}

// drawValue draws a document without duplicate names, from a small alphabet so
// that paths hit.
func drawValue(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		return rapid.SampledFrom([]any{nil, true, false}).Draw(t, "literal")
	case 1:
		return decimal{
			rapid.Bool().Draw(t, "negative"),
			rapid.StringMatching(`[0-9]{1,3}|9007199254740993|[0-9]{20}`).Draw(t, "digits"),
			rapid.OneOf(rapid.IntRange(-3, 3), rapid.IntRange(-9000, 9000)).Draw(t, "exponent"),
		}
	case 2:
		return rapid.SampledFrom([]string{
			"", "x", "1", "1790000000", "1790000000000", "2026-09-21T14:13:20Z", "2026-09-21T16:13:20.000+02:00",
			"2026-09-21T14:13:20.5Z", "é", "e\u0301", longText(300),
		}).Draw(t, "text")
	case 3:
		return rapid.String().Draw(t, "text")
	case 4:
		out := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "elements") {
			out = append(out, drawValue(t, depth-1))
		}
		return out
	}
	return drawObject(t, depth)
}

func drawObject(t *rapid.T, depth int) []member {
	names := rapid.SampledFrom([]string{"a", "b", "0", "1", "ä/~", "", "\U0001f389"})
	out := []member{}
	for _, name := range rapid.SliceOfNDistinct(names, 0, 5, rapid.ID[string]).Draw(t, "names") {
		out = append(out, member{name, drawValue(t, max(depth-1, 0))})
	}
	return out
}

// spell writes a document in one of its many spellings.
func spell(t *rapid.T, v any) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\r\n\t"}).Draw(t, "space")
	switch v := v.(type) {
	case string:
		return quote(t, v)
	case decimal:
		return v.spell(t)
	case []any:
		var parts []string
		for _, e := range v {
			parts = append(parts, spell(t, e))
		}
		return "[" + space + strings.Join(parts, space+",") + "]"
	case []member:
		var parts []string
		for _, m := range rapid.Permutation(v).Draw(t, "order") {
			parts = append(parts, quote(t, m.name)+space+":"+spell(t, m.value))
		}
		return "{" + strings.Join(parts, ","+space) + space + "}"
	}
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (d decimal) spell(t *rapid.T) string {
	digits := strings.TrimLeft(d.digits, "0") + strings.Repeat("0", rapid.IntRange(0, 3).Draw(t, "zeros"))
	exponent := d.exponent + len(strings.TrimLeft(d.digits, "0")) - len(digits)
	whole, fraction := digits, ""
	if len(digits) > 1 && rapid.Bool().Draw(t, "point") {
		at := rapid.IntRange(1, len(digits)-1).Draw(t, "place")
		whole, fraction = digits[:at], "."+digits[at:]
		exponent += len(digits) - at
	}
	if whole == "" || whole[0] == '0' {
		whole, fraction = "0", ""
	}
	sign := ""
	if d.negative {
		sign = "-"
	}
	if exponent == 0 && rapid.Bool().Draw(t, "bare") {
		return sign + whole + fraction
	}
	form := rapid.SampledFrom([]string{"e%d", "E%+d", "e%+04d"}).Draw(t, "form")
	return sign + whole + fraction + fmt.Sprintf(form, exponent)
}

// change returns a document that differs in at most one place.
func change(t *rapid.T, v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 && rapid.Bool().Draw(t, "inside") {
			out := slices.Clone(v)
			i := rapid.IntRange(0, len(v)-1).Draw(t, "element")
			if rapid.Bool().Draw(t, "swap") {
				out[i], out[0] = out[0], out[i]
			} else {
				out[i] = change(t, out[i])
			}
			return out
		}
		return append(slices.Clip(v), drawValue(t, 0))
	case []member:
		if len(v) == 0 {
			return drawObject(t, 1)
		}
		out := slices.Clone(v)
		i := rapid.IntRange(0, len(v)-1).Draw(t, "member")
		if rapid.Bool().Draw(t, "drop") {
			return slices.Delete(out, i, i+1)
		}
		out[i].value = change(t, out[i].value)
		return out
	case decimal:
		v.digits = strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "digit")) + v.digits[1:]
		return v
	}
	return drawValue(t, 0)
}

func drawRules(t *rapid.T) FingerprintRules {
	segment := rapid.SampledFrom([]string{"a", "b", "0", "1", "ä~1~0", "", "*", "**"})
	path := rapid.Custom(func(t *rapid.T) string {
		var b strings.Builder
		for _, s := range rapid.SliceOfN(segment, 0, 2).Draw(t, "path") {
			b.WriteString("/" + s)
		}
		return b.String() + "/" + rapid.SampledFrom([]string{"a", "b", "0", "1", "*"}).Draw(t, "last")
	})
	list := func(name string, most int) []string { return rapid.SliceOfN(path, 0, most).Draw(t, name) }
	return FingerprintRules{
		Fields: list("fields", 2), Ignore: list("ignore", 2), Time: list("time", 2), Unordered: list("unordered", 2),
	}
}

// compareBodies checks that two bodies have equal digests exactly when their
// references are equal, and have digests at all when their references exist.
func compareBodies(t rapid.TB, r FingerprintRules, a, b []byte) {
	c, err := compileRules(&r, nil)
	if err != nil {
		t.Fatal(err)
	}
	var z canonizer
	check := func(body []byte) (sum [32]byte, text string) {
		ref := reference{rules: r}
		text, want := ref.of(body)
		sum, note := z.digest(c, body)
		if (note == "" || note.thin() || want == "" || want.thin()) && note != want {
			t.Fatalf("rules %+v: the note of %q is %q, want %q", r, body, note, want)
		}
		if text == "" {
			text = "raw" + string(body)
			copy(sum[:], text)
		}
		return sum, text
	}
	sumA, textA := check(a)
	sumB, textB := check(b)
	if (sumA == sumB) != (textA == textB) {
		t.Fatalf("rules %+v: equal digests %v, equal references %v\n%q\n%q\n%s\n%s",
			r, sumA == sumB, textA == textB, a, b, textA, textB)
	}
}

// TestFingerprintAgreesWithReference: never a false duplicate, and never a
// spelling that matters.
func TestFingerprintAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a any = drawObject(t, 4)
		if rapid.Bool().Draw(t, "array") {
			a = []any{a, drawValue(t, 3)}
		}
		b := a
		if rapid.IntRange(0, 3).Draw(t, "changed") > 0 {
			b = change(t, a)
		}
		r := FingerprintRules{}
		if rapid.IntRange(0, 3).Draw(t, "with rules") > 0 {
			r = drawRules(t)
		}
		compareBodies(t, r, []byte(spell(t, a)), []byte(spell(t, b)))
	})
}

// TestSpellingDoesNotMatter: reordered, reformatted, escaped (R16).
func TestSpellingDoesNotMatter(t *testing.T) {
	c := mustRules(t, FingerprintRules{})
	rapid.Check(t, func(t *rapid.T) {
		doc := append(drawObject(t, 4), member{"always", "x"})
		a, b := spell(t, doc), spell(t, doc)
		var z canonizer
		x, noteX := z.digest(c, []byte(a))
		y, noteY := z.digest(c, []byte("\ufeff"+b))
		if x != y || noteX != "" || noteY != "" {
			t.Fatalf("%q and %q: %q, %q", a, b, noteX, noteY)
		}
	})
}

// TestNumbersAgreeWithReference compares single numbers of all sizes.
func TestNumbersAgreeWithReference(t *testing.T) {
	number := rapid.OneOf(
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,2})(\.[0-9]{1,3})?([eE][+-]?[0-9]{1,2})?`),
		rapid.StringMatching(`-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,30})?`),
		rapid.StringMatching(`[0-9](\.0)?e[+-]?0{0,3}(9999|10000|10001|99999|100000)`),
		rapid.SampledFrom([]string{"1e999999999", "-1E-999999999999999999999999", "0e99999", "9007199254740992", "9007199254740993"}),
	)
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		compareBodies(t, FingerprintRules{}, []byte("["+a+"]"), []byte("["+b+"]"))
	})
}

// FuzzFingerprint compares arbitrary pairs of JSON bodies under arbitrary paths.
func FuzzFingerprint(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":1,"b":[1.0,{"a":"x"}]}`, `{"b":[1e0,{"a":"\u0078"}],"a":10e-1}`}, {`{"a":1,"a":2}`, `{"a":2}`},
		{`{"a":"\ud800"}`, `{"a":"\ufffd"}`}, {`[1e10001]`, `[10e10000]`}, {`[-0]`, `[0.0]`}, {`[{"b":1},{"a":1}]`, `[{"a":1}]`},
		{`{"a":1790000000}`, `{"a":"2026-09-21T14:13:20Z"}`}, {`{"a":"2026-09-21T14:13:20.5.5Z"}`, `{"a":"2026-09-21T14:13:20.5Z"}`},
		{"\xef\xbb\xbf[\"\xff\"]", "[\"\x01\"]"}, {`{"a`, `[`}, {strings.Repeat("[", 65) + strings.Repeat("]", 65), `[[]]`},
	} {
		f.Add([]byte(seed[0]), []byte(seed[1]), "/a", "/**/b", "/a", "/b")
		f.Add([]byte(seed[0]), []byte(seed[1]), "/*/a", "/b/0", "/**/a", "/**/*/a")
	}
	f.Fuzz(func(t *testing.T, a, b []byte, fields, ignore, times, unordered string) {
		r := FingerprintRules{}
		for _, rule := range []struct {
			list *[]string
			path string
		}{{&r.Fields, fields}, {&r.Ignore, ignore}, {&r.Time, times}, {&r.Unordered, unordered}} {
			if _, err := parsePath(rule.path); err == nil {
				*rule.list = []string{rule.path}
			}
		}
		if r.Validate() != nil || !looksLikeJSON(a) || !looksLikeJSON(b) || hugeExponent(a) || hugeExponent(b) {
			return
		}
		compareBodies(t, r, a, b)
	})
}

// hugeExponent keeps the reference, not the fingerprint, from taking seconds.
func hugeExponent(body []byte) bool { return strings.Count(strings.ToLower(string(body)), "e") > 50 }
