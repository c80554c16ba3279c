// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package oracle

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// AdminHandler steers a server from outside:
//
//	POST /script     append behaviours: a list, or one
//	POST /default    set the default behaviour
//	POST /reset      drop the script, restore the first default; ?ledger=1 empties the ledger too
//	POST /release    let every held request go
//	GET  /ledger     the ledger as JSON Lines
//	GET  /stats      counts
func (s *Server) AdminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /script", func(w http.ResponseWriter, r *http.Request) {
		var list []Behaviour
		if readJSON(w, r, &list) {
			s.script.push(list)
		}
	})
	mux.HandleFunc("POST /default", func(w http.ResponseWriter, r *http.Request) {
		var list []Behaviour
		if !readJSON(w, r, &list) {
			return
		}
		if len(list) != 1 {
			http.Error(w, "want one behaviour", http.StatusBadRequest)
			return
		}
		s.script.setDefault(list[0])
	})
	mux.HandleFunc("POST /reset", func(w http.ResponseWriter, r *http.Request) {
		s.script.reset()
		if r.FormValue("ledger") == "" {
			return
		}
		if err := s.ledger.clear(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("POST /release", func(http.ResponseWriter, *http.Request) { s.Release() })
	mux.HandleFunc("GET /ledger", s.writeLedger)
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.Stats())
	})
	return mux
}

// readJSON reads one behaviour or a list of them.
func readJSON(w http.ResponseWriter, r *http.Request, list *[]Behaviour) bool {
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err == nil {
		*list, err = ParseScript(data)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

// ParseScript reads a script: a JSON list of behaviours, or a single one, each
// an object or a name.
func ParseScript(data []byte) ([]Behaviour, error) {
	var raw json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	if len(raw) > 0 && raw[0] == '[' {
		var list []Behaviour
		err := json.Unmarshal(raw, &list)
		return list, err
	}
	var one Behaviour
	err := json.Unmarshal(raw, &one)
	return []Behaviour{one}, err
}

func (s *Server) writeLedger(w http.ResponseWriter, _ *http.Request) {
	effects, err := s.Ledger()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	enc := json.NewEncoder(w)
	for _, e := range effects {
		if enc.Encode(e) != nil {
			return
		}
	}
}
