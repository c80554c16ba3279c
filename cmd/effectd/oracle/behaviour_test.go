// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"fmt"
	"testing"
)

func TestNamesAreValid(t *testing.T) {
	seen := make(map[string]bool)
	for _, n := range Names {
		if err := n.Behaviour.Validate(); err != nil {
			t.Errorf("%s: %v", n.Name, err)
		}
		if seen[n.Name] || n.Help == "" {
			t.Errorf("%s: repeated or unexplained", n.Name)
		}
		seen[n.Name] = true
		data, err := json.Marshal(n.Behaviour)
		if err != nil {
			t.Fatal(err)
		}
		var back Behaviour
		if err := json.Unmarshal(data, &back); err != nil || fmt.Sprintf("%+v", back) != fmt.Sprintf("%+v", n.Behaviour) {
			t.Errorf("%s: %s reads back as %+v, %v", n.Name, data, back, err)
		}
	}
}

func TestInvalidBehaviours(t *testing.T) {
	for _, text := range []string{
		`"nonsense"`, `"99"`, `"1000"`, `7`, `null5`, `{"unknown":1}`,
		`{"read":"half"}`, `{"effect":"maybe"}`, `{"then":"explode"}`, `{"framing":"odd"}`,
		`{"cut":"tail"}`, `{"end":"never"}`, `{"on":"monday"}`, `{"status":42}`, `{"interim":101}`,
		`{"interim":200}`, `{"bytes":-1}`, `{"delay_ms":-1}`, `{"times":-1}`, `{"read":"nothing"}`,
	} {
		var b Behaviour
		if err := json.Unmarshal([]byte(text), &b); err == nil {
			t.Errorf("%s was read as %+v", text, b)
		}
	}
}

// TestDefaultPoint: an app that says no has done nothing.
func TestDefaultPoint(t *testing.T) {
	for _, c := range []struct {
		b    Behaviour
		want Point
	}{
		{Behaviour{}, EffectEarly},
		{Behaviour{Status: 204}, EffectEarly},
		{Behaviour{Status: 302}, EffectNone},
		{Behaviour{Status: 500}, EffectNone},
		{Behaviour{Status: 504}, EffectEarly},
		{Behaviour{Status: 524}, EffectEarly},
		{Behaviour{Status: 500, Effect: EffectLate}, EffectLate},
		{Behaviour{Then: Reset}, EffectEarly},
		{Behaviour{Then: Reset, Read: ReadHead}, EffectNone},
		{Behaviour{Read: ReadHead, Effect: EffectEarly}, EffectEarly},
	} {
		if got := c.b.point(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.b, got, c.want)
		}
	}
}
