// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import (
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// Names of the headers that this program itself sets on the way to the app.
const (
	headerKey     = "Hookonce-Key"
	headerAttempt = "Hookonce-Attempt"
)

// hopByHop reports whether a header, by its canonical name, belongs to one
// connection and not to the message: the list of reverse_proxy.
func hopByHop(name string) bool {
	switch name {
	case "Alt-Svc", "Connection", "Proxy-Connection", "Keep-Alive",
		"Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade":
		return true
	}
	return false
}

// removeHopByHop deletes what belongs to one connection, and what the
// Connection header names as such.
func removeHopByHop(h http.Header) {
	for _, line := range h["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			if name = textproto.TrimString(name); name != "" {
				h.Del(name)
			}
		}
	}
	for name := range h {
		if hopByHop(name) {
			delete(h, name)
		}
	}
}

// ours reports whether a header is in the name space of this program. CGI and
// WSGI apps read Hookonce_Key as the same name as Hookonce-Key.
func ours(name string) bool {
	const space = "hookonce"
	return len(name) > len(space) && strings.EqualFold(name[:len(space)], space) &&
		(name[len(space)] == '-' || name[len(space)] == '_')
}

// header builds the headers that go to the app. Values are shared with the
// received headers and never changed.
func (r *Request) header() http.Header {
	out := make(http.Header, len(r.Header)+8)
	for name, values := range r.Header {
		if !ours(name) {
			out[name] = values
		}
	}
	trailers := acceptsTrailers(out["Te"])
	removeHopByHop(out)
	if trailers {
		out["Te"] = []string{"trailers"}
	}
	// net/http writes these itself, and it is we who have answered Expect.
	delete(out, "Content-Length")
	delete(out, "Host")
	delete(out, "Expect")
	if _, ok := out["User-Agent"]; !ok {
		out["User-Agent"] = nil // keeps net/http from adding its own
	}
	if r.EarlyData {
		out["Early-Data"] = []string{"1"} // RFC 8470
	}
	r.setForwarded(out)
	via := strconv.Itoa(r.ProtoMajor) + "." + strconv.Itoa(r.ProtoMinor) + " Caddy"
	out["Via"] = append(append(make([]string, 0, len(out["Via"])+1), out["Via"]...), via)
	if r.Key != "" {
		out[headerKey] = []string{r.Key}
	}
	if r.Attempt > 0 {
		out[headerAttempt] = []string{strconv.Itoa(r.Attempt)}
	}
	return out
}

// setForwarded sets X-Forwarded-For, -Proto and -Host as reverse_proxy does:
// what a trusted proxy says is kept and continued, anything else is replaced.
func (r *Request) setForwarded(out http.Header) {
	if r.RemoteIP == "" && !r.TrustedProxy {
		delete(out, "X-Forwarded-For")
		delete(out, "X-Forwarded-Proto")
		delete(out, "X-Forwarded-Host")
		return
	}
	chain := r.RemoteIP
	if prior := strings.Join(out["X-Forwarded-For"], ", "); r.TrustedProxy && prior != "" {
		chain = prior
		if r.RemoteIP != "" {
			chain += ", " + r.RemoteIP
		}
	}
	if chain != "" {
		out["X-Forwarded-For"] = []string{chain}
	}
	proto := "http"
	if r.TLS {
		proto = "https"
	}
	out["X-Forwarded-Proto"] = []string{r.prior(out["X-Forwarded-Proto"], proto)}
	out["X-Forwarded-Host"] = []string{r.prior(out["X-Forwarded-Host"], r.Host)}
}

// prior is the last value that a trusted proxy has set, or def.
func (r *Request) prior(values []string, def string) string {
	if r.TrustedProxy && len(values) > 0 && values[len(values)-1] != "" {
		return values[len(values)-1]
	}
	return def
}

func acceptsTrailers(te []string) bool {
	for _, line := range te {
		for token := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(textproto.TrimString(token), "trailers") {
				return true
			}
		}
	}
	return false
}
