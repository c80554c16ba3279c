// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"
)

// printJSON prints a value with every character that does not print escaped.
func printJSON(out io.Writer, v any) error {
	text, err := safeJSON(v)
	if err != nil {
		return err
	}
	_, err = out.Write(text)
	return err
}

// printTable prints rows with their columns in line. A row has one cell for each
// column, and no cell has a tab or a line end in it.
func printTable(out io.Writer, rows [][]string) error {
	var b bytes.Buffer
	for _, row := range rows {
		b.WriteString(strings.Join(row, "\t") + "\n")
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if _, err := w.Write(b.Bytes()); err != nil {
		return err
	}
	return w.Flush()
}

// printText prints what was put together.
func printText(out io.Writer, b *bytes.Buffer) error {
	_, err := out.Write(b.Bytes())
	return err
}

// ago is how long something is past, in one or two units.
func ago(now, then time.Time) string {
	if then.IsZero() {
		return "-"
	}
	d := now.Sub(then)
	switch {
	case d < 0:
		return "in " + roughly(-d)
	case d < time.Second:
		return "now"
	}
	return roughly(d) + " ago"
}

func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// localTime is a time for people, to the second, in their own zone.
func localTime(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02 15:04:05")
}

// shorten cuts a text to n characters, the last of which tells that it was cut.
func shorten(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
