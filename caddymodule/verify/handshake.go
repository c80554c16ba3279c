// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/subtle"
	"errors"
)

// Handshake describes requests that are no deliveries: challenges when an
// endpoint is set up, and test events. They are passed to the app and never
// recorded, so that each of them is answered.
type Handshake struct {
	// Name says what it is, for logs.
	Name string `json:"name"`
	// Signed says that it counts only after its signature was verified. An
	// unsigned one must have no body, so that it can carry no event.
	Signed bool `json:"signed,omitempty"`
	// Method must be that of the request, if it is set. An unsigned handshake
	// must say GET, HEAD or OPTIONS.
	Method string `json:"method,omitempty"`
	// Match are conditions that must all hold.
	Match []Match `json:"match"`
	// Token is where an unsigned handshake shows the token that the operator
	// gave to the provider.
	Token Source `json:"token,omitzero"`
}

// Match is a condition on one value of a request.
type Match struct {
	Source
	// Value must equal what is found. Empty: anything is fine.
	Value string `json:"value,omitempty"`
	// Absent turns the condition round: the place must not be there at all.
	Absent bool `json:"absent,omitempty"`

	at locator // set once the preset is checked, to spare the hot path the work
}

// Holds reports whether the condition holds for r.
func (m *Match) Holds(r *Request) bool {
	l := m.at
	if l.kind == 0 {
		var err error
		if l, err = m.locate(); err != nil {
			return false
		}
	}
	// An object or array at a JSON pointer is absent as a value; that a key is
	// not there at all has to be asked in another way.
	text, n := l.get(r)
	if l.kind == inJSON && n == absent && present(r.Body, l.pointer) {
		n = ambiguous
	}
	switch {
	case m.Absent:
		return n == absent
	case m.Value == "":
		return n == once && text != ""
	}
	return n == once && text == m.Value
}

func (h *Handshake) check() error {
	if len(h.Match) == 0 {
		return errors.New("matches every request; it needs conditions")
	}
	for i := range h.Match {
		l, err := h.Match[i].locate()
		if err != nil {
			return err
		}
		h.Match[i].at = l
		if !h.Signed && (l.kind == inJSON || l.kind == inForm) {
			return errors.New("is unsigned and looks into the body, which it must not have")
		}
	}
	if !h.Signed && h.Method != "GET" && h.Method != "HEAD" && h.Method != "OPTIONS" {
		return errors.New("is unsigned, so its method must be GET, HEAD or OPTIONS")
	}
	if !h.Token.IsZero() {
		_, err := h.Token.locate()
		return err
	}
	return nil
}

// Matches reports whether r is this handshake. For an unsigned one with a Token
// place, a token that is not empty must be the one that the request shows; with
// an empty one the app has to check it.
func (h *Handshake) Matches(r *Request, token string) bool {
	if h.Method != "" && h.Method != r.Method || !h.Signed && len(r.Body) > 0 {
		return false
	}
	for i := range h.Match {
		if !h.Match[i].Holds(r) {
			return false
		}
	}
	if h.Token.IsZero() || token == "" {
		return true
	}
	return subtle.ConstantTimeCompare([]byte(h.Token.Get(r)), []byte(token)) == 1
}

// Handshake returns the handshake that r is, or nil. With signed it looks for
// those that count once r is verified, else for those that need no signature.
func (p *Preset) Handshake(r *Request, signed bool, token string) *Handshake {
	for i := range p.Handshakes {
		if h := &p.Handshakes[i]; h.Signed == signed && h.Matches(r, token) {
			return h
		}
	}
	return nil
}
