// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Defaults of [Config].
const (
	DefaultDialTimeout = 3 * time.Second
	// DefaultKeepAlive is below the 5 s after which Node.js and Gunicorn close
	// an idle connection; a request on a connection that is just being closed
	// ends in "nobody knows" (caddyserver/caddy#6452).
	DefaultKeepAlive         = 4 * time.Second
	DefaultIdleConns         = 256
	DefaultKeepBody          = 1 << 20
	DefaultMaxAnswer         = 64 << 20
	DefaultMaxResponseHeader = 1 << 20

	// writeBuffer takes the head and the body of a usual delivery in one write.
	writeBuffer = 32 << 10
)

// Config says where the app is and how to talk to it. Only Addresses is needed.
type Config struct {
	// Addresses of the app: host:port, http://…, https://…, h2c://…,
	// unix//run/app.sock or unix+h2c//run/app.sock. The next one is tried only when it is
	// proven that the one before received nothing.
	Addresses []string

	// Versions of HTTP to speak: 1.1, 2 (over TLS), h2c. Default: 1.1 and 2.
	Versions []string

	// TLS is the base of the TLS settings for https addresses; it is cloned. An
	// empty ServerName means the host of the address.
	TLS *tls.Config

	DialTimeout time.Duration // for a connection, and again for the TLS handshake; default 3 s
	KeepAlive   time.Duration // how long an idle connection is kept; default 4 s, negative: not at all
	IdleConns   int           // idle connections kept per address; default 256
	MaxConns    int           // connections per address; default 0, no limit

	KeepBody          int   // answer bytes kept in memory; default 1 MiB
	MaxAnswer         int64 // answer bytes read in all; default 64 MiB
	MaxResponseHeader int64 // bytes of an answer's head; default 1 MiB

	Now func() time.Time // clock for Retry-After dates and addresses that are down; default time.Now
}

// withDefaults returns the configuration with every unset field filled in.
func (c Config) withDefaults() Config {
	if len(c.Versions) == 0 {
		c.Versions = []string{"1.1", "2"}
	}
	setDefault(&c.DialTimeout, DefaultDialTimeout)
	setDefault(&c.KeepAlive, DefaultKeepAlive)
	setDefault(&c.IdleConns, DefaultIdleConns)
	setDefault(&c.KeepBody, DefaultKeepBody)
	setDefault(&c.MaxAnswer, DefaultMaxAnswer)
	setDefault(&c.MaxResponseHeader, DefaultMaxResponseHeader)
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func setDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

func (c Config) validate() error {
	if len(c.Addresses) == 0 {
		return errors.New("no upstream address")
	}
	for _, v := range c.Versions {
		if v != "1.1" && v != "2" && v != "h2c" {
			return fmt.Errorf("unknown HTTP version %q (known: 1.1, 2, h2c)", v)
		}
	}
	return nil
}

func (c Config) speaks(version string) bool { return slices.Contains(c.Versions, version) }

// address is one parsed upstream address.
type address struct {
	text    string // as configured, for people
	network string // tcp or unix
	dial    string // host:port or the path of a socket
	scheme  string // http or https, as net/http knows them
	host    string // host name, for TLS
	h2c     bool
}

// parseAddress reads the forms that reverse_proxy knows, without placeholders
// and port ranges.
func parseAddress(s string) (address, error) {
	a := address{text: s, network: "tcp", scheme: "http"}
	network, path, _ := strings.Cut(s, "/")
	if network == "unix" || network == "unix+h2c" {
		if path == "" {
			return a, fmt.Errorf("upstream %q: no path of a socket after %s/", s, network)
		}
		a.network, a.dial, a.host, a.h2c = "unix", path, "localhost", network == "unix+h2c"
		return a, nil
	}
	hostport := s
	if strings.Contains(s, "://") {
		if i := strings.LastIndexByte(s, '@'); i >= 0 {
			return a, fmt.Errorf("upstream %q: no user and password here", "…"+s[i:])
		}
		u, err := url.Parse(s)
		if err != nil {
			return a, fmt.Errorf("upstream %q: %w", s, errors.Unwrap(err))
		}
		if u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
			return a, fmt.Errorf("upstream %q: only scheme, host and port are possible here", s)
		}
		if u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "h2c" {
			return a, fmt.Errorf("upstream %q: unknown scheme %q (known: http, https, h2c)", s, u.Scheme)
		}
		hostport, a.h2c = u.Host, u.Scheme == "h2c"
		if u.Scheme == "https" {
			a.scheme = "https"
		}
	}
	return a.withHostPort(hostport)
}

// withHostPort adds where to dial. The port follows from the scheme when it is
// missing, and an empty host is this machine.
func (a address) withHostPort(hostport string) (address, error) {
	usual := map[string]string{"http": "80", "https": "443"}
	host, port, err := net.SplitHostPort(hostport)
	if err != nil && hostport != "" { // perhaps only the port is missing
		host, port, err = net.SplitHostPort(hostport + ":" + usual[a.scheme])
	}
	if err != nil || !isHost(host) {
		return a, fmt.Errorf("upstream %q: not a host and port", a.text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return a, fmt.Errorf("upstream %q: not a port: %q", a.text, port)
	}
	if a.scheme == "http" && port == "443" || a.scheme == "https" && port == "80" {
		return a, fmt.Errorf("upstream %q: port %s does not go with %s://", a.text, port, a.scheme)
	}
	if host == "" {
		host = "localhost"
	}
	a.host, a.dial = host, net.JoinHostPort(host, port)
	return a, nil
}

// isHost reports whether a host is empty, an IP address or a name. Underscores
// are common in the names of containers.
func isHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return !strings.ContainsFunc(host, func(r rune) bool {
		return r != '-' && r != '.' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}
