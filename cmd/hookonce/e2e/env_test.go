// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"testing"
)

// environment is what a child sees: nothing of ours but the way to programs,
// directories of its own, and the secrets of the providers.
func environment(dir string, more []string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir,
		"XDG_DATA_HOME=" + dir + "/data", "XDG_CONFIG_HOME=" + dir + "/config",
		"GORACE=halt_on_error=1 exitcode=66",
	}
	return append(append(env, secretVariables()...), more...)
}

// Ports below the range from which the kernel takes those of outgoing
// connections, so that none of them is in the way.
const firstPort, ports = 20000, 12000

var nextPort atomic.Uint32

// freeAddr returns an address of loopback that nobody listens on. Each process
// of tests starts elsewhere in the range.
func freeAddr(t testing.TB) string {
	t.Helper()
	for range ports {
		n := nextPort.Add(1) + uint32(os.Getpid())*97
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", firstPort+n%ports))
		if err != nil {
			continue
		}
		addr := ln.Addr().String()
		if err := ln.Close(); err != nil {
			t.Fatal(err)
		}
		return addr
	}
	t.Fatal("no port is free")
	return ""
}
