package caddymodule

import (
	_ "github.com/caddyserver/caddy/v2"
	_ "github.com/dgraph-io/badger/v4"
	_ "github.com/dustin/go-humanize"
	_ "github.com/prometheus/client_golang/prometheus"
	_ "github.com/spf13/cobra"
	_ "go.uber.org/zap"
	_ "golang.org/x/sys/unix"
	_ "golang.org/x/time/rate"
	_ "pgregory.net/rapid"
)
