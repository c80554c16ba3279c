// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package caddymodule

import (
	"bytes"
	"errors"
	"testing"
)

func TestCheckPepper(t *testing.T) {
	dir := t.TempDir()
	one, two := bytes.Repeat([]byte{1}, 32), bytes.Repeat([]byte{2}, 32)
	for n, row := range []struct {
		pepper []byte
		want   error
	}{{one, nil}, {one, nil}, {two, errOtherPepper}, {one, nil}} {
		if err := checkPepper(dir, row.pepper); !errors.Is(err, row.want) {
			t.Errorf("step %d: %v, want %v", n, err, row.want)
		}
	}
}
