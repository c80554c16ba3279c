// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

// Read says how much of a request is taken off the wire before the server acts.
type Read string

// Point says when the effect is written to the ledger.
type Point string

// Action is what the server does once the request has been read and recorded.
type Action string

// Framing says how the client learns where the answer's body ends.
type Framing string

// Cut says where an answer stops before it is complete.
type Cut string

// End says what becomes of the connection after the answer.
type End string

// On restricts a behaviour to new or to reused connections.
type On string

const (
	ReadNothing Read = "nothing" // act on the connection, before the first byte is read
	ReadHead    Read = "head"    // the header block and the first Bytes bytes of the body
	ReadBody    Read = "body"    // everything (default)

	EffectEarly Point = "early" // as soon as the request has been read, before delay and hold
	EffectLate  Point = "late"  // after delay and hold, right before the answer
	EffectAfter Point = "after" // once the answer has been written
	EffectNone  Point = "none"  // never: the app did nothing

	Answer       Action = "answer"        // an answer, complete unless Cut is set (default)
	Close        Action = "close"         // FIN without an answer
	Reset        Action = "reset"         // RST without an answer
	Silent       Action = "silent"        // keep the connection and never answer
	Die          Action = "die"           // the process ends
	RefuseStream Action = "refuse-stream" // HTTP/2: RST_STREAM with REFUSED_STREAM
	GoAway       Action = "goaway"        // HTTP/2: GOAWAY that names no stream as processed

	FramingLength  Framing = "length"  // Content-Length (default)
	FramingChunked Framing = "chunked" // Transfer-Encoding: chunked
	FramingClose   Framing = "close"   // HTTP/1.0 without a length, ended by FIN

	CutStatus Cut = "status" // inside the status line
	CutHead   Cut = "head"   // inside the header block
	CutBody   Cut = "body"   // inside the body: length too large, or last chunk missing

	EndKeep  End = "keep"  // keep-alive (default for complete answers)
	EndClose End = "close" // FIN, without having announced it (default for cut answers)
	EndReset End = "reset" // RST

	OnFresh  On = "fresh"  // only the first request of a connection
	OnReused On = "reused" // only later requests of a connection
)

// Behaviour is what the server does with one request. The zero value reads
// the request, records the effect and answers 200 with an empty body.
//
// In JSON a behaviour is an object of these fields, or a string that names one
// of the table of Names.
type Behaviour struct {
	// Read is how much is read before acting. With ReadHead, Bytes more bytes
	// of the body are read, and the rest is left unread.
	Read  Read  `json:"read,omitempty"`
	Bytes int64 `json:"bytes,omitempty"`

	// Effect is when the ledger is written. Empty means what an honest app
	// does: early, unless the answer says that nothing was done (a status of
	// 300 and above except 504 and 524, which a gateway writes in front of an
	// app that may still work) or the body was not read to its end.
	Effect Point `json:"effect,omitempty"`

	// DelayMS is a pause in milliseconds before the answer.
	DelayMS int `json:"delay_ms,omitempty"`
	// Hold blocks before the answer until Release.
	Hold bool `json:"hold,omitempty"`
	// Interim is a 1xx status written before Then, such as 103.
	Interim int `json:"interim,omitempty"`

	// Then is the action, Answer when empty.
	Then Action `json:"then,omitempty"`

	// Status, Header and Body make up the answer; 200, none and empty.
	Status int               `json:"status,omitempty"`
	Header map[string]string `json:"header,omitempty"`
	Body   string            `json:"body,omitempty"`
	// Framing, Cut and End shape the answer on the wire.
	Framing Framing `json:"framing,omitempty"`
	Cut     Cut     `json:"cut,omitempty"`
	End     End     `json:"end,omitempty"`

	// On restricts the behaviour; a request that does not fit takes the next
	// entry of the script that does.
	On On `json:"on,omitempty"`
	// Times is how many requests take this entry of a script, 1 when zero.
	Times int `json:"times,omitempty"`
}

// Validate reports the first field that has no meaning.
func (b Behaviour) Validate() error {
	for _, f := range []struct {
		name, value string
		known       []string
	}{
		{"read", string(b.Read), []string{"", "nothing", "head", "body"}},
		{"effect", string(b.Effect), []string{"", "early", "late", "after", "none"}},
		{"then", string(b.Then), []string{"", "answer", "close", "reset", "silent", "die", "refuse-stream", "goaway"}},
		{"framing", string(b.Framing), []string{"", "length", "chunked", "close"}},
		{"cut", string(b.Cut), []string{"", "status", "head", "body"}},
		{"end", string(b.End), []string{"", "keep", "close", "reset"}},
		{"on", string(b.On), []string{"", "fresh", "reused"}},
	} {
		if !slices.Contains(f.known, f.value) {
			return fmt.Errorf("%s: unknown value %q", f.name, f.value)
		}
	}
	switch {
	case b.Status != 0 && (b.Status < 101 || b.Status > 999):
		return fmt.Errorf("status: %d is no HTTP status", b.Status)
	case b.Interim != 0 && (b.Interim < 100 || b.Interim > 199 || b.Interim == 101):
		return fmt.Errorf("interim: %d is not an interim status", b.Interim)
	case b.Bytes < 0 || b.DelayMS < 0 || b.Times < 0:
		return fmt.Errorf("bytes, delay_ms and times must not be negative")
	case b.Read == ReadNothing && b.Then != Close && b.Then != Reset && b.Then != Silent:
		return fmt.Errorf("read nothing goes with close, reset and silent only")
	}
	return nil
}

// UnmarshalJSON accepts an object or the name of a behaviour, and refuses
// unknown fields, so that a misspelt script fails instead of answering 200.
func (b *Behaviour) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		named, err := Named(name)
		*b = named
		return err
	}
	type plain Behaviour
	var p plain
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return fmt.Errorf("behaviour: %w", err)
	}
	*b = Behaviour(p)
	return b.Validate()
}

// String describes the behaviour in the ledger: "answer 200", "head reset" ...
func (b Behaviour) String() string {
	s := string(b.action())
	if b.action() == Answer {
		s += " " + strconv.Itoa(b.status())
	}
	if b.Read != "" && b.Read != ReadBody {
		s = string(b.Read) + " " + s
	}
	if b.Cut != "" {
		s += " cut " + string(b.Cut)
	}
	return s
}

func (b Behaviour) action() Action {
	if b.Then == "" {
		return Answer
	}
	return b.Then
}

func (b Behaviour) status() int {
	if b.Status == 0 {
		return http.StatusOK
	}
	return b.Status
}

// point resolves the default of Effect.
func (b Behaviour) point() Point {
	switch s := b.status(); {
	case b.Effect != "":
		return b.Effect
	case b.Read == ReadHead, b.Read == ReadNothing:
		return EffectNone
	case b.action() != Answer || s < 300 || s == http.StatusGatewayTimeout || s == 524:
		return EffectEarly
	}
	return EffectNone
}

// end resolves the default of End.
func (b Behaviour) end() End {
	switch {
	case b.End != "":
		return b.End
	case b.Cut != "" || b.Framing == FramingClose:
		return EndClose
	}
	return EndKeep
}

func (b Behaviour) fits(reused bool) bool {
	return b.On == "" || (b.On == OnReused) == reused
}
