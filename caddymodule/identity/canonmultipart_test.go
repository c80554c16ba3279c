// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/textproto"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// formPart is one part as a test sees it.
type formPart struct{ name, filename, kind, content string }

// encodeParts writes a body as the standard library does.
func encodeParts(t rapid.TB, boundary string, parts ...formPart) string {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if err := w.SetBoundary(boundary); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		h := textproto.MIMEHeader{}
		disposition := fmt.Sprintf("form-data; name=%q", p.name)
		if p.filename != "" {
			disposition += fmt.Sprintf("; filename=%q", p.filename)
		}
		h.Set("Content-Disposition", disposition)
		if p.kind != "" {
			h.Set("Content-Type", p.kind)
		}
		out, err := w.CreatePart(h)
		if err == nil {
			_, err = io.WriteString(out, p.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMultipart(t *testing.T) {
	base := []formPart{{"a", "", "", "1"}, {"file", "x.png", "image/png", "\x00\xff\r\n--\r\n" + longText(300)}, {"b", "", "", ""}}
	with := func(i int, change func(*formPart)) []formPart {
		out := append([]formPart(nil), base...)
		change(&out[i])
		return out
	}
	want := digestOf(t, FingerprintRules{}, encodeParts(t, "one", base...))
	if strings.HasPrefix(want, "no digest") {
		t.Fatal(want)
	}
	for name, c := range map[string]struct {
		parts []formPart
		equal bool
	}{
		"other boundary": {base, true},
		"name":           {with(0, func(p *formPart) { p.name = "c" }), false},
		"filename":       {with(1, func(p *formPart) { p.filename = "y.png" }), false},
		"type":           {with(1, func(p *formPart) { p.kind = "image/gif" }), false},
		"content":        {with(1, func(p *formPart) { p.content += "x" }), false},
		"order":          {[]formPart{base[1], base[0], base[2]}, false},
		"part missing":   {base[:2], false},
		"part twice":     {append(base[:3:3], base[0]), false},
	} {
		if got := digestOf(t, FingerprintRules{}, encodeParts(t, "another--boundary", c.parts...)); (got == want) != c.equal {
			t.Errorf("%s: equal %v", name, got == want)
		}
	}
	ignore := FingerprintRules{Ignore: []string{"/a"}, MinFields: 1}
	a := digestOf(t, ignore, encodeParts(t, "x", base...))
	if b := digestOf(t, ignore, encodeParts(t, "y", base[1:]...)); a != b || strings.HasPrefix(a, "no digest") {
		t.Error("an ignored part counts")
	}
	fields := FingerprintRules{Fields: []string{"/a", "/b"}, MinFields: 2}
	if got := digestOf(t, fields, encodeParts(t, "x", base...)); got != "no digest: too_few_fields" {
		t.Errorf("an empty part counts: %q", got)
	}
}

func TestMultipartSpelling(t *testing.T) {
	const disposition = "Content-Disposition: form-data; name=\"a\"\r\n"
	a := digestOf(t, FingerprintRules{}, "--x\r\n"+disposition+"Content-Type: text/plain\r\n\r\n1\r\n--x--\r\n")
	b := digestOf(t, FingerprintRules{}, "--yy\r\ncontent-type:text/plain \r\n"+disposition+"\r\n1\r\n--yy--")
	if a != b || strings.HasPrefix(a, "no digest") {
		t.Errorf("the spelling of headers counts: %.40q, %.40q", a, b)
	}
}

// TestMultipartNotes: bodies that parsers read differently have no fingerprint.
func TestMultipartNotes(t *testing.T) {
	const head, field = "--x\r\nContent-Disposition: form-data; name=\"a\"", "\r\n\r\n1\r\n"
	good := head + field + "--x--\r\n"
	for name, c := range map[string]struct {
		body string
		want Note
	}{
		"good":                     {good, ""},
		"not ended":                {head + field, NoteInvalidMultipart},
		"ended early":              {good + "--x--", NoteInvalidMultipart},
		"epilogue":                 {good + "more", NoteInvalidMultipart},
		"preamble":                 {"\r\n" + good, NoteUnknownType},
		"white space behind":       {head + field + "--x \r\n" + good, NoteInvalidMultipart},
		"boundary in a line":       {head + "\r\n\r\n1\r\n--xy\r\n--x--\r\n", NoteInvalidMultipart},
		"header in a boundary":     {head + field + "--x" + head[2:] + field + "--x--", NoteInvalidMultipart},
		"letters behind":           {head + field + "--xab" + head[5:] + field + "--x--", NoteInvalidMultipart},
		"line feeds only":          {strings.ReplaceAll(good, "\r\n", "\n"), NoteInvalidMultipart},
		"no boundary":              {"--\r\n" + good, NoteInvalidMultipart},
		"long boundary":            {strings.ReplaceAll(good, "--x", "--"+longText(71)), NoteInvalidMultipart},
		"no name":                  {strings.ReplaceAll(good, `name="a"`, `nom="a"`), NoteInvalidMultipart},
		"empty name":               {strings.ReplaceAll(good, `name="a"`, `name=""`), NoteInvalidMultipart},
		"name twice":               {strings.ReplaceAll(good, `name="a"`, `name="a"; name="b"`), NoteInvalidMultipart},
		"disposition twice":        {head + "\r\nContent-Disposition: form-data; name=\"a\"" + field + "--x--", NoteInvalidMultipart},
		"other disposition":        {strings.ReplaceAll(good, "form-data", "attachment"), NoteInvalidMultipart},
		"folded line":              {head + ";\r\n filename=b" + field + "--x--", NoteInvalidMultipart},
		"no header":                {"--x\r\n\r\n1\r\n--x--", NoteInvalidMultipart},
		"no colon":                 {head + "\r\nfoo" + field + "--x--", NoteInvalidMultipart},
		"huge header":              {head + "\r\nA: " + longText(9000) + field + "--x--", NoteInvalidMultipart},
		"PGP":                      {"-----BEGIN PGP MESSAGE-----\r\nx\r\n-----END PGP MESSAGE-----\r\n", NoteInvalidMultipart},
		"S12 1,001 parts":          {strings.Repeat(head+field, 1001) + "--x--", NoteTooManyTokens},
		"1,000 parts":              {strings.Repeat(head+field, 1000) + "--x--", ""},
		"S12 boundaries, no parts": {strings.Repeat("--x\r\n", 100_000), NoteInvalidMultipart},
	} {
		var z canonizer
		if _, note := z.digest(mustRules(t, FingerprintRules{}), []byte(c.body)); note != c.want {
			t.Errorf("%s: got %q, want %q", name, note, c.want)
		}
	}
}

// readParts is the reference: what mime/multipart makes of a body.
func readParts(body string) (parts []string, err error) {
	line, _, _ := strings.Cut(body, "\r\n")
	r := multipart.NewReader(strings.NewReader(body), strings.TrimPrefix(line, "--"))
	for {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(p)
		if err != nil {
			return nil, err
		}
		parts = append(parts, fmt.Sprintf("%q %q %q %q", p.FormName(), p.FileName(), p.Header.Values("Content-Type"), content))
	}
}

// compareMultipart checks that bodies with equal digests are equal for the
// standard library as well.
func compareMultipart(t rapid.TB, a, b string) (equal bool) {
	c, err := compileRules(&FingerprintRules{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var z canonizer
	if !strings.HasPrefix(a, "--") || !strings.HasPrefix(b, "--") {
		return false
	}
	x, noteX := z.digest(c, []byte(a))
	y, noteY := z.digest(c, []byte(b))
	if noteX != "" || noteY != "" || x != y {
		return false
	}
	partsA, errA := readParts(a)
	partsB, errB := readParts(b)
	if fmt.Sprint(partsA, errA) != fmt.Sprint(partsB, errB) {
		t.Fatalf("equal digests, but %q (%v) and %q (%v)", partsA, errA, partsB, errB)
	}
	return true
}

func TestMultipartAgreesWithReference(t *testing.T) {
	part := rapid.Custom(func(t *rapid.T) formPart {
		return formPart{
			rapid.SampledFrom([]string{"a", "b", "ä\"\\"}).Draw(t, "name"), rapid.SampledFrom([]string{"", "f"}).Draw(t, "file"),
			rapid.SampledFrom([]string{"", "text/plain"}).Draw(t, "type"), rapid.SampledFrom([]string{"", "x", "\r\n", "--"}).Draw(t, "content"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a := append(rapid.SliceOfN(part, 0, 2).Draw(t, "a"), formPart{"end", "", "", "x"})
		b := a
		if rapid.Bool().Draw(t, "other") {
			b = append(rapid.SliceOfN(part, 0, 2).Draw(t, "b"), formPart{"end", "", "", "x"})
		}
		same := fmt.Sprint(a) == fmt.Sprint(b)
		if got := compareMultipart(t, encodeParts(t, "left", a...), encodeParts(t, "right", b...)); got != same {
			t.Fatalf("equal digests %v for %q and %q", got, a, b)
		}
	})
}

func FuzzMultipart(f *testing.F) {
	good := "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--\r\n"
	f.Add(good, strings.ReplaceAll(good, "x", "y"))
	f.Add(good+"x", "--x\r\n\r\n--x--")
	f.Fuzz(func(t *testing.T, a, b string) { compareMultipart(t, a, b) })
}
