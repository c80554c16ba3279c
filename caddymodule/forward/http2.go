// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package forward

import "strings"

// The texts in which net/http reports that the peer did not process a stream.
// There is no error type for it: when a body cannot be rewound, the transport
// keeps only the text of the cause.
const (
	refusedStream  = "; REFUSED_STREAM; received from peer"
	goAwayGraceful = "http2: Transport received Server's graceful shutdown GOAWAY"
	goAwayFirst    = "http2: Transport received GOAWAY from server ErrCode:"

	wrappedBegin = "http2: Transport: cannot retry err ["
	wrappedEnd   = "] after Request.Body was written; define Request.GetBody to avoid this error"
)

// Unprocessed reports whether an error of net/http proves that the HTTP/2 peer
// did not process the request: it refused the stream, or it announced its end
// with a last stream below ours (RFC 9113, 6.8 and 8.7). A text that is not
// recognised proves nothing.
func Unprocessed(err error) bool {
	if err == nil {
		return false
	}
	text := err.Error()
	if inner, ok := strings.CutPrefix(text, wrappedBegin); ok {
		if text, ok = strings.CutSuffix(inner, wrappedEnd); !ok {
			return false
		}
	}
	switch {
	case text == goAwayGraceful:
		return true
	case strings.HasPrefix(text, goAwayFirst):
		return true
	default:
		return strings.HasPrefix(text, "stream error: stream ID ") && strings.HasSuffix(text, refusedStream)
	}
}
