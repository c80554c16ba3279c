// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Command effectd is a scripted upstream. It writes each effect to a synced
// ledger and then answers, hangs, breaks the connection or dies as told. Put
// it behind a sidecar to see what its promises are worth; see
// "effectd -h" for the behaviours and package oracle for the details.
//
//	effectd -listen 127.0.0.1:9000 -admin 127.0.0.1:9001 -ledger effects.jsonl
//	curl -d '["cut-length", {"status": 503, "times": 2}]' 127.0.0.1:9001/script
//	effectd -check effects.jsonl
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hookonce/hookonce/cmd/effectd/oracle"
)

// exitDied is the status of a process that a behaviour ended, as after kill -9.
const exitDied = 137

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "effectd:", err)
			os.Exit(1)
		}
	}
}

// options are the flags.
type options struct {
	config  oracle.Config
	admin   string
	deflt   string
	script  string
	certOut string
	check   string
	max     int
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	fs := flag.NewFlagSet("effectd", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintf(stderr, "Usage: effectd [flags]\n\n")
		fs.PrintDefaults()
		fmt.Fprintf(stderr, "\nBehaviours, for -default, -script, POST /script, request paths /do/<name>/...,\nand a JSON body's top-level field \"effectd\":\n\n%s", oracle.Help())
		fmt.Fprintf(stderr, "\nAdmin routes: POST /script /default /reset[?ledger=1] /release, GET /ledger /stats.\n")
	}
	fs.StringVar(&o.config.Addr, "listen", "127.0.0.1:9000", "`address` to serve on, or unix//path")
	fs.StringVar(&o.admin, "admin", "", "`address` of the admin routes; empty for none")
	fs.StringVar(&o.config.Ledger, "ledger", "effects.jsonl", "`file` of the ledger, continued if it exists")
	fs.BoolVar(&o.config.NoSync, "no-sync", false, "do not sync the ledger after each effect")
	fs.StringVar(&o.deflt, "default", "ok", "default behaviour: a `name` or JSON")
	fs.StringVar(&o.script, "script", "", "behaviours to begin with: `JSON`, or @file")
	fs.StringVar((*string)(&o.config.TLS), "tls", "", "serve TLS with a certificate that is `good`, expired or wrong-name")
	fs.StringVar(&o.certOut, "cert-out", "", "write the certificate to this `file`, for clients to trust")
	fs.StringVar((*string)(&o.config.HTTP), "http", "", "`2` serves HTTP/2 only, in plain text or with TLS")
	fs.DurationVar(&o.config.IdleTimeout, "idle", 0, "close connections idle for this long; 0 keeps them")
	fs.StringVar(&o.check, "check", "", "read this ledger `file`, report doubled effects and exit")
	fs.IntVar(&o.max, "max", 1, "with -check: how many effects of one delivery are no failure")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	if o.check != "" {
		return check(o.check, o.max, stdout)
	}
	script, err := o.behaviours()
	if err != nil {
		return err
	}
	o.config.Logf = log.New(stderr, "effectd: ", log.LstdFlags).Printf
	o.config.Die = func() { os.Exit(exitDied) }
	srv, err := oracle.Start(o.config)
	if err != nil {
		return err
	}
	srv.Script(script...)
	return errors.Join(serve(ctx, srv, o, stdout), srv.Close())
}

// behaviours fills in the default and reads the script of the flags.
func (o *options) behaviours() ([]oracle.Behaviour, error) {
	b, err := oracle.Named(o.deflt)
	if err != nil {
		list, jsonErr := oracle.ParseScript([]byte(o.deflt))
		if jsonErr != nil || len(list) != 1 {
			return nil, fmt.Errorf("-default: %w", errors.Join(err, jsonErr))
		}
		b = list[0]
	}
	o.config.Default = b
	if o.script == "" {
		return nil, nil
	}
	data := []byte(o.script)
	if o.script[0] == '@' {
		if data, err = os.ReadFile(o.script[1:]); err != nil {
			return nil, fmt.Errorf("-script: %w", err)
		}
	}
	list, err := oracle.ParseScript(data)
	if err != nil {
		return nil, fmt.Errorf("-script: %w", err)
	}
	return list, nil
}

// serve announces the addresses and runs the admin routes until ctx is done.
func serve(ctx context.Context, srv *oracle.Server, o options, stdout io.Writer) error {
	if o.certOut != "" {
		if err := os.WriteFile(o.certOut, srv.RootPEM(), 0o600); err != nil {
			return fmt.Errorf("-cert-out: %w", err)
		}
	}
	fmt.Fprintf(stdout, "listening on %s\n", srv.Addr())
	if o.admin == "" {
		<-ctx.Done()
		return nil
	}
	ln, err := net.Listen("tcp", o.admin)
	if err != nil {
		return fmt.Errorf("-admin: %w", err)
	}
	fmt.Fprintf(stdout, "admin on %s\n", ln.Addr())
	admin := &http.Server{Handler: srv.AdminHandler(), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = admin.Close() })
	defer stop()
	if err := admin.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("admin: %w", err)
	}
	return nil
}

// check reports on a ledger, and fails if a delivery had more than max effects.
func check(path string, max int, stdout io.Writer) error {
	effects, err := oracle.ReadLedger(path)
	if err != nil {
		return err
	}
	report := oracle.Check(effects)
	report.Print(stdout)
	for _, k := range report.Keys {
		if k.Effects > max {
			return fmt.Errorf("%s had %d effects, %d allowed", k.Key, k.Effects, max)
		}
	}
	return nil
}
