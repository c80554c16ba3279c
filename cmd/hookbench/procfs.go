// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc. USER_HZ is 100 on every platform
// that Go supports.
const tick = 10 * time.Millisecond

// cpu is the CPU time the child has used, user and system.
func (p *process) cpu() (time.Duration, error) {
	d, err := processCPU(strconv.Itoa(p.cmd.Process.Pid))
	if err != nil {
		return 0, fmt.Errorf("cpu of %s: %w", p.name, err)
	}
	return d, nil
}

// processCPU is the CPU time of a process ID, or of "self".
func processCPU(pid string) (time.Duration, error) {
	data, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, err
	}
	return parseStat(data)
}

// usage is CPU time: of the whole machine, of the Caddy under load, of the
// upstream, and of the rest of our processes.
type usage struct{ machine, caddy, upstream, rest time.Duration }

func (u usage) since(o usage) usage {
	return usage{u.machine - o.machine, u.caddy - o.caddy, u.upstream - o.upstream, u.rest - o.rest}
}

// machineCPU is the time in which the CPUs were not idle.
func machineCPU() (time.Duration, error) {
	data, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return parseMachineStat(data)
}

// parseMachineStat adds up user, nice, system, irq, softirq and steal of the
// first line; idle and iowait are left out, guest is contained in user.
func parseMachineStat(data []byte) (time.Duration, error) {
	line, _, _ := strings.Cut(string(data), "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, errors.New("malformed /proc/stat")
	}
	var sum int64
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("malformed /proc/stat: %w", err)
		}
		sum += n
	}
	return time.Duration(sum) * tick, nil
}

// parseStat reads utime and stime, the 14th and 15th field. The 2nd, the name
// of the program, may contain spaces and brackets.
func parseStat(data []byte) (time.Duration, error) {
	end := bytes.LastIndexByte(data, ')')
	fields := strings.Fields(string(data[end+1:]))
	if end < 0 || len(fields) < 13 {
		return 0, errors.New("malformed /proc stat")
	}
	user, err1 := strconv.ParseInt(fields[11], 10, 64)
	system, err2 := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * tick, errors.Join(err1, err2)
}

// memory is what a process has in memory, in bytes.
type memory struct {
	// Resident is everything, Private what no other process shares, Anonymous
	// what no file backs: heap and stacks. The sidecars of a run share the
	// pages of their binary, so Resident is what Private would be for a
	// process that is alone.
	Resident  int64 `json:"resident"`
	Private   int64 `json:"private"`
	Anonymous int64 `json:"anonymous"`
}

// most takes the larger of each.
func (m memory) most(o memory) memory {
	return memory{max(m.Resident, o.Resident), max(m.Private, o.Private), max(m.Anonymous, o.Anonymous)}
}

func (p *process) memory() (memory, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p.cmd.Process.Pid))
	if err != nil {
		return memory{}, fmt.Errorf("memory of %s: %w", p.name, err)
	}
	return parseSmaps(data)
}

func parseSmaps(data []byte) (memory, error) {
	var m memory
	fields := map[string]*int64{"Rss": &m.Resident, "Private_Clean": &m.Private, "Private_Dirty": &m.Private, "Anonymous": &m.Anonymous}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ":")
		sum := fields[name]
		if sum == nil {
			continue
		}
		kb, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return m, fmt.Errorf("malformed smaps: %w", err)
		}
		*sum += kb << 10
		delete(fields, name)
	}
	if len(fields) > 0 {
		return m, errors.New("malformed smaps: fields are missing")
	}
	return m, nil
}

// machine describes where the figures come from.
func machine() string {
	model := "unknown CPU"
	if data, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(data)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				model = strings.TrimSpace(value)
				break
			}
		}
	}
	kernel := "unknown kernel"
	if data, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		kernel = "Linux " + strings.TrimSpace(string(data))
	}
	return model + ", " + kernel
}
