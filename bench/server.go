package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

// The names of the servers, as the tables show them.
const (
	gateway = "gateway"
	synced  = "fsync always"
	raw     = "raw Go"
	peer    = "Node"
)

// server is one of the programs that are compared.
type server struct {
	*process
	name   string
	base   string
	token  string
	client *http.Client
}

// starter starts servers.
type starter struct {
	binary string // the gateway's
	peer   string // the directory of the peer, or none
	dir    string // for their data
}

// settings is the gateway's configuration: the demo agent at every pace that is
// asked for, no limit on how many prompts one client may have, for it stands for
// all of them, and else the defaults.
const settings = `default_agent: at-20ms
limits: {prompts: none}
agents:
  at-0ms: {adapter: demo, pace: 0s}
  at-20ms: {adapter: demo, pace: 20ms}
  at-100ms: {adapter: demo, pace: 100ms}
  at-200ms: {adapter: demo, pace: 200ms}
  at-1h: {adapter: demo, pace: 1h}
`

// server starts the one with that name. A gateway gets the data directory, made
// anew when it is empty.
func (s starter) server(ctx context.Context, name, data string) (*server, error) {
	var p *process
	var err error
	switch name {
	case raw:
		self, fault := os.Executable()
		if fault != nil {
			return nil, fmt.Errorf("find this program, to start the raw server: %w", fault)
		}
		p, err = startProcess(ctx, "", self, rawCommand)
	case peer:
		p, err = startProcess(ctx, s.peer, "node", "server.mjs")
	default:
		p, err = s.gateway(ctx, name, data)
	}
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{MaxIdleConnsPerHost: filesNeeded, DisableCompression: true}
	return &server{
		process: p, name: name, base: "http://" + p.address.Host, token: p.address.Query().Get("token"),
		client: &http.Client{Transport: transport},
	}, nil
}

func (s starter) gateway(ctx context.Context, name, data string) (*process, error) {
	file := filepath.Join(s.dir, "tributary.yaml")
	err := os.WriteFile(file, []byte(settings), 0o600)
	if err == nil && data == "" {
		data, err = os.MkdirTemp(s.dir, "data")
	}
	if err != nil {
		return nil, fmt.Errorf("prepare a gateway: %w", err)
	}
	args := []string{"serve", "--config", file, "--listen", "127.0.0.1:0", "--data", data, "--cwd", s.dir, "--log-level", "warn"}
	if name == synced {
		args = append(args, "--fsync", "always")
	}
	return startProcess(ctx, "", s.binary, args...)
}

// all starts those of the names that there are.
func (s starter) all(ctx context.Context, names ...string) ([]*server, error) {
	var servers []*server
	for _, name := range names {
		if name == peer && s.peer == "" {
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
	s.process.end()
}

// alive tells why a server is not there any more, if it isn't.
func (s *server) alive() error {
	select {
	case <-s.done:
		return errors.New(s.name + " has ended: " + s.stderr.String())
	default:
		return nil
	}
}
