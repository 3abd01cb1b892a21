package openai

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/agent/toolloop/mcptool"
	"github.com/tributary-dev/tributary/agent/toolloop/worktool"
	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/workspace"
)

// closeWithin bounds how long Close waits for a turn.
const closeWithin = 10 * time.Second

type session struct {
	endpoint
	host  agent.Host
	cfg   agent.Config
	scale float64         // tokens per estimated token, as the endpoint counted last
	mcp   mcptool.Servers // connected by the first turn
	life  context.Context //nolint:containedctx // ends with Close
	end   context.CancelFunc
	busy  chan struct{} // holds a token while a turn runs; guards scale and mcp
}

var _ agent.Session = (*session)(nil)

func newSession(e endpoint, host agent.Host, cfg agent.Config) *session {
	servers := mcptool.New(e.MCP, mcptool.Place{Dir: cfg.Cwd, Env: e.Env, StateDir: cfg.StateDir})
	s := &session{endpoint: e, host: host, cfg: cfg, scale: 1, mcp: servers, busy: make(chan struct{}, 1)}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.busy <- struct{}{} // free, unless Close is at work
	defer func() { <-s.busy }()
	if s.life.Err() != nil {
		return errors.New("the session is closed: open a new one")
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)() //nolint:contextcheck // Close ends the turn, too
	s.host.Resume(inHistory)
	past, err := toolloop.History(ctx, s.host)
	if err != nil && ctx.Err() == nil {
		return err
	}
	m := &model{session: s, earlier: past.Usage}
	messages := toolloop.Append(past.Messages, toolloop.UserMessage(p))
	toolloop.Run(ctx, s.host, b, m, messages, s.tools(ctx, b), toolloop.Options{Table: s.Runtime.Tools, MaxSteps: s.MaxSteps})
	m.report(b)
	return nil
}

// tools are what the model is offered in this turn.
func (s *session) tools(ctx context.Context, b *trace.Builder) []toolloop.Tool {
	files := s.host.Files()
	all := builtIn(files, worktool.Shell{Dir: cmp.Or(files.Path(), s.cfg.Cwd), Env: s.Env, StateDir: s.cfg.StateDir, Time: time.Duration(s.CommandTime)})
	all = slices.DeleteFunc(all, func(t toolloop.Tool) bool {
		return s.Options.Tools != nil && !slices.Contains(*s.Options.Tools, t.Name)
	})
	more := s.mcp.Tools(ctx, func(server string, err error) {
		b.Emit(trace.Notice("mcp", fmt.Sprintf("The tools of the MCP server %s are missing: %v.", server, err)))
	})
	return slices.Concat(all, s.Own, more)
}

// builtIn are the tools for the workspace.
func builtIn(dir workspace.Dir, shell worktool.Shell) []toolloop.Tool {
	return append(worktool.Files(dir), shell.Tool())
}

// Close implements agent.Session.
func (s *session) Close() error {
	s.end()
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
		s.mcp.Close()
		s.wire.CloseIdleConnections()
		return nil
	case <-time.After(closeWithin):
		return fmt.Errorf("%s: the turn did not end within %s: a tool does not stop", s.name(), closeWithin)
	}
}
