// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
)

// missing is how many bytes a cut body lacks.
const missing = 64

// endGone is the end of a connection that is kept, unanswered, until the
// client or the server drops it.
const endGone End = "gone"

// act says what the behaviour wants said, once the request has been read and
// the pauses are over, and returns how the connection has to end.
func (c *conn) act(req *http.Request, b Behaviour, complete bool) End {
	if b.Interim != 0 {
		if _, err := fmt.Fprintf(c, "HTTP/1.1 %d %s\r\n\r\n", b.Interim, http.StatusText(b.Interim)); err != nil {
			return EndReset
		}
	}
	switch b.action() {
	case Die:
		c.s.die()
		return EndReset
	case Reset:
		return EndReset
	case Close:
		return EndClose
	case Silent:
		return endGone
	case Answer:
		return c.answer(req, b, complete)
	}
	c.s.cfg.Logf("%s: %s needs HTTP/2", req.RequestURI, b.Then)
	return EndReset
}

// answer writes the answer, as far as Cut lets it, in one write.
func (c *conn) answer(req *http.Request, b Behaviour, complete bool) End {
	last := req.Close || !complete || req.ProtoMinor == 0
	if _, err := c.Write(render(b, req.Method, last)); err != nil {
		return EndReset
	}
	switch {
	case b.status() == http.StatusSwitchingProtocols:
		return endGone
	case b.end() == EndKeep && last:
		return EndClose
	}
	return b.end()
}

// end ends the connection, and tells whether it lives on.
func (c *conn) end(how End) bool {
	switch how {
	case EndClose:
		c.fin()
	case EndReset:
		c.w.reset()
	case endGone:
		_, _ = io.Copy(io.Discard, c)
	}
	return how == EndKeep
}

// render builds the bytes of an answer.
func render(b Behaviour, method string, last bool) []byte {
	var out bytes.Buffer
	version := "HTTP/1.1"
	if b.Framing == FramingClose {
		version = "HTTP/1.0"
	}
	fmt.Fprintf(&out, "%s %d %s\r\n", version, b.status(), http.StatusText(b.status()))
	if b.Cut == CutStatus {
		return out.Bytes()[:len("HTTP/1.1 2")]
	}
	names := make([]string, 0, len(b.Header))
	for name := range b.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&out, "%s: %s\r\n", name, b.Header[name])
	}
	if b.Cut == CutHead {
		out.WriteString("Content-Len")
		return out.Bytes()
	}
	if last && b.status() != http.StatusSwitchingProtocols {
		out.WriteString("Connection: close\r\n")
	}
	renderBody(&out, b, method == http.MethodHead)
	return out.Bytes()
}

// renderBody ends the header block and appends the body.
func renderBody(out *bytes.Buffer, b Behaviour, head bool) {
	bodiless := b.status() < 200 || b.status() == http.StatusNoContent || b.status() == http.StatusNotModified
	switch {
	case bodiless:
		out.WriteString("\r\n")
		return
	case b.Framing == FramingChunked:
		out.WriteString("Transfer-Encoding: chunked\r\n\r\n")
	case b.Framing == FramingClose:
		out.WriteString("\r\n")
	default:
		length := len(b.Body)
		if b.Cut == CutBody {
			length += missing
		}
		fmt.Fprintf(out, "Content-Length: %d\r\n\r\n", length)
	}
	if head {
		return
	}
	if b.Framing != FramingChunked {
		out.WriteString(b.Body)
		return
	}
	if b.Body != "" {
		fmt.Fprintf(out, "%x\r\n%s\r\n", len(b.Body), b.Body)
	}
	if b.Cut != CutBody {
		out.WriteString("0\r\n\r\n")
	}
}
