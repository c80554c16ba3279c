// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// target is one address of the app with its own pool of connections.
type target struct {
	addr      address
	dialer    *dialer
	transport *http.Transport
	request   *http.Request // template: copied, then filled in
	downUntil atomic.Int64  // unix nanoseconds until which it is tried last
}

func newTarget(addr address, c Config) *target {
	if addr.scheme == "http" && c.speaks("h2c") {
		addr.h2c = true
	}
	d := &dialer{
		Dialer:  net.Dialer{Timeout: c.DialTimeout},
		addr:    addr,
		timeout: c.DialTimeout,
	}
	t := &http.Transport{
		DialContext:            d.plain,
		DialTLSContext:         d.secure,
		DisableCompression:     true, // Accept-Encoding stays the provider's
		DisableKeepAlives:      c.KeepAlive < 0,
		MaxIdleConnsPerHost:    c.IdleConns,
		MaxConnsPerHost:        c.MaxConns,
		IdleConnTimeout:        max(c.KeepAlive, 0),
		MaxResponseHeaderBytes: c.MaxResponseHeader,
		WriteBufferSize:        writeBuffer,
		Protocols:              new(http.Protocols),
		// A connection whose peer has vanished must not take request after
		// request with it.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 5 * time.Second},
	}
	switch {
	case addr.h2c:
		t.Protocols.SetUnencryptedHTTP2(true)
	case addr.scheme == "https":
		t.Protocols.SetHTTP1(c.speaks("1.1"))
		t.Protocols.SetHTTP2(c.speaks("2"))
		d.tls = tlsConfig(addr, c)
	default:
		t.Protocols.SetHTTP1(true)
	}
	host := addr.dial
	if addr.network == "unix" {
		host = addr.host
	}
	return &target{
		addr:      addr,
		dialer:    d,
		transport: t,
		request: &http.Request{
			URL:        &url.URL{Scheme: addr.scheme, Host: host},
			Proto:      "HTTP/1.1",
			ProtoMajor: 1,
			ProtoMinor: 1,
		},
	}
}

func tlsConfig(addr address, c Config) *tls.Config {
	conf := &tls.Config{}
	if c.TLS != nil {
		conf = c.TLS.Clone()
	}
	if conf.ServerName == "" {
		conf.ServerName = addr.host
	}
	if conf.ClientSessionCache == nil {
		// Connections are short-lived, see DefaultKeepAlive.
		conf.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	conf.NextProtos = nil
	if c.speaks("2") {
		conf.NextProtos = append(conf.NextProtos, "h2")
	}
	if c.speaks("1.1") {
		conf.NextProtos = append(conf.NextProtos, "http/1.1")
	}
	return conf
}
