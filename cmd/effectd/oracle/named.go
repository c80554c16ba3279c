// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Name is a behaviour with a name, as scripts, paths and flags use it.
type Name struct {
	Name      string
	Behaviour Behaviour
	// Help says what happens, and what a client of net/http sees of it.
	Help string
}

// partial is the body of answers that are cut in the middle.
const partial = "the first half, "

// Names lists every named behaviour, in the order in which they are explained.
var Names = []Name{
	{"ok", Behaviour{}, "record the effect, answer 200"},
	{"hold", Behaviour{Hold: true}, "record the effect, answer 200 once released"},
	{"hold-late", Behaviour{Hold: true, Effect: EffectLate}, "record the effect only once released, then answer 200"},
	{"slow", Behaviour{DelayMS: 1000}, "record the effect, answer 200 after a second"},
	{"silent", Behaviour{Then: Silent}, "read all, record the effect, never answer: a timeout"},
	{"never-read", Behaviour{Read: ReadNothing, Then: Silent}, "accept and never read: a timeout that looks like silent"},

	{"close-accept", Behaviour{Read: ReadNothing, Then: Close}, "FIN before reading: EOF or \"server closed idle connection\" (with TLS: a failed handshake)"},
	{"reset-accept", Behaviour{Read: ReadNothing, Then: Reset}, "RST before reading: reset, or a dial error by chance"},
	{"close", Behaviour{Then: Close}, "read all, record the effect, FIN: EOF"},
	{"reset", Behaviour{Then: Reset}, "read all, record the effect, RST: connection reset"},
	{"close-body", Behaviour{Read: ReadHead, Bytes: 512, Then: Close}, "FIN after 512 bytes of the body: EOF"},
	{"reset-body", Behaviour{Read: ReadHead, Bytes: 512, Then: Reset}, "RST after 512 bytes of the body: write error, connection reset"},

	{"cut-status", Behaviour{Cut: CutStatus}, "record the effect, stop inside the status line: error, no status"},
	{"cut-head", Behaviour{Cut: CutHead}, "record the effect, stop inside the header block: error, no status"},
	{"cut-length", Behaviour{Cut: CutBody, Body: partial}, "record the effect, 200, FIN before Content-Length is reached: unexpected EOF in the body"},
	{"cut-chunked", Behaviour{Cut: CutBody, Body: partial, Framing: FramingChunked}, "record the effect, 200, FIN before the last chunk: unexpected EOF in the body"},
	{"cut-reset", Behaviour{Cut: CutBody, Body: partial, End: EndReset}, "record the effect, 200, RST before Content-Length is reached: reset in the body"},
	{"interim-close", Behaviour{Interim: 103, Then: Close}, "record the effect, 103, then FIN: error, no status"},
	{"interim", Behaviour{Interim: 103}, "record the effect, 103, then 200"},
	{"http10", Behaviour{Framing: FramingClose, Body: "done"}, "record the effect, HTTP/1.0 200 without a length, FIN: complete"},
	{"chunked", Behaviour{Framing: FramingChunked, Body: "done"}, "record the effect, 200 in chunks"},
	{"upgrade", Behaviour{Status: 101, Effect: EffectEarly, Header: map[string]string{"Connection": "Upgrade", "Upgrade": "effectd"}}, "record the effect, 101 and keep the connection"},

	{"early-413", Behaviour{Read: ReadHead, Status: 413}, "no effect, 413 while the body is still being sent"},
	{"redirect", Behaviour{Status: 302, Header: map[string]string{"Location": "/elsewhere"}}, "no effect, 302"},
	{"gone", Behaviour{Status: 410}, "no effect, 410"},
	{"busy", Behaviour{Status: 429, Header: map[string]string{"Retry-After": "2"}}, "no effect, 429 with Retry-After: 2"},
	{"unavailable", Behaviour{Status: 503, Header: map[string]string{"Retry-After": "2"}}, "no effect, 503 with Retry-After: 2"},
	{"done-500", Behaviour{Status: 500, Effect: EffectEarly}, "record the effect, then 500"},

	{"close-after", Behaviour{End: EndClose}, "200 with keep-alive, then FIN at once: a stale connection"},
	{"close-reused", Behaviour{Read: ReadNothing, Then: Close, On: OnReused}, "FIN as the next request on a reused connection arrives, unread: EOF"},
	{"reset-reused", Behaviour{Read: ReadNothing, Then: Reset, On: OnReused}, "RST as the next request on a reused connection arrives, unread: reset"},
	{"done-reused", Behaviour{Then: Close, On: OnReused}, "read the next request on a reused connection, record the effect, FIN: EOF"},

	{"die-before", Behaviour{Then: Die, Effect: EffectNone}, "read all, the process ends before the effect"},
	{"die-after", Behaviour{Then: Die}, "record the effect, the process ends before the answer"},

	{"refuse-stream", Behaviour{Then: RefuseStream, Effect: EffectNone, On: OnFresh}, "HTTP/2, new connection: RST_STREAM REFUSED_STREAM, then GOAWAY"},
	{"goaway", Behaviour{Then: GoAway, Effect: EffectNone, On: OnFresh}, "HTTP/2, new connection: GOAWAY below the stream of the request"},
}

// Named finds a behaviour by its name. A number is an answer of that status.
func Named(name string) (Behaviour, error) {
	for _, n := range Names {
		if n.Name == name {
			return n.Behaviour, nil
		}
	}
	if status, err := strconv.Atoi(name); err == nil {
		b := Behaviour{Status: status}
		return b, b.Validate()
	}
	return Behaviour{}, fmt.Errorf("no behaviour is named %q", name)
}

// MustNamed is Named for names that are constants of the caller.
func MustNamed(name string) Behaviour {
	b, err := Named(name)
	if err != nil {
		panic(err)
	}
	return b
}

// Help is the table of named behaviours as text.
func Help() string {
	var s strings.Builder
	t := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	for _, n := range Names {
		fmt.Fprintf(t, "  %s\t%s\n", n.Name, n.Help)
	}
	fmt.Fprintf(t, "  <status>\tan answer of this status; the effect is recorded for 2xx, 504 and 524\n")
	_ = t.Flush()
	return s.String()
}
