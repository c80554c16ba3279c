// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookonce/hookonce/caddymodule/verify"
)

type sendFlags struct {
	makeFlags
	repeat              int
	parallel, newIDEach bool
	insecure            bool
	tamper              string
	timeout             time.Duration
}

func sendCommand() *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{
		Use:   "send --provider <name> --secret <secret> [--repeat <n>] [--parallel] [--new-id-each] [--tamper body|signature|timestamp] <url>",
		Short: "Sends correctly signed deliveries, or ones that are wrong on purpose",
		Long: `
Makes a delivery as the provider would and sends it. Each run is a new event, and
all its repeats are the same one, signed anew as providers do. One line is printed
for each: what became of it (the header Hookonce-Status), the HTTP status, and the
time it took. The exit code is 1 when any answer is not 2xx.

  hookonce webhook send --provider github --secret demo-secret --repeat 3 http://127.0.0.1:8080/github`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	f.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.url, "url", "", "The URL as the provider knows it, for providers that sign it (default: the one it is sent to)")
	fl.IntVarP(&f.repeat, "repeat", "n", 1, "How many times to send it")
	fl.BoolVar(&f.parallel, "parallel", false, "Send all at the same moment")
	fl.BoolVar(&f.newIDEach, "new-id-each", false, "Each is an event of its own, instead of a repeat")
	fl.StringVar(&f.tamper, "tamper", "none", "Spoil each after signing: body, signature, timestamp or none")
	fl.BoolVar(&f.insecure, "insecure", false, "Accept any certificate")
	fl.DurationVar(&f.timeout, "timeout", 70*time.Second, "How long to wait for an answer")
	return cmd
}

func (f *sendFlags) run(cmd *cobra.Command, target string) error {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%q is no address to send to: want one such as http://127.0.0.1:8080/github", target)
	}
	if f.repeat < 1 {
		return fmt.Errorf("--repeat %d: want at least 1", f.repeat)
	}
	m, err := f.maker(cmd.InOrStdin(), cmp.Or(f.url, target))
	if err != nil {
		return err
	}
	deliveries, err := f.deliveries(m)
	if err != nil {
		return err
	}
	s := sender{target: target, timeout: f.timeout, client: f.client()}
	failed, err := s.all(cmd.Context(), cmd.OutOrStdout(), deliveries, f.parallel)
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d of %d got no 2xx", failed, f.repeat)
	}
	return err
}

// makeDelivery makes one delivery at the moment when it is to be sent.
type makeDelivery func() (*verify.Request, error)

func (f *sendFlags) deliveries(m *maker) ([]makeDelivery, error) {
	spoil, err := tamperer(f.tamper, m)
	if err != nil {
		return nil, err
	}
	if f.newIDEach && m.id != "" {
		return nil, errors.New("--new-id-each and --id exclude each other")
	}
	if f.newIDEach && m.data != nil && m.preset.Scheme.ID.IsZero() {
		return nil, fmt.Errorf("--new-id-each: %s", idPlace(m.preset))
	}
	list := make([]makeDelivery, f.repeat)
	var e *event
	for i := range list {
		if e == nil || f.newIDEach {
			if e, err = m.newEvent(); err != nil {
				return nil, err
			}
		}
		mine := e
		list[i] = func() (*verify.Request, error) {
			r, err := m.sign(mine)
			if err != nil {
				return nil, err
			}
			return spoil(r, mine)
		}
	}
	return list, nil
}

// client neither follows redirects nor sends anything twice by itself.
func (f *sendFlags) client() *http.Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = max(1, f.repeat)
	if f.insecure {
		t.TLSClientConfig = &tls.Config{InsecureSkipVerify: true} //nolint:gosec // asked for
	}
	return &http.Client{
		Transport:     t,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// sender sends deliveries to one address.
type sender struct {
	target  string
	timeout time.Duration
	client  *http.Client
}

// all sends the deliveries and prints a line for each, in their order. It
// returns how many got no 2xx.
func (s *sender) all(ctx context.Context, out io.Writer, deliveries []makeDelivery, parallel bool) (failed int, err error) {
	lines, ok := make([]string, len(deliveries)), make([]bool, len(deliveries))
	var wg sync.WaitGroup
	for i, d := range deliveries {
		if parallel {
			wg.Go(func() { lines[i], ok[i] = s.one(ctx, d) })
			continue
		}
		lines[i], ok[i] = s.one(ctx, d)
		_, wrong := fmt.Fprintln(out, lines[i])
		err = errors.Join(err, wrong)
	}
	wg.Wait()
	for i := range lines {
		if parallel {
			_, wrong := fmt.Fprintln(out, lines[i])
			err = errors.Join(err, wrong)
		}
		if !ok[i] {
			failed++
		}
	}
	return failed, err
}

// one sends a delivery and returns its line, and whether the answer is a 2xx.
func (s *sender) one(ctx context.Context, d makeDelivery) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	r, err := d()
	if err != nil {
		return "error          " + err.Error(), false
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, s.target, nil)
	if err != nil {
		return "error          " + err.Error(), false
	}
	// GetBody stays nil: with it and an Idempotency-Key, net/http would send twice.
	req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(r.Body)), int64(len(r.Body))
	req.Header = r.Header
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "hookonce-webhook-send")
	}
	began := time.Now()
	resp, err := s.client.Do(req)
	if err != nil {
		return fmt.Sprintf("%-14s %s", "no-answer", lastPart(err.Error())), false
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	word := visible(cmp.Or(resp.Header.Get(statusHeader), "-"))
	line := fmt.Sprintf("%-14s %d  %s", word, resp.StatusCode, time.Since(began).Round(10*time.Microsecond))
	if err != nil {
		return line + "  answer cut off: " + lastPart(err.Error()), false
	}
	return line, resp.StatusCode/100 == 2
}
