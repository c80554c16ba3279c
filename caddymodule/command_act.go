// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/caddymodule/delivery"
	"github.com/hookonce/hookonce/caddymodule/store"
)

// actionHelp is the first line of help for each action.
var actionHelp = map[string]string{
	actConfirm: "Says that the app did an uncertain delivery",
	actRetry:   "Sends a delivery again that is ready or uncertain",
	actRelease: "Sends a held delivery",
	actDrop:    "Decides that a delivery is not to be sent",
	actForget:  "Forgets a settled delivery, so that its next one counts as the first",
}

func actionCommands() (cmds []*cobra.Command) {
	for _, action := range operatorActions {
		cmds = append(cmds, actionCommand(action))
	}
	return cmds
}

type actFlags struct {
	serverFlags
	actionRequest
	asJSON bool
}

func actionCommand(action string) *cobra.Command {
	var f actFlags
	use := action + ` <id>... --reason "..." [--actor <name>] [--json]`
	if action == actDrop {
		use += " [--duplicate-of <id>]"
	}
	cmd := &cobra.Command{
		Use:   use,
		Short: actionHelp[action],
		Long: actionHelp[action] + `.

Reason and actor are kept in the audit trail. Each delivery is named by its ID,
by the first 8 or more digits of that, or by the provider's own ID.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("which delivery? %s shows the IDs of the open ones", f.command("list"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, ids []string) error { return f.run(cmd, action, ids) },
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.Reason, "reason", "", "Why you decide so (required)")
	cmd.Flags().StringVar(&f.Actor, "actor", localActor(), "Who decides")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "Print JSON")
	if action == actDrop {
		cmd.Flags().StringVar(&f.DuplicateOf, "duplicate-of", "", "The delivery that this one repeats")
	}
	return cmd
}

// run acts on one delivery after the other. A failure does not keep the others
// from being acted upon.
func (f *actFlags) run(cmd *cobra.Command, action string, ids []string) error {
	if strings.TrimSpace(f.Reason) == "" {
		return errors.New(`an action needs a reason, which is kept in the audit trail: add --reason "..."`)
	}
	done, failed := []actionView{}, 0
	var first error
	for _, id := range ids {
		var res actionView
		if err := f.call(http.MethodPost, deliveryPath(id, action), nil, f.actionRequest, &res); err != nil {
			if failed++; failed == 1 {
				first = err
			}
			if len(ids) > 1 {
				cmd.PrintErrf("%s: %s\n", visible(id), err)
			}
			continue
		}
		done = append(done, res)
		if (action == actRetry || action == actRelease) && res.Delivery.State != delivery.Confirmed.String() {
			if failed++; failed == 1 {
				first = errors.New("the app did not confirm it; what is to be done now: webhook show " + firstBytes(res.Delivery.ID, minPrefix))
			}
		}
		if !f.asJSON {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s  %s  %s\n", firstBytes(res.Delivery.ID, minPrefix), res.Delivery.State, visible(res.Note))
			if err != nil {
				return err
			}
		}
	}
	if f.asJSON {
		if err := printJSON(cmd.OutOrStdout(), done); err != nil {
			return err
		}
	}
	if failed > 0 && len(ids) > 1 {
		return fmt.Errorf("%d of %d failed", failed, len(ids))
	}
	return first
}

// localActor is who sits at this machine.
func localActor() string {
	name := os.Getenv("USER")
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if name == "" {
		name = "uid " + strconv.Itoa(os.Getuid())
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

func auditCommand() *cobra.Command {
	var server serverFlags
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:   "audit [<id>] [--limit <n>] [--json]",
		Short: "Shows who decided what about deliveries, newest first",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			query := url.Values{"limit": {strconv.Itoa(limit)}}
			if len(args) == 1 {
				query.Set("delivery", args[0])
			}
			var trail auditView
			if err := server.call(http.MethodGet, "/hookonce/audit", query, nil, &trail); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), trail)
			}
			return printAudit(cmd, trail.Audit)
		},
	}
	server.add(cmd)
	cmd.Flags().IntVar(&limit, "limit", store.DefaultLimit, "At most so many")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON")
	return cmd
}

func printAudit(cmd *cobra.Command, trail []store.AuditEntry) error {
	if len(trail) == 0 {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), "Nobody has decided anything yet.")
		return err
	}
	rows := [][]string{{"TIME", "ID", "ROUTE", "ACTION", "CHANGE", "ACTOR", "REASON"}}
	for _, e := range trail {
		rows = append(rows, []string{
			localTime(e.At), firstBytes(e.ID, minPrefix), visible(e.Source), actionOf(&e),
			e.From + " to " + e.To, visible(e.Actor), visible(e.Why),
		})
	}
	return printTable(cmd.OutOrStdout(), rows)
}
