// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
)

// secretVariable hands the signing secret to Caddy.
const secretVariable = "HOOKBENCH_SECRET"

// proxyCaddyfile is the baseline: a bare reverse_proxy that keeps as many idle
// connections as we drive (Caddy's default of 32 would churn), and beside it a
// site that answers by itself, the floor of what a request costs in Caddy.
func proxyCaddyfile(proxy, respond, upstream, logLevel string) string {
	return global("", logLevel) + fmt.Sprintf(`
http://%s {
	reverse_proxy %s {
		transport http {
			keepalive_idle_conns_per_host 256
		}
	}
}

http://%s {
	respond 200
}
`, proxy, upstream, respond)
}

// sidecar is what the configuration of a sidecar depends on.
type sidecar struct {
	listen, upstream string
	store            string // directory
	sync             string // on, off
	provider         string
	directives       []string // further lines of the handler's block
	logLevel         string
}

func (s sidecar) caddyfile() string {
	store := fmt.Sprintf("\thookonce {\n\t\tstore badger %q {\n\t\t\tsync %s\n\t\t}\n\t}\n", s.store, s.sync)
	var more strings.Builder
	for _, line := range s.directives {
		fmt.Fprintf(&more, "\t\t%s\n", line)
	}
	return global(store, s.logLevel) + fmt.Sprintf(`
http://%s {
	hookonce %s {
		secret {env.%s}
		upstream %s
%s	}
}
`, s.listen, s.provider, secretVariable, s.upstream, more.String())
}

// global is the block of global options.
func global(more, logLevel string) string {
	if logLevel != "" {
		more += fmt.Sprintf("\tlog {\n\t\tlevel %s\n\t}\n", logLevel)
	}
	return "{\n\tadmin off\n" + more + "}\n"
}
