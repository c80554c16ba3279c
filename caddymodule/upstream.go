// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"time"

	"github.com/hookonce/hookonce/caddymodule/forward"
)

// forwarder makes our own way to the app.
func (u *Upstream) forwarder() (*forward.Forwarder, error) {
	conf := forward.Config{
		Addresses:   u.Addresses,
		DialTimeout: time.Duration(u.DialTimeout),
		KeepAlive:   time.Duration(u.KeepAlive),
	}
	if u.TLSServerName != "" || u.TLSTrustPool != "" || u.TLSInsecureSkipVerify {
		conf.TLS = &tls.Config{
			ServerName:         u.TLSServerName,
			InsecureSkipVerify: u.TLSInsecureSkipVerify, //nolint:gosec // the operator asked for it
			MinVersion:         tls.VersionTLS12,
		}
	}
	if u.TLSTrustPool != "" {
		pem, err := os.ReadFile(u.TLSTrustPool)
		if err != nil {
			return nil, fmt.Errorf("upstream: tls_trust_pool: %w", err)
		}
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("upstream: tls_trust_pool %s holds no PEM certificate", u.TLSTrustPool)
		}
		conf.TLS.RootCAs = pool
	}
	return forward.New(conf)
}
