// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

// Command moduleproxy stands before the configured Go module proxy and says for
// one module path that it does not exist. The go command asks for every prefix
// of a package path, also when a replacement holds the package; a proxy that
// answers 403 instead of 404 for what it does not know ends the build.
//
//	moduleproxy <module path> <file for its address>
package main

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "moduleproxy:", err)
		os.Exit(1)
	}
}

func run(module, addressFile string) error {
	out, err := exec.Command("go", "env", "GOPROXY").Output()
	if err != nil {
		return fmt.Errorf("go env: %w", err)
	}
	upstream, _, _ := strings.Cut(strings.TrimSpace(string(out)), ",")
	upstream, _, _ = strings.Cut(upstream, "|")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(addressFile, []byte("http://"+listener.Addr().String()), 0o600); err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/"+module) {
			http.NotFound(w, r)
			return
		}
		http.Redirect(w, r, strings.TrimSuffix(upstream, "/")+r.URL.EscapedPath(), http.StatusFound)
	})}
	return server.Serve(listener)
}
