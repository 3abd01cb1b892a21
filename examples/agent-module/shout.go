package main

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
	"github.com/tributary-dev/tributary/trace"
)

// shoutAdapter says what the agent takes and how it is made.
func shoutAdapter() agent.Adapter {
	tools, err := toolkind.New(map[string]toolkind.Entry{
		"read_aloud": {Kind: trace.ToolRead, Paths: []string{"book"}},
	})
	return agent.Adapter{
		Name: "shout", Keys: []string{"options", "tool_kinds"},
		InProcess: true, // a session costs no process
		Tools:     func(string) toolkind.Table { return tools },
		New: func(s agent.Settings) (agent.Runtime, error) {
			o := options{Mark: "!"}
			if err := agent.DecodeOptions(s.Options, &o); err != nil {
				return nil, err
			}
			return runtime{o, tools.With(s.ToolKinds)}, err
		},
	}
}

// options are what `agents.NAME.options` may say.
type options struct {
	Mark string `json:"mark"`
}

type runtime struct {
	options
	tools toolkind.Table
}

// Probe implements agent.Prober.
func (runtime) Probe(context.Context) (string, error) { return "1.0.0", nil }

// Open implements agent.Runtime.
func (r runtime) Open(_ context.Context, host agent.Host, _ agent.Config) (agent.Session, error) {
	return agentkit.Local{Name: "Shout", Play: func(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
		text := p.Text()
		if book, reads := strings.CutPrefix(text, "read "); reads {
			var err error
			if text, err = r.readAloud(ctx, host, b, book); err != nil {
				return err
			}
		}
		b.Message("reply", strings.ToUpper(text)+r.Mark)
		return nil
	}}.Open(), nil
}

// readAloud is the agent's tool. The policy of the gateway, or a person, allows the call.
func (r runtime) readAloud(ctx context.Context, host agent.Host, b *trace.Builder, book string) (string, error) {
	input, err := json.Marshal(map[string]string{"book": book})
	if err != nil {
		return "", err
	}
	call := r.tools.Call("call-1", "read_aloud", input)
	b.ToolCall(call)
	request := trace.PermissionRequest{RequestID: "request-1", ToolCallID: call.ToolCallID, Title: call.Title}
	answer, err := agentkit.Approve(b, trace.PermissionCheck{Request: request})[0].Wait(ctx, host)
	if err != nil {
		return "", err
	}
	if !answer.Allowed() {
		b.ToolResult(trace.ToolResult{ToolCallID: call.ToolCallID, Status: trace.ToolDenied, Error: agentkit.Refusal(answer)})
		return "I may not read that: " + agentkit.Refusal(answer), nil
	}
	data, _, err := host.Files().ReadFile(book)
	if err != nil {
		b.ToolResult(trace.ToolResult{ToolCallID: call.ToolCallID, Status: trace.ToolFailed, Error: err.Error()})
		return err.Error(), nil
	}
	text := strings.TrimSpace(string(data))
	b.ToolResult(trace.ToolResult{ToolCallID: call.ToolCallID, Status: trace.ToolCompleted, Output: agentkit.Encode(text)})
	return text, nil
}
