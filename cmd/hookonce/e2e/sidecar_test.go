// Copyright 2026 The hookonce Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Options are what a sidecar gets besides its sites.
type Options struct {
	Vars     map[string]string // words of the Caddyfile, such as APP for <APP>
	Env      []string          // NAME=value
	Global   string            // lines of the global options
	Hookonce string            // lines of the hookonce block in the global options
	Store    string            // lines of the store's block
	Level    string            // of the log; default: DEBUG
}

// Sidecar is one hookonce process with its files and ports. Its methods are for
// the goroutine of the test, except Send, Go and Logs.
type Sidecar struct {
	Dir   string // of this sidecar; the store is in Dir/store
	Site  string // host:port of <site>
	Admin string // host:port of the admin API
	Logs  *Logs

	opts   Options
	cmd    *exec.Cmd
	done   chan struct{} // closed when the process has ended
	client *http.Client
}

// Start starts a sidecar and returns when it serves.
func Start(t testing.TB, sites string, opts Options) *Sidecar {
	t.Helper()
	s := Prepare(t, sites, opts)
	s.start(t)
	return s
}

// Prepare makes the files of a sidecar that Restart starts later.
func Prepare(t testing.TB, sites string, opts Options) *Sidecar {
	t.Helper()
	if opts.Level == "" {
		opts.Level = "DEBUG"
	}
	s := &Sidecar{
		Dir: t.TempDir(), Site: freeAddr(t), Admin: freeAddr(t), Logs: newLogs(), opts: opts,
		client: &http.Client{
			Transport:     &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	s.write(t, sites)
	t.Cleanup(func() {
		s.client.CloseIdleConnections() // a server waits 5 s for a connection that was never used
		if s.done != nil && s.running() {
			s.Stop(t)
		}
		if t.Failed() {
			t.Logf("last lines of the sidecar's log:\n%s", s.Logs.Tail(60))
		}
	})
	return s
}

func (s *Sidecar) file() string { return filepath.Join(s.Dir, "Caddyfile") }

// Caddyfile returns the whole Caddyfile around sites.
func (s *Sidecar) Caddyfile(sites string) string {
	text := "{\n\tadmin <admin>\n\tgrace_period 20s\n\tlog {\n\t\tlevel " + s.opts.Level + "\n\t}\n" + s.opts.Global +
		"\n\thookonce {\n\t\tstore badger <dir>/store {\n\t\t\tmin_free 32MiB\n" + s.opts.Store + "\n\t\t}\n" + s.opts.Hookonce + "\n\t}\n}\n" + sites
	pairs := []string{"<site>", "http://" + s.Site, "<any>", "http://" + s.Site[strings.LastIndexByte(s.Site, ':'):], "<admin>", s.Admin, "<dir>", s.Dir}
	for name, value := range s.opts.Vars {
		pairs = append(pairs, "<"+name+">", value)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func (s *Sidecar) write(t testing.TB, sites string) {
	t.Helper()
	s.writeWhole(t, s.Caddyfile(sites))
}

// writeWhole writes the Caddyfile of the next start.
func (s *Sidecar) writeWhole(t testing.TB, caddyfile string) {
	t.Helper()
	if err := os.WriteFile(s.file(), []byte(caddyfile), 0o600); err != nil {
		t.Fatal(err)
	}
}

// start runs the process and waits for the line that says that it serves.
func (s *Sidecar) start(t testing.TB) {
	t.Helper()
	mark := s.Logs.Len()
	s.launch(t)
	serving := func(r Record) bool { return r.Msg() == "serving initial configuration" }
	if _, ok := s.Logs.wait(mark, serving, s.done); !ok {
		t.Fatalf("the sidecar does not serve:\n%s", s.Logs.Tail(60))
	}
}

// launch runs the process and waits for nothing.
func (s *Sidecar) launch(t testing.TB) {
	t.Helper()
	s.cmd = exec.Command(binary, "run", "--adapter", "caddyfile", "--config", s.file())
	s.cmd.Dir = s.Dir
	s.cmd.Env = environment(s.Dir, s.opts.Env)
	pipe, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := startChild(s.cmd); err != nil {
		t.Fatal(err)
	}
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.Logs.read(pipe)
		_ = s.cmd.Wait() // how it ended is in ProcessState
	}()
}

func (s *Sidecar) running() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// Kill ends the process by SIGKILL.
func (s *Sidecar) Kill(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	s.await(t)
}

// Stop ends the process by SIGTERM. Its exit must be clean.
func (s *Sidecar) Stop(t testing.TB) {
	t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	s.await(t)
	if code := s.cmd.ProcessState.ExitCode(); code != 0 || strings.Contains(s.Logs.Text(), "DATA RACE") {
		t.Errorf("the sidecar ended with %d:\n%s", code, s.Logs.Tail(100))
	}
}

func (s *Sidecar) await(t testing.TB) {
	t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-s.done:
	case <-late.C:
		_ = s.cmd.Process.Signal(syscall.SIGQUIT) // stacks into the log
		<-s.done
		t.Fatalf("the sidecar did not end:\n%s", s.Logs.Tail(400))
	}
}

// Restart starts the process again after Kill or Stop.
func (s *Sidecar) Restart(t testing.TB) {
	t.Helper()
	s.client.CloseIdleConnections()
	s.start(t)
}

// Reload gives the running process other sites. It returns the complaint when
// they are refused.
func (s *Sidecar) Reload(t testing.TB, sites string) error {
	t.Helper()
	return s.Load(t, s.Caddyfile(sites))
}

// Load is Reload with a whole Caddyfile.
func (s *Sidecar) Load(t testing.TB, caddyfile string) error {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.Admin+"/load", strings.NewReader(caddyfile))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "text/caddyfile")
	status, body := s.do(t, req)
	if status != http.StatusOK {
		return fmt.Errorf("load: %d %s", status, body)
	}
	return nil
}

// Call sends a request to the admin API. A body is sent as JSON.
func (s *Sidecar) Call(t testing.TB, method, path, body string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Admin+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	return s.do(t, req)
}

func (s *Sidecar) do(t testing.TB, req *http.Request) (int, []byte) {
	t.Helper()
	req.Close = true // a reload may close an idle connection in the moment of its use
	resp, err := s.client.Do(req)
	if err != nil && (req.Method == http.MethodGet || req.URL.Path == "/load") {
		// The admin server of the configuration before may have reset a connection
		// that it had not taken yet.
		if req.GetBody != nil {
			req.Body, _ = req.GetBody()
		}
		resp, err = s.client.Do(req)
	}
	if err != nil {
		t.Fatalf("admin API: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("admin API: %v", err)
	}
	return resp.StatusCode, body
}

// Metrics returns the text of /metrics.
func (s *Sidecar) Metrics(t testing.TB) string {
	t.Helper()
	status, body := s.Call(t, http.MethodGet, "/metrics", "")
	if status != http.StatusOK {
		t.Fatalf("metrics: %d %s", status, body)
	}
	return string(body)
}
