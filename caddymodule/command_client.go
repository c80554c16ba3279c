// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"

	caddycmd "github.com/caddyserver/caddy/v2/cmd"
	"github.com/spf13/cobra"
)

// serverFlags say where the running server is, as for Caddy's own commands.
type serverFlags struct{ address, config, adapter string }

func (f *serverFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.address, "address", "", "The address of the running server's admin endpoint")
	cmd.Flags().StringVarP(&f.config, "config", "c", "", "Configuration file to read that address from")
	cmd.Flags().StringVarP(&f.adapter, "adapter", "a", "", "Name of the adapter for that file")
}

// repeat are the flags as they were given, for commands to copy.
func (f *serverFlags) repeat() string {
	var b strings.Builder
	for _, flag := range []struct{ name, value string }{
		{"--address", f.address}, {"--config", f.config}, {"--adapter", f.adapter},
	} {
		if flag.value != "" {
			b.WriteString(" " + flag.name + " " + shellWord(flag.value))
		}
	}
	return b.String()
}

// command is a command to copy.
func (f *serverFlags) command(words ...string) string {
	return programName() + " webhook " + strings.Join(words, " ") + f.repeat()
}

// call asks the running server. in is the body, nil for none; out takes the
// answer.
func (f *serverFlags) call(method, path string, query url.Values, in, out any) error {
	address, err := caddycmd.DetermineAdminAPIAddress(f.address, nil, f.config, f.adapter)
	if err != nil {
		return fmt.Errorf("where the server is cannot be read from the configuration: %w; name it with --address", err)
	}
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	resp, err := caddycmd.AdminAPIRequest(address, method, path, nil, body)
	if err != nil {
		return explainAdmin(address, err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("the answer of the server at %s cannot be read: %w", address, err)
	}
	return nil
}

// explainAdmin turns an error of Caddy's client, which is text, into one that
// says the cure.
func explainAdmin(address string, err error) error {
	text := err.Error()
	_, said, answered := strings.Cut(text, "caddy responded with error: HTTP ")
	if !answered {
		if strings.Contains(text, "invalid admin address") {
			return errors.New(text)
		}
		return fmt.Errorf("no server answers at %s: start it, or say where its admin endpoint is with --address <host:port>, "+
			"or with --config <file> (%s)", address, lastPart(text))
	}
	var apiErr struct {
		Error string `json:"error"`
	}
	status, message, _ := strings.Cut(said, ": ")
	if json.Unmarshal([]byte(message), &apiErr) == nil && apiErr.Error != "" {
		return errors.New(apiErr.Error)
	}
	if status == "404" {
		return fmt.Errorf("the server at %s has no hookonce in it: name the right one with --address", address)
	}
	return fmt.Errorf("the server at %s answered %s: %s", address, status, visible(strings.TrimSpace(message)))
}

// lastPart is the cause at the end of a chain of errors.
func lastPart(text string) string {
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return visible(text)
}

// deliveryPath is the path of a delivery in the admin API.
func deliveryPath(id string, more ...string) string {
	path := "/hookonce/deliveries/" + url.PathEscape(id)
	return strings.Join(append([]string{path}, more...), "/")
}
