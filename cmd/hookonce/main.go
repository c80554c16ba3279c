// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Command hookonce is Caddy with the hookonce module and every standard module
// compiled in. It takes the same commands as caddy ("run", "reload",
// "validate" ...) and adds "webhook".
package main

import (
	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	_ "github.com/caddyserver/caddy/v2/modules/standard"

	_ "github.com/hookonce/hookonce/caddymodule"
)

func main() {
	caddycmd.Main()
}
