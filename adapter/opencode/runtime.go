package opencode

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/httpjson"
	"github.com/tributary-dev/tributary/internal/procio"
	"github.com/tributary-dev/tributary/toolkind"
)

// Runtime runs OpenCode: a server for each session, or all sessions on one server that
// runs already.
type Runtime struct {
	// Name is the agent's name for people; "OpenCode" if empty.
	Name string
	// Command is the program, "opencode" if empty, and Args come after its own arguments.
	Command string
	Args    []string
	// Environ is the whole environment of the program; nil inherits ours.
	Environ []string
	// URL is the address of a server that runs already; "" starts one. Password is that
	// server's.
	URL, Password string
	Settings      Settings
	// Tools says what the tools do; toolkind.OpenCode() if nil.
	Tools *toolkind.Table
	// StartTime, StopTime and CallTime bound a start, a stop and a call; 60 s, 5 s and
	// 30 s if zero.
	StartTime, StopTime, CallTime time.Duration
	// CheckTime is how long a running turn may be silent before the session reads the
	// messages; 15 s if zero.
	CheckTime time.Duration
}

// Settings are the options of the configuration.
type Settings struct {
	// Agent is the agent of OpenCode that answers, such as plan.
	Agent string `json:"agent"`
	// Directory is the workspace as an attached server sees it; "" is the server's own.
	Directory string `json:"directory"`
}

var (
	_ agent.Runtime  = Runtime{}
	_ agent.Prober   = Runtime{}
	_ agent.Rewinder = Runtime{}
)

// Rewinds implements agent.Rewinder.
func (r Runtime) Rewinds(token string) bool {
	_, message, _ := strings.Cut(token, "/")
	return token == "" || message != ""
}

// Open implements agent.Runtime.
func (r Runtime) Open(ctx context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	s := newSession(r, host, cfg)
	if _, err := s.connect(ctx); err != nil {
		cfg.Meter.Count(agent.OpenFailure)
		_ = s.Close() //nolint:contextcheck // closing has a bound of its own
		return nil, err
	}
	return s, nil
}

// Probe implements agent.Prober.
func (r Runtime) Probe(ctx context.Context) (string, error) {
	if r.URL != "" {
		srv, err := r.attach()
		if err != nil {
			return "", err
		}
		return srv.health(ctx)
	}
	out, err := procio.Output(ctx, r.command(), r.Environ, "--version")
	switch {
	case procio.NotFound(err):
		return "", r.notFound()
	case err != nil:
		return "", fmt.Errorf("opencode: `%s --version` failed: %w", r.command(), err)
	}
	version := strings.TrimSpace(string(out))
	if version == "" || strings.Contains(version, "\n") {
		return "", fmt.Errorf("opencode: `%s --version` prints no version: is it OpenCode?", r.command())
	}
	return version, nil
}

func (r Runtime) name() string    { return cmp.Or(r.Name, "OpenCode") }
func (r Runtime) command() string { return cmp.Or(r.Command, "opencode") }

func (r Runtime) notFound() error {
	return fmt.Errorf("%s was not found: install OpenCode with `npm install -g opencode-ai` (Kilo: @kilocode/cli), or correct the command of the agent", r.command())
}

// client returns a client of a server.
func (r Runtime) client(url, password string) (*httpjson.Client, error) {
	c, err := httpjson.New(httpjson.Config{URL: url, Username: "opencode", Password: password, Timeout: cmp.Or(r.CallTime, 30*time.Second)})
	if err != nil {
		return nil, fmt.Errorf("opencode: %w", err)
	}
	return c, nil
}
