// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParseSource reads the text form of one source. See Source for its grammar.
func ParseSource(text string) (Source, error) {
	tokens, err := splitTokens(text)
	if err != nil {
		return Source{}, fmt.Errorf("source %q: %w", text, err)
	}
	sources, err := ParseSources(tokens)
	if err != nil {
		return Source{}, err
	}
	if len(sources) != 1 {
		return Source{}, fmt.Errorf("source %q: found %d sources, want one", text, len(sources))
	}
	return sources[0], nil
}

// ParseSources reads alternatives from the tokens of a configuration line, for
// example [header A + header B json /id]: the composite of A and B, else the
// pointer. It returns at least one source, or an error.
func ParseSources(tokens []string) ([]Source, error) {
	var out []Source
	for len(tokens) > 0 {
		var parts []Source
		for {
			part, err := parseLeaf(tokens)
			if err != nil {
				return nil, err
			}
			parts, tokens = append(parts, part), tokens[2:]
			if len(tokens) == 0 || tokens[0] != "+" {
				break
			}
			tokens = tokens[1:]
		}
		s := parts[0]
		if len(parts) > 1 {
			s = Source{All: parts}
		}
		if err := s.Validate(); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, errors.New("no source given, want header, json, form or query and a name")
	}
	return out, nil
}

// parseLeaf reads the kind and the name at the front of tokens.
func parseLeaf(tokens []string) (Source, error) {
	if len(tokens) == 0 {
		return Source{}, errors.New("a source is missing after +")
	}
	kind := tokens[0]
	if len(tokens) < 2 || tokens[1] == "" {
		return Source{}, fmt.Errorf("source %q has no name", kind)
	}
	name := tokens[1]
	switch kind {
	case "header":
		return Source{Header: name}, nil
	case "json":
		return Source{JSON: name}, nil
	case "form":
		return Source{Form: name}, nil
	case "query":
		return Source{Query: name}, nil
	}
	return Source{}, fmt.Errorf("unknown source %q, want header, json, form or query", kind)
}

// splitTokens cuts text at white space, except inside double quotes.
func splitTokens(text string) ([]string, error) {
	var out []string
	for {
		text = strings.TrimLeftFunc(text, unicode.IsSpace)
		if text == "" {
			return out, nil
		}
		if text[0] == '"' {
			token, rest, ok := strings.Cut(text[1:], `"`)
			if !ok {
				return nil, errors.New("a quote is not closed")
			}
			if next, _ := utf8.DecodeRuneInString(rest); rest != "" && !unicode.IsSpace(next) {
				return nil, errors.New("white space is missing after a quote")
			}
			out, text = append(out, token), rest
			continue
		}
		end := strings.IndexFunc(text, unicode.IsSpace)
		if end < 0 {
			end = len(text)
		}
		out, text = append(out, text[:end]), text[end:]
	}
}
