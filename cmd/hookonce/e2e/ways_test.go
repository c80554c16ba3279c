// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import "fmt"

// way is one of the three ways to the app.
type way struct {
	name   string
	inside string // lines of the hookonce block, with %s for the app
	after  string // a directive behind it, with %s for matcher and app
}

var ways = []way{
	{"upstream", "upstream %s", ""},
	{"forward", "forward {\n\t\treverse_proxy %s\n\t}", ""},
	{"next", "", "reverse_proxy %s %s"},
}

// route writes the route of a provider at a path, by this way to an app.
func (w way) route(path, provider, app string, lines ...string) string {
	lines = append([]string{}, lines...)
	if w.inside != "" {
		lines = append(lines, fmt.Sprintf(w.inside, app))
	}
	text := Route(path, provider, lines...)
	if w.after != "" {
		text += fmt.Sprintf(w.after, path, app) + "\n"
	}
	return text
}
