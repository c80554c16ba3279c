// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"time"
)

// upstreamCommand makes hookbench run itself as the upstream, so that its CPU
// time is not mixed with that of the load generator.
const upstreamCommand = "internal-upstream"

// runUpstream is the app behind proxy and sidecar: it reads the body and
// answers 200, as cheaply as net/http does.
func runUpstream(addr string) error {
	srv := &http.Server{
		Addr:              addr,
		ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				w.WriteHeader(http.StatusBadRequest)
			}
		}),
	}
	return srv.ListenAndServe()
}
