// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package identity

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// The two segments of a path that stand for more than one name. A member that
// is really called * cannot be named alone.
const (
	anyName  = "*"  // exactly one segment, whatever its name
	anyDepth = "**" // any number of segments, also none
)

// parsePath reads a path of a rule: a JSON pointer whose segments may also be *
// or **. It names values anywhere in a document, so /**/etag is every member
// called etag and /items/*/at the same member of all elements.
func parsePath(text string) (Pointer, error) {
	p, err := ParsePointer(text)
	if err != nil {
		return nil, err
	}
	out := p[:0]
	for i, segment := range p {
		if strings.Contains(segment, "*") && segment != anyName && segment != anyDepth {
			return nil, fmt.Errorf("path %q: a * must be a segment of its own", text)
		}
		if segment == anyDepth && i > 0 && p[i-1] == anyDepth {
			continue
		}
		out = append(out, segment)
	}
	if out[len(out)-1] == anyDepth {
		return nil, fmt.Errorf("path %q ends in **: name the value, which covers everything below it", text)
	}
	return out, nil
}

// maxPlaces is the number of segments of all paths of a route together, with
// one more for the end of each.
const maxPlaces = 128

// places is a set of positions in the paths of a route. One set says for all
// paths at once how far each of them has matched on the way to a value.
type places struct{ low, high uint64 }

func (s *places) add(i int) {
	if i < 64 {
		s.low |= 1 << i
	} else {
		s.high |= 1 << (i - 64)
	}
}

func (s places) isEmpty() bool           { return s.low|s.high == 0 }
func (s places) and(other places) places { return places{s.low & other.low, s.high & other.high} }
func (s places) or(other places) places  { return places{s.low | other.low, s.high | other.high} }
func (s places) meets(other places) bool { return !s.and(other).isEmpty() }
func (s places) count() int              { return bits.OnesCount64(s.low) + bits.OnesCount64(s.high) }

// next moves every position of the set forward by one.
func (s places) next() places { return places{s.low << 1, s.high<<1 | s.low>>63} }

// paths matches all paths of a route in one walk through a document. The work
// at each value does not depend on how many paths there are.
type paths struct {
	start   places            // before the first segment
	one     places            // positions of *
	deep    places            // positions of **
	indexes places            // positions of names that are array indexes
	named   map[string]places // positions of each name
	size    int
}

// add takes in a path and returns the position behind its last segment.
func (p *paths) add(path Pointer, wildcards bool) (end int, err error) {
	if p.size+len(path)+1 > maxPlaces {
		return 0, errors.New("the paths are too many: they may have 127 segments together, counting each path as one more")
	}
	if p.named == nil {
		p.named = map[string]places{}
	}
	p.start.add(p.size)
	for _, segment := range path {
		switch {
		case wildcards && segment == anyName:
			p.one.add(p.size)
		case wildcards && segment == anyDepth:
			p.deep.add(p.size)
		default:
			at := p.named[segment]
			at.add(p.size)
			p.named[segment] = at
			if arrayIndex(segment) >= 0 {
				p.indexes.add(p.size)
			}
		}
		p.size++
	}
	end = p.size
	p.size++
	return end, nil
}

// root returns the positions at the root of a document.
func (p *paths) root() places { return p.skip(p.start) }

// skip lets every ** stand for no segment at all.
func (p *paths) skip(at places) places {
	return at.or(at.and(p.deep).next())
}

// member returns the positions at the member called name.
func (p *paths) member(at places, name []byte) places {
	if at.isEmpty() {
		return at
	}
	return p.step(at, p.named[string(name)].or(p.one))
}

// element returns the positions at element i of an array.
func (p *paths) element(at places, i int) places {
	if at.isEmpty() {
		return at
	}
	matched := p.one
	if at.meets(p.indexes) {
		var digits [20]byte
		matched = matched.or(p.named[string(strconv.AppendInt(digits[:0], int64(i), 10))])
	}
	return p.step(at, matched)
}

func (p *paths) step(at, matched places) places {
	return p.skip(at.and(matched).next().or(at.and(p.deep)))
}
