// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

const (
	readyTimeout = 30 * time.Second
	stopTimeout  = 10 * time.Second
	readyPoll    = 10 * time.Millisecond
)

// process is a child of ours.
type process struct {
	name string
	cmd  *exec.Cmd
	log  string
	done chan struct{} // closed when it has ended
}

// startProcess starts a child whose output goes to the file log. It must be
// called from the main thread; see main.
func startProcess(name, log string, env []string, argv ...string) (*process, error) {
	out, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	defer out.Close()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = dieWithParent()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	p := &process{name: name, cmd: cmd, log: log, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // how it ended shows in its log
	}()
	return p, nil
}

// ready waits until all addresses accept connections.
func (p *process) ready(ctx context.Context, addrs ...string) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	poll := time.NewTicker(readyPoll)
	defer poll.Stop()
	for _, addr := range addrs {
		for {
			c, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
			if err == nil {
				_ = c.Close()
				break
			}
			select {
			case <-poll.C:
			case <-p.done:
				return fmt.Errorf("%s ended at start:\n%s", p.name, p.tail())
			case <-ctx.Done():
				return fmt.Errorf("%s is not ready: %w\n%s", p.name, ctx.Err(), p.tail())
			}
		}
	}
	return nil
}

// tail is the end of the child's output.
func (p *process) tail() []byte {
	const keep = 2000
	data, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(data[max(0, len(data)-keep):])
}

// stop ends the child, by force if it takes too long.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// freeAddrs finds n free ports of loopback. Another process could take one
// before our child does; then the child says so.
func freeAddrs(n int) ([]string, error) {
	addrs := make([]string, n)
	for i := range addrs {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer ln.Close()
		addrs[i] = ln.Addr().String()
	}
	return addrs, nil
}
