// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Secret is one secret of a sender, as the provider shows it to its customer.
type Secret struct {
	// ID names the secret in results and errors. Default: its position, from 1.
	ID string
	// Value is the resolved text. White space around it is removed, with a
	// warning: files and environment variables often end in a newline.
	Value string
	// Encoding overrides the scheme's SecretEncoding for this secret, for a
	// provider that changes from one reading to another.
	Encoding string
	// Until is when the secret stops to count. Zero: never.
	Until time.Time
}

// prepare checks what can be checked without the scheme and fills in the ID.
// Its errors name the secret and the cure, and never show the value.
func (s Secret) prepare(position int) (prepared Secret, trimmed bool, err error) {
	s.ID = pick(s.ID, strconv.Itoa(position))
	value := strings.TrimSpace(strings.TrimPrefix(s.Value, "\uFEFF"))
	trimmed = value != s.Value
	s.Value = value
	switch {
	case value == "":
		return s, trimmed, fmt.Errorf("secret %s: is empty; is the environment variable or file set?", s.ID)
	case strings.HasPrefix(value, "v1,whsec_"):
		return s, trimmed, fmt.Errorf("secret %s: begins with \"v1,\", which belongs to the sender's own configuration; "+
			"remove it, so that the secret begins with \"whsec_\"", s.ID)
	}
	if err := checkEncoding(s.Encoding); err != nil {
		return s, trimmed, fmt.Errorf("secret %s: %w", s.ID, err)
	}
	return s, trimmed, nil
}

func checkEncoding(name string) error {
	switch name {
	case "", "utf8", "base64", "hex", "whsec", "whsec-only", "whsec-or-utf8", "whpk":
		return nil
	}
	return fmt.Errorf("secret_encoding: unknown %q; known are utf8, base64, hex, whsec, whsec-only, whsec-or-utf8 and whpk", name)
}

// claim says how well the text of a secret fits an encoding.
type claim int

const (
	refuses claim = iota
	accepts
	owns // the prefix says that it is a secret of this kind and no other
)

// fits decides which alternatives of a scheme get a secret, by its prefix alone.
func fits(encoding, value string) claim {
	ed := strings.HasPrefix(value, "whpk_") || strings.HasPrefix(value, "whsk_")
	symmetric := strings.HasPrefix(value, "whsec_")
	switch {
	case encoding == "whpk" && ed, encoding == "whsec-only" && symmetric:
		return owns
	case encoding == "whpk" || encoding == "whsec-only" || ed:
		return refuses
	}
	return accepts
}

// decodeSecret turns the text of a secret into key bytes.
func decodeSecret(value, encoding string) ([]byte, error) {
	var key []byte
	var err error
	rest, prefixed := strings.CutPrefix(value, "whsec_")
	switch encoding {
	case "", "utf8":
		key = []byte(value)
	case "hex":
		if key, err = hex.DecodeString(value); err != nil {
			return nil, errors.New("is not valid hex; copy it again from the provider, whole and without blanks")
		}
	case "base64":
		key, err = secretBase64(value)
	case "whsec", "whsec-only":
		key, err = secretBase64(rest)
	case "whsec-or-utf8":
		if key = []byte(value); prefixed {
			key, err = secretBase64(rest)
		}
	case "whpk":
		key, err = secretBase64(value[len("whpk_"):])
	}
	if err == nil && len(key) == 0 {
		err = errors.New("is empty after its prefix; copy it again from the provider, whole")
	}
	return key, err
}

func secretBase64(text string) ([]byte, error) {
	enc := base64Bare
	if strings.HasSuffix(text, "=") {
		enc = base64Padded
	}
	// The decoder's own error says where the text is wrong, not what it is, but
	// even a position is nobody's business.
	key, err := enc.DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") {
		return nil, errors.New("is not valid base64; copy it again from the provider, whole and without blanks")
	}
	return key, nil
}

// edKeys reads an Ed25519 key: 32 bytes are a public key, and whsk_ before the
// text marks a private one (a seed, or a seed with its public key), which can
// also sign.
func edKeys(value string, key []byte) (ed25519.PublicKey, ed25519.PrivateKey, error) {
	if strings.HasPrefix(value, "whsk_") {
		if len(key) != ed25519.SeedSize && len(key) != ed25519.PrivateKeySize {
			return nil, nil, errors.New("is not an Ed25519 private key: want 32 or 64 bytes")
		}
		private := ed25519.NewKeyFromSeed(key[:ed25519.SeedSize])
		return private.Public().(ed25519.PublicKey), private, nil
	}
	if len(key) != ed25519.PublicKeySize {
		return nil, nil, errors.New("is not an Ed25519 public key: want 32 bytes")
	}
	return ed25519.PublicKey(key), nil, nil
}
