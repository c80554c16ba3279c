// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"os"
	"path/filepath"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

func init() {
	caddycmd.RegisterCommand(caddycmd.Command{
		Name:  "webhook",
		Usage: "<command>",
		Short: "Looks after webhook deliveries, and makes some to try",
		Long: `
Shows the deliveries that wait for a decision, and takes that decision, by the
admin endpoint of the running server; makes correctly signed deliveries of any
provider, to try a route; and repairs a store while no server runs.`,
		CobraFunc: webhookCommand,
	})
}

// webhookCommand adds the subcommands. Each of them is a file of its own.
func webhookCommand(cmd *cobra.Command) {
	cmd.Args = cobra.NoArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(listCommand(), showCommand())
	cmd.AddCommand(actionCommands()...)
	cmd.AddCommand(auditCommand(), signCommand(), sendCommand(), providersCommand(), storeCommand())
}

// programName is how the user called this program, for commands that he can
// copy: hookonce, or caddy in a build of his own.
func programName() string {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	if name == "" || name == "." {
		return "hookonce"
	}
	return name
}

// shellWord is text as one word of a POSIX shell.
func shellWord(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:@%+=,", c)
	}
	if s != "" && strings.IndexFunc(s, func(c rune) bool { return !plain(c) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
