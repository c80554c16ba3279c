// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

func providersCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "providers [<name>]",
		Short: "Lists the providers that are known, or prints one as JSON",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				p, err := verify.LookupPreset(args[0])
				if err != nil {
					return err
				}
				return printJSON(cmd.OutOrStdout(), p)
			}
			return listProviders(cmd)
		},
	}
}

func listProviders(cmd *cobra.Command) error {
	names, err := verify.PresetNames()
	if err != nil {
		return err
	}
	rows := [][]string{{"NAME", "TITLE", "ALGORITHM", "ID", "OTHER NAMES"}}
	for _, name := range names {
		p, err := verify.LookupPreset(name)
		if err != nil {
			return err
		}
		id := "-"
		if len(p.Identity.DeliveryID) > 0 {
			id = p.Identity.DeliveryID[0].String()
		}
		rows = append(rows, []string{p.Name, p.Title, p.Scheme.Algorithm, id, strings.Join(p.Aliases, ", ")})
	}
	return printTable(cmd.OutOrStdout(), rows)
}
