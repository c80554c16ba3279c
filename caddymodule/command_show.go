// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func showCommand() *cobra.Command {
	var server serverFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show <id> [--json]",
		Short: "Shows one delivery, and what can be done about it",
		Long: `
Shows all that is known about a delivery, except its body, and the commands that
can be given now. It is named by its ID, by the first 8 or more digits of that,
or by the provider's own delivery or event ID.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("want one ID; %s shows those of the open deliveries", server.command("list"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var d showView
			if err := server.call(http.MethodGet, deliveryPath(args[0]), nil, nil, &d); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), d)
			}
			return printDelivery(cmd.OutOrStdout(), &d, &server, time.Now())
		},
	}
	server.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON")
	return cmd
}

func printDelivery(out io.Writer, d *showView, server *serverFlags, now time.Time) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Delivery %s\nis %s since %s (%s): %s.\n\n", d.ID, d.State, localTime(d.Since), ago(now, d.Since), visible(d.Why))
	if err := printTable(&b, deliveryRows(d)); err != nil {
		return err
	}
	writeRequest(&b, d)
	b.WriteString("\nHistory\n")
	for _, f := range d.Timeline {
		fmt.Fprintf(&b, "  %s  %s\n", localTime(f.At), visible(f.What))
	}
	writeNext(&b, d, server)
	return printText(out, &b)
}

// deliveryRows are the facts that are there, each with its name.
func deliveryRows(d *showView) (rows [][]string) {
	add := func(name, value string) {
		if value != "" {
			rows = append(rows, []string{"  " + name, visible(value)})
		}
	}
	route := d.Route
	if d.Provider != "" && d.Provider != d.Route {
		route += ", provider " + d.Provider
	}
	add("route", route)
	add("sender", d.Sender)
	add("delivery ID", d.DeliveryID)
	add("event ID", d.EventID)
	add("reason", d.Reason)
	add("identity", fmt.Sprintf("%s (confidence %s)", d.Strength, d.Confidence))
	add("verified by", "secret "+cmp.Or(d.Secret, "-"))
	if d.Seen == 1 {
		add("seen", "once, "+localTime(d.Created))
	} else {
		add("seen", fmt.Sprintf("%d times, first %s, last %s", d.Seen, localTime(d.Created), localTime(d.LastSeen)))
	}
	attempts := fmt.Sprintf("%d", d.Attempts)
	if d.Attempts > 0 {
		attempts += ", last " + localTime(d.SentAt)
	}
	if d.UpstreamStatus != 0 {
		attempts += fmt.Sprintf(", the app answered with status %d", d.UpstreamStatus)
	}
	add("attempts", attempts)
	if d.Owed {
		add("owed", "yes: the provider was told 2xx, so it does not come again by itself")
	}
	if d.MayRepeat {
		add("may repeat", "yes: it was decided that the app may do it twice")
	}
	if d.Peer != "" {
		add("compare with", d.Peer)
	}
	add("app's reference", d.ExternalRef)
	add("rationale", d.Rationale)
	if !d.Expires.IsZero() {
		add("remembered until", localTime(d.Expires))
	}
	return rows
}

func writeRequest(out *bytes.Buffer, d *showView) {
	out.WriteString("\nRequest\n")
	r := d.Request
	if r == nil {
		fmt.Fprintf(out, "  %s\n", visible(d.RequestProblem))
		return
	}
	query := ""
	if len(r.Query) > 0 {
		query = " with the query " + strings.Join(r.Query, ", ")
	}
	fmt.Fprintf(out, "  %s\n", visible(fmt.Sprintf("%s %s%s, host %s", r.Method, r.Path, query, r.Host)))
	for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
		for _, value := range r.Headers[name] {
			fmt.Fprintf(out, "  %s\n", shorten(visible(name+": "+value), 160))
		}
	}
	fmt.Fprintf(out, "  body of %d bytes, SHA-256 %s\n", r.BodySize, r.BodySHA256)
}

// advice is when to take an action.
func advice(action, state string) string {
	switch {
	case action == actConfirm:
		return "The app did it (you looked there): nothing is sent."
	case action == actRetry && state == "uncertain":
		return "The app did not do it, or may do it twice: send it now."
	case action == actRetry:
		return "Send it now."
	case action == actRelease:
		return "It is an event of its own: send it now."
	case action == actDrop:
		return "It must not be sent (add --duplicate-of <id> when it repeats another)."
	default:
		return "Forget it: its next delivery counts as the first, and is forwarded."
	}
}

// writeNext says what can be done, with the commands to copy.
func writeNext(out *bytes.Buffer, d *showView, server *serverFlags) {
	if len(d.Can) == 0 {
		out.WriteString("\nNothing can be done at this moment: wait until the attempt ends.\n")
		return
	}
	out.WriteString("\nWhat you can do\n")
	for _, action := range d.Can {
		fmt.Fprintf(out, "  %s\n", advice(action, d.State))
		if d.CannotSend != "" && (action == actRetry || action == actRelease) {
			fmt.Fprintf(out, "      not possible now: %s\n", visible(d.CannotSend))
			continue
		}
		fmt.Fprintf(out, "      %s\n", server.command(action, firstBytes(d.ID, minPrefix), `--reason "..."`))
	}
}
