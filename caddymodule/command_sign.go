// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

func signCommand() *cobra.Command {
	var f makeFlags
	var curl bool
	cmd := &cobra.Command{
		Use:   "sign --provider <name> --secret <secret> [--data <body>] [--id <id>] [--at <time>] [--url <url>] [--curl]",
		Short: "Prints the headers of a correctly signed delivery",
		Long: `
Prints the headers that a provider would send with a body, or with --curl a whole
command. Without --data the body is a realistic one, which is printed too, behind
an empty line.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			m, err := f.maker(cmd.InOrStdin(), f.url)
			if err != nil {
				return err
			}
			if m.public != "" {
				cmd.PrintErrf("The secret of the route is this public key: %s\n", m.public)
			}
			e, err := m.newEvent()
			if err != nil {
				return err
			}
			r, err := m.sign(e)
			if err != nil {
				return err
			}
			if curl {
				return printCurl(cmd.OutOrStdout(), r, &f)
			}
			return printHeaders(cmd.OutOrStdout(), r, m.data == nil)
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.url, "url", "", "The URL as the provider knows it, for --curl and for providers that sign it")
	cmd.Flags().BoolVar(&curl, "curl", false, "Print a curl command")
	return cmd
}

// printHeaders prints the headers, and the body when the user does not have it.
func printHeaders(out io.Writer, r *verify.Request, body bool) error {
	var b bytes.Buffer
	eachHeader(r.Header, func(line string) { fmt.Fprintln(&b, line) })
	if body {
		fmt.Fprintf(&b, "\n%s\n", r.Body)
	}
	return printText(out, &b)
}

func eachHeader(h http.Header, f func(line string)) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			f(name + ": " + value)
		}
	}
}

func printCurl(out io.Writer, r *verify.Request, f *makeFlags) error {
	if f.url == "" {
		return errors.New("--curl needs the address: add --url http://...")
	}
	data := string(r.Body)
	switch {
	case strings.HasPrefix(f.data, "@"):
		data = f.data // curl reads a file in the same notation
	case !utf8.Valid(r.Body) || bytes.ContainsRune(r.Body, 0):
		return errors.New("--curl: this body cannot be part of a command: put it into a file and use --data @file")
	case strings.HasPrefix(data, "@"):
		return errors.New("--curl: a body that begins with @ looks like a file name to curl: put it into a file and use --data @file")
	}
	var b strings.Builder
	b.WriteString("curl -i -X POST")
	eachHeader(r.Header, func(line string) { b.WriteString(" \\\n  -H " + shellWord(line)) })
	fmt.Fprintf(&b, " \\\n  --data-binary %s \\\n  %s\n", shellWord(data), shellWord(f.url))
	_, err := io.WriteString(out, b.String())
	return err
}
