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
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/caddymodule/store"
)

type listFlags struct {
	serverFlags
	states                []string
	route, reason, search string
	all, asJSON, quiet    bool
	limit                 int
}

func listCommand() *cobra.Command {
	var f listFlags
	cmd := &cobra.Command{
		Use:   "list [--state <state>] [--route <name>] [--reason <reason>] [--search <text>] [--all] [--limit <n>] [--json | --quiet]",
		Short: "Lists deliveries that are not settled",
		Long: `
Lists the deliveries that are not settled, oldest first: ready (not done),
running, uncertain (nobody knows), held (a decision is needed).

To decide about many at once:
  hookonce webhook list --state uncertain --quiet | xargs hookonce webhook confirm --reason "..."`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.OutOrStdout()) },
	}
	f.add(cmd)
	cmd.Flags().StringSliceVar(&f.states, "state", nil, "Only these: ready, running, uncertain, held, confirmed, dropped")
	cmd.Flags().StringVar(&f.route, "route", "", "Only of this route")
	cmd.Flags().StringVar(&f.reason, "reason", "", "Only with this reason, such as owner_lost")
	cmd.Flags().StringVar(&f.search, "search", "", "Only with this text in the ID, the delivery ID or the event ID")
	cmd.Flags().BoolVar(&f.all, "all", false, "Settled deliveries too, in no order; reads the whole store")
	cmd.Flags().IntVar(&f.limit, "limit", store.DefaultLimit, "At most so many")
	cmd.Flags().BoolVar(&f.asJSON, "json", false, "Print JSON")
	cmd.Flags().BoolVarP(&f.quiet, "quiet", "q", false, "Print the IDs alone, one a line")
	cmd.MarkFlagsMutuallyExclusive("json", "quiet")
	return cmd
}

func (f *listFlags) run(out io.Writer) error {
	if f.limit < 1 {
		return fmt.Errorf("--limit %d: want at least 1", f.limit)
	}
	list, err := f.fetch()
	if err != nil {
		return err
	}
	switch {
	case f.asJSON:
		return printJSON(out, list)
	case f.quiet:
		var b bytes.Buffer
		for _, d := range list.Deliveries {
			b.WriteString(d.ID + "\n")
		}
		return printText(out, &b)
	}
	return f.table(out, list)
}

// fetch reads as many pages as the limit asks for.
func (f *listFlags) fetch() (listView, error) {
	query := url.Values{}
	for name, value := range map[string]string{
		"state": strings.Join(f.states, ","), "route": f.route, "reason": f.reason, "q": f.search,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if f.all {
		query.Set("all", "true")
	}
	list := listView{Deliveries: []deliveryView{}}
	for {
		query.Set("limit", strconv.Itoa(min(f.limit-len(list.Deliveries), store.MaxLimit)))
		var page listView
		if err := f.call(http.MethodGet, "/hookonce/deliveries", query, nil, &page); err != nil {
			return list, err
		}
		list.Deliveries = append(list.Deliveries, page.Deliveries...)
		list.Cursor = page.Cursor
		if page.Cursor == "" || len(list.Deliveries) >= f.limit {
			return list, nil
		}
		query.Set("cursor", page.Cursor)
	}
}

func (f *listFlags) table(out io.Writer, list listView) error {
	rows := list.Deliveries
	if len(rows) == 0 {
		_, err := fmt.Fprintln(out, f.nothing())
		return err
	}
	slices.SortStableFunc(rows, func(a, b deliveryView) int { return a.Created.Compare(b.Created) })
	now, count := time.Now(), map[string]int{}
	table := [][]string{{"ID", "STATE", "SINCE", "ROUTE", "DELIVERY", "WHY"}}
	for _, d := range rows {
		count[d.State]++
		table = append(table, []string{
			firstBytes(d.ID, minPrefix), d.State, ago(now, d.Since), visible(d.Route),
			shorten(visible(cmp.Or(d.DeliveryID, d.EventID, "-")), 40), visible(d.Why),
		})
	}
	if err := printTable(out, table); err != nil {
		return err
	}
	var sums []string
	for _, state := range slices.Sorted(maps.Keys(count)) {
		sums = append(sums, fmt.Sprintf("%d %s", count[state], state))
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "\n%s. What can be done about one: %s\n", strings.Join(sums, ", "),
		f.command("show", firstBytes(rows[0].ID, minPrefix)))
	if list.Cursor != "" {
		fmt.Fprintf(&b, "There are more: --limit %d shows them.\n", 10*f.limit)
	}
	return printText(out, &b)
}

func (f *listFlags) nothing() string {
	if len(f.states) > 0 || f.route != "" || f.reason != "" || f.search != "" {
		if f.all {
			return "No delivery is like that."
		}
		return "No open delivery is like that. Settled ones are shown with --all."
	}
	if f.all {
		return "No delivery is remembered."
	}
	return "No delivery is open: nothing waits for you. Settled ones are shown with --all."
}
