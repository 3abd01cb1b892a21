package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/internal/testkit/launch"
	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

// The names of the servers, as the tables show them.
const (
	gateway    = "SQLite" // the gateway as it is
	unsynced   = "fsync off"
	onPostgres = "PostgreSQL"
	raw        = "raw Go"
	peer       = "Node"
)

// names are the servers in the order of the table.
func names() []string { return []string{gateway, unsynced, onPostgres, raw, peer} }

// server is one of the programs that are compared.
type server struct {
	*launch.Server

	name   string
	agent  string // that every session is with; "": one at the pace that is asked for
	client *http.Client
}

// starter starts servers.
type starter struct {
	binary string // the gateway's
	peer   string // the directory of the peer, or none
	dir    string // for their data
	config string // the gateway's configuration, if not the one of all

	postgres *pgtest.Server // or none
	shares   string         // the database of all gateways on PostgreSQL; "": each has its own
}

// settings is the gateway's configuration: the demo agent at every pace that the
// benchmark uses, and else the defaults. No limit holds for one client, because the
// one client stands for all of them.
const settings = unlimited + `default_agent: at-20ms
agents:
  at-0ms: {adapter: demo, options: {pace: 0s}}
  at-1ms: {adapter: demo, options: {pace: 1ms}}
  at-20ms: {adapter: demo, options: {pace: 20ms}}
  at-100ms: {adapter: demo, options: {pace: 100ms}}
  at-200ms: {adapter: demo, options: {pace: 200ms}}
  at-1h: {adapter: demo, options: {pace: 1h}}
`

// configuration is the file with the settings.
func (s starter) configuration() string {
	return cmp.Or(s.config, filepath.Join(s.dir, "tributary.yaml"))
}

// prepare writes that file.
func (s starter) prepare() error {
	if err := os.WriteFile(s.configuration(), []byte(settings), 0o600); err != nil {
		return fmt.Errorf("write the gateways' configuration: %w", err)
	}
	return nil
}

// server starts the server with that name. A gateway gets the data directory, or a new one if the
// name is empty.
func (s starter) server(ctx context.Context, name, data string) (*server, error) {
	cmd, err := s.command(name, data)
	if err != nil {
		return nil, err
	}
	running, err := launch.Start(ctx, cmd)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: filesNeeded, DisableCompression: true}
	return &server{Server: running, name: name, client: &http.Client{Transport: transport}}, nil
}

// command returns the command of a server. The server outlives the context of its start; end ends
// the server.
func (s starter) command(name, data string) (*exec.Cmd, error) { //nolint:noctx // see above
	switch name {
	case raw:
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find this program, to start the raw server: %w", err)
		}
		return exec.Command(self, rawCommand), nil
	case peer:
		cmd := exec.Command("node", "server.mjs")
		cmd.Dir = s.peer
		return cmd, nil
	}
	if data == "" {
		var err error
		if data, err = os.MkdirTemp(s.dir, "data"); err != nil {
			return nil, fmt.Errorf("prepare a gateway: %w", err)
		}
	}
	args := []string{"serve", "--config", s.configuration(), "--listen", "127.0.0.1:0", "--data", data, "--cwd", s.dir, "--log-level", "warn"}
	switch name {
	case unsynced:
		args = append(args, "--fsync", "off")
	case onPostgres:
		url, err := s.database(data)
		if err != nil {
			return nil, err
		}
		args = append(args, "--db", url)
	}
	return exec.Command(s.binary, args...), nil
}

// database makes the database of the gateway with that data directory, unless it exists.
func (s starter) database(data string) (url string, err error) {
	name := cmp.Or(s.shares, "bench_"+filepath.Base(data))
	return s.postgres.URL(name), s.postgres.Make(name)
}

// has reports whether this run measures the server with that name.
func (s starter) has(name string) bool {
	return (name != peer || s.peer != "") && (name != onPostgres || s.postgres != nil)
}

// engines are the gateways whose logs differ.
func (s starter) engines() []string {
	return slices.DeleteFunc([]string{gateway, onPostgres}, func(name string) bool { return !s.has(name) })
}

// all starts the servers with these names, except those that this run does not measure.
func (s starter) all(ctx context.Context, names ...string) ([]*server, error) {
	var servers []*server
	for _, name := range names {
		if !s.has(name) {
			continue
		}
		one, err := s.server(ctx, name, "")
		if err != nil {
			endAll(servers)
			return nil, err
		}
		servers = append(servers, one)
	}
	return servers, nil
}

func endAll(servers []*server) {
	for _, s := range servers {
		s.end()
	}
}

func (s *server) end() {
	s.client.CloseIdleConnections()
	if err := s.End(); err != nil && s.name == gateway {
		fmt.Fprintln(os.Stderr, err)
	}
}

// alive returns an error with the reason if a server has ended.
func (s *server) alive() error {
	select {
	case <-s.Done():
		return errors.New(s.name + " has ended: " + s.Said())
	default:
		return nil
	}
}

// metric is one of the gateway's own figures.
func (s *server) metric(ctx context.Context, name string) (float64, error) {
	res, err := s.request(ctx, http.MethodGet, "/metrics", nil)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, fmt.Errorf("%s has no metric %s", s.name, name)
}

func (s *server) cpu() (time.Duration, error) { return processorTime(s.PID) }
func (s *server) memory() (int64, error)      { return memoryOf(s.PID) }
