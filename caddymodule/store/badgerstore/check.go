// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package badgerstore

import (
	"os"
	"path/filepath"
)

func checkFiles(dir string, key []byte) (tables int64, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		return 0, err
	}
	for _, n := range names {
		if info, err := os.Stat(n); err == nil {
			tables += info.Size()
		}
	}
	return tables, nil
}
