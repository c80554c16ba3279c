// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"embed"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
)

//go:embed presets/*.json
var presetFiles embed.FS

// catalogue holds the JSON of the presets by name, and names by alias.
type catalogue struct {
	files   map[string][]byte
	aliases map[string]string
}

var loadCatalogue = sync.OnceValues(func() (*catalogue, error) {
	entries, err := presetFiles.ReadDir("presets")
	if err != nil {
		return nil, err
	}
	c := &catalogue{files: map[string][]byte{}, aliases: map[string]string{}}
	for _, e := range entries {
		data, err := presetFiles.ReadFile(path.Join("presets", e.Name()))
		if err != nil {
			return nil, err
		}
		p, err := ParsePreset(data)
		if err != nil {
			return nil, err
		}
		if p.Name+".json" != e.Name() {
			return nil, fmt.Errorf("preset file %s: is named %q inside", e.Name(), p.Name)
		}
		c.files[p.Name] = data
		for _, alias := range p.Aliases {
			if c.aliases[alias] != "" {
				return nil, fmt.Errorf("preset %q: alias %q is taken", p.Name, alias)
			}
			c.aliases[alias] = p.Name
		}
	}
	return c, nil
})

// LookupPreset returns the preset of that name or alias. The caller may change
// it. The error for an unknown name tells the nearest known ones.
func LookupPreset(name string) (*Preset, error) {
	c, err := loadCatalogue()
	if err != nil {
		return nil, err
	}
	wanted := strings.ToLower(name)
	data, ok := c.files[wanted]
	if !ok {
		data, ok = c.files[c.aliases[wanted]]
	}
	if ok {
		return ParsePreset(data)
	}
	known := append(slices.Collect(maps.Keys(c.files)), slices.Collect(maps.Keys(c.aliases))...)
	if near := nearest(wanted, known); len(near) > 0 {
		return nil, fmt.Errorf("unknown provider %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return nil, fmt.Errorf("unknown provider %q; for one without a preset describe its scheme in a verify block, "+
		"or use one of generic-hmac-sha256-hex and its kin", name)
}

// PresetNames returns the names of all presets, sorted, without aliases.
func PresetNames() ([]string, error) {
	c, err := loadCatalogue()
	if err != nil {
		return nil, err
	}
	if len(c.files) == 0 {
		return nil, errors.New("no presets are embedded")
	}
	return slices.Sorted(maps.Keys(c.files)), nil
}

// nearest returns up to three known names that resemble name, best first: by
// edit distance of at most a third of the length, or because one contains the
// other.
func nearest(name string, known []string) []string {
	type near struct {
		name string
		far  int
	}
	var found []near
	for _, k := range known {
		far := editDistance(name, k)
		contains := len(name) >= 3 && (strings.Contains(k, name) || strings.Contains(name, k))
		if far <= max(1, len(k)/3) || contains {
			found = append(found, near{k, far})
		}
	}
	slices.SortFunc(found, func(a, b near) int {
		if a.far != b.far {
			return a.far - b.far
		}
		return strings.Compare(a.name, b.name)
	})
	var names []string
	for _, f := range found[:min(3, len(found))] {
		names = append(names, f.name)
	}
	return names
}

// editDistance counts the insertions, deletions and substitutions of bytes that
// make b out of a. Names that nobody could have meant are cut short.
func editDistance(a, b string) int {
	a = a[:min(len(a), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
