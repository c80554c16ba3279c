// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/caddymodule/store"
	"github.com/hookonce/hookonce/caddymodule/store/badgerstore"
)

// repairLog is where the reasons of repairs are kept: the audit trail itself
// lives in the store that cannot be opened.
const repairLog = "repairs.log"

type storeFlags struct {
	dir, keyFile, reason, actor string
}

func storeCommand() *cobra.Command {
	var f storeFlags
	cmd := &cobra.Command{
		Use:   "store <command>",
		Short: "Checks or repairs the store of a server that does not run",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	check := &cobra.Command{
		Use:   "check [--dir <dir>] [--encryption-key-file <file>]",
		Short: "Reads the whole store, and says what is wrong with it",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return f.check(cmd.Context(), cmd.OutOrStdout()) },
	}
	check.Flags().StringVar(&f.keyFile, "encryption-key-file", "", "File with the 64 hex digits of encryption_key")
	reset := &cobra.Command{
		Use:   `reset [--dir <dir>] --reason "..." [--actor <name>]`,
		Short: "Moves the store aside, so that the next start begins with an empty one",
		Long: `
Renames the directory of the store. Nothing is deleted, but nothing that was seen
before is recognised any more: a delivery that the provider repeats counts as the
first, and what waited for a decision is in the old directory alone.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.reset(cmd.Context(), cmd.OutOrStdout()) },
	}
	accept := &cobra.Command{
		Use:   `accept-loss [--dir <dir>] --reason "..." [--actor <name>]`,
		Short: "Lets a store be opened that has lost its newest records",
		Long: `
For a store whose newest records are gone, for example after a restore from a
backup: it is opened with those that it still has. Deliveries that were lost count
as the first when they come again.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.acceptLoss(cmd.Context(), cmd.OutOrStdout()) },
	}
	for _, c := range []*cobra.Command{reset, accept} {
		c.Flags().StringVar(&f.reason, "reason", "", "Why (required); kept in "+repairLog+" in the directory")
		c.Flags().StringVar(&f.actor, "actor", localActor(), "Who decides")
	}
	for _, c := range []*cobra.Command{check, reset, accept} {
		c.Flags().StringVar(&f.dir, "dir", filepath.Join(caddy.AppDataDir(), "hookonce"), "Directory of the store")
	}
	cmd.AddCommand(check, reset, accept)
	return cmd
}

func (f *storeFlags) check(ctx context.Context, out io.Writer) error {
	if err := f.exists(); err != nil {
		return err
	}
	o := badgerstore.NewOptions(f.dir)
	o.Ballast = -1 // nothing is to be made
	if f.keyFile != "" {
		text, err := os.ReadFile(f.keyFile)
		if err != nil {
			return fmt.Errorf("--encryption-key-file: %w", err)
		}
		if o.EncryptionKey, err = hex.DecodeString(strings.TrimSpace(string(text))); err != nil || len(o.EncryptionKey) != 32 {
			return errors.New("--encryption-key-file: want 64 hex digits")
		}
	}
	r, err := badgerstore.Check(ctx, o)
	if err != nil {
		return f.explain(err)
	}
	s := r.Open
	_, err = fmt.Fprintf(out, "The store %s is sound: %d tables, %.1f MiB.\nOpen deliveries: %d ready, %d running, %d uncertain, %d held.\n",
		f.dir, r.Tables, float64(r.Bytes)/(1<<20), s.Ready, s.Running, s.Uncertain, s.Held)
	return err
}

func (f *storeFlags) reset(ctx context.Context, out io.Writer) error {
	if err := f.decided("reset"); err != nil {
		return err
	}
	now := time.Now()
	to, err := badgerstore.SetAside(ctx, f.dir, now)
	if err != nil {
		return f.explain(err)
	}
	if err := f.note(to, "reset", now); err != nil {
		return fmt.Errorf("the store is set aside as %s, but the reason could not be written: %w", to, err)
	}
	_, err = fmt.Fprintf(out, "The store is set aside as %s. The next start begins with an empty one.\n", to)
	return err
}

func (f *storeFlags) acceptLoss(ctx context.Context, out io.Writer) error {
	if err := f.decided("accept-loss"); err != nil {
		return err
	}
	if err := badgerstore.AcceptLoss(ctx, f.dir); err != nil {
		return f.explain(err)
	}
	if err := f.note(f.dir, "accept-loss", time.Now()); err != nil {
		return fmt.Errorf("the loss is accepted, but the reason could not be written: %w", err)
	}
	_, err := fmt.Fprintf(out, "The store %s can be opened with the records that it still has.\n", f.dir)
	return err
}

// decided checks what a repair needs before it touches anything.
func (f *storeFlags) decided(what string) error {
	if strings.TrimSpace(f.reason) == "" {
		return fmt.Errorf("a repair needs a reason, for whoever asks later: %s webhook store %s --dir %s --reason \"...\"",
			programName(), what, shellWord(f.dir))
	}
	return f.exists()
}

// exists keeps a mistyped directory from being taken for an empty store.
func (f *storeFlags) exists() error {
	if _, err := os.Stat(filepath.Join(f.dir, "MANIFEST")); err == nil {
		return nil
	}
	names, err := os.ReadDir(f.dir)
	if err != nil {
		return fmt.Errorf("there is no store: %w; say where it is with --dir", err)
	}
	for _, n := range names {
		switch filepath.Ext(n.Name()) {
		case ".sst", ".mem", ".vlog": // a store that has lost its list of tables
			return nil
		}
	}
	return fmt.Errorf("there is no store in %s; say where it is with --dir", f.dir)
}

func (f *storeFlags) explain(err error) error {
	if errors.Is(err, store.ErrLocked) {
		return fmt.Errorf("a server uses the store %s: stop it first", f.dir)
	}
	return err
}

// note writes down who did what, and why, one line for each repair.
func (f *storeFlags) note(dir, what string, now time.Time) error {
	file, err := os.OpenFile(filepath.Join(dir, repairLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%s %s by %s: %s\n", now.UTC().Format(time.RFC3339), what,
		strconv.QuoteToGraphic(f.actor), strconv.QuoteToGraphic(f.reason))
	return errors.Join(err, file.Sync(), file.Close())
}
