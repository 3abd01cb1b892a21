package openai

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/toolloop"
	"github.com/tributary-dev/tributary/agent/toolloop/mcptool"
	"github.com/tributary-dev/tributary/agent/toolloop/worktool"
	"github.com/tributary-dev/tributary/policy/workspace"
	"github.com/tributary-dev/tributary/trace"
)

type session struct {
	endpoint
	host  agent.Host
	cfg   agent.Config
	scale float64         // tokens per estimated token, as the endpoint counted last
	mcp   mcptool.Servers // connected by the first turn
}

func newSession(e endpoint, host agent.Host, cfg agent.Config) agent.Session {
	servers := mcptool.New(e.MCP, mcptool.Place{Dir: cfg.Cwd, Env: e.Env, StateDir: cfg.StateDir, Box: cfg.Box})
	s := &session{endpoint: e, host: host, cfg: cfg, scale: 1, mcp: servers}
	return agentkit.Local{Name: e.name(), Play: s.play, Release: s.release}.Open()
}

// play runs the tool loop for a prompt.
func (s *session) play(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.host.Resume(inHistory)
	past, err := toolloop.History(ctx, s.host)
	if err != nil {
		return err
	}
	m := &model{session: s, earlier: past.Usage}
	messages := toolloop.Append(past.Messages, toolloop.UserMessage(p))
	tools := s.tools(ctx, b)
	s.host.Note(s.about(tools).Payload())
	toolloop.Run(ctx, s.host, b, m, messages, tools, toolloop.Options{Table: s.Runtime.Tools, MaxSteps: s.MaxSteps})
	m.report(b)
	return nil
}

// tools are what the model is offered in this turn.
func (s *session) tools(ctx context.Context, b *trace.Builder) []toolloop.Tool {
	files := s.host.Files()
	all := builtIn(files, worktool.Shell{Dir: cmp.Or(files.Path(), s.cfg.Cwd), Env: s.Env, StateDir: s.cfg.StateDir, Box: s.cfg.Box, Time: time.Duration(s.CommandTime)})
	all = slices.DeleteFunc(all, func(t toolloop.Tool) bool {
		return s.Options.Tools != nil && !slices.Contains(*s.Options.Tools, t.Name)
	})
	more := s.mcp.Tools(ctx, func(server string, err error) {
		b.Emit(trace.Error{Code: "mcp", Message: fmt.Sprintf("The tools of the MCP server %s are missing: %v.", server, err)})
	})
	return slices.Concat(all, s.Own, more)
}

// about says which model it is, and which tools the model is offered.
func (s *session) about(tools []toolloop.Tool) trace.AgentInfo {
	a := trace.AgentInfo{Provider: s.Provider, Model: s.Model}
	for _, t := range tools {
		a.Tools = append(a.Tools, trace.ToolDefinition{Name: t.Name, Description: t.Description, InputSchema: t.Schema})
	}
	return a
}

// builtIn are the tools for the workspace.
func builtIn(dir workspace.Dir, shell worktool.Shell) []toolloop.Tool {
	return append(worktool.Files(dir), shell.Tool())
}

func (s *session) release() {
	s.mcp.Close()
	s.wire.CloseIdleConnections()
}
