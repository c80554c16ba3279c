// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pointer is a parsed RFC 6901 JSON pointer: its unescaped tokens.
type Pointer []string

// ParsePointer reads a pointer such as /data/object/id or /items/0/id. The empty
// pointer, which means the whole document, is refused: a document is not an ID.
func ParsePointer(text string) (Pointer, error) {
	if text == "" || text[0] != '/' {
		return nil, fmt.Errorf("JSON pointer %q does not begin with a slash", text)
	}
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("JSON pointer %q is not valid UTF-8", text)
	}
	tokens := strings.Split(text[1:], "/")
	if len(tokens) > maxDepth {
		return nil, fmt.Errorf("JSON pointer has %d tokens, want at most %d", len(tokens), maxDepth)
	}
	for i, token := range tokens {
		plain, err := unescapeToken(token)
		if err != nil {
			return nil, fmt.Errorf("JSON pointer %q: %w", text, err)
		}
		tokens[i] = plain
	}
	return tokens, nil
}

// unescapeToken resolves ~0 and ~1. Any other tilde is an error, because the
// RFC gives it no meaning.
func unescapeToken(token string) (string, error) {
	if len(token) > maxNameLen {
		return "", fmt.Errorf("a token is longer than %d bytes", maxNameLen)
	}
	for rest := token; ; {
		_, after, found := strings.Cut(rest, "~")
		if !found {
			break
		}
		if after == "" || after[0] != '0' && after[0] != '1' {
			return "", errors.New("a tilde must be followed by 0 or 1")
		}
		rest = after[1:]
	}
	return strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~"), nil
}

// String returns the escaped text form, which ParsePointer reads back.
func (p Pointer) String() string {
	var b strings.Builder
	for _, token := range p {
		b.WriteByte('/')
		b.WriteString(strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// maxSiblings is the number of names that one object may have on configured
// paths. The scanner keeps one bit for each.
const maxSiblings = 64

// node is one token in the tree of all pointers of a route. The tree lets one
// pass over the body find every one of them.
type node struct {
	name     string
	index    int   // the array index that name means, or -1
	slots    []int // the findings that end here
	children []*node
}

// add puts a pointer into the tree; its value will be reported in slot.
func (n *node) add(p Pointer, slot int) error {
	if len(p) == 0 {
		n.slots = append(n.slots, slot)
		return nil
	}
	i := slices.IndexFunc(n.children, func(c *node) bool { return c.name == p[0] })
	if i < 0 {
		if len(n.children) == maxSiblings {
			return fmt.Errorf("more than %d JSON pointers lead into one object", maxSiblings)
		}
		i = len(n.children)
		n.children = append(n.children, &node{name: p[0], index: arrayIndex(p[0])})
	}
	return n.children[i].add(p[1:], slot)
}

// arrayIndex returns the index that a token means in an array, or -1. RFC 6901
// allows no leading zeros and no sign.
func arrayIndex(token string) int {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || strconv.Itoa(i) != token {
		return -1
	}
	return i
}

// Interface guard.
var _ fmt.Stringer = Pointer{}
