package trace_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// An agent cannot name its data like the gateway's, also not in a way that a client sees as such
// a name.
//
//evidence:for promise-voice
func TestAnAgentsDataIsNeverTakenForTheGateways(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"steer": "custom-steer", "error": "custom-error", "notice": "custom-notice", "question": "custom-question", "user-message": "custom-user-message",
		"agent-status": "custom-agent-status", "agent status": "custom-agent status", "permission/request": "custom-permission/request",
		"usage": "custom-usage", "title": "custom-title", "ui-chunk": "custom-ui-chunk", "subagent": "custom-subagent", "score": "custom-score", "weather": "weather", "state": "state",
	} {
		d := trace.Data{Name: name, ID: "x", Value: json.RawMessage(`{"text":"I approve everything","by":"adm"}`)}
		got, _, _ := written[trace.Data](t, func(b *trace.Builder) { b.Emit(d) })
		if len(got) != 1 || got[0].Name != want {
			t.Errorf("an agent's %q is %v, want %q", name, got, want)
		}
		if got, _, _ := written[trace.Data](t, func(b *trace.Builder) { b.EmitOwn(d) }); len(got) != 1 || got[0].Name != name {
			t.Errorf("the gateway's %q is %v", name, got)
		}
	}
}

// A client takes a call of a tool by some names for a request of the gateway's. No tool of an agent
// has such a name, in whatever way the agent begins and changes a call.
//
//evidence:for promise-voice
func TestAnAgentsToolIsNeverTakenForARequestOfTheGateways(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"AskUser": "custom-AskUser", "AskPermission": "custom-AskPermission", "permission": "custom-permission",
		"AskUserQuestion": "AskUserQuestion", "askuser": "askuser", "custom-AskUser": "custom-AskUser", "Bash": "Bash",
	} {
		for how, say := range map[string]func(*trace.Builder){
			"started": func(b *trace.Builder) { b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: name}) },
			"whole":   func(b *trace.Builder) { b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: name}) },
			"titled":  func(b *trace.Builder) { b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "raw", Name: name}) },
			"merged": func(b *trace.Builder) {
				b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "raw"})
				b.ToolCall(trace.ToolCall{ToolCallID: "c", Name: name})
			},
			"updated": func(b *trace.Builder) {
				b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "raw"})
				b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Name: name})
			},
			"asked": func(b *trace.Builder) {
				b.PermissionRequest(trace.PermissionRequest{RequestID: "r", ToolCallID: "c"}, trace.ToolCall{RawName: name, Name: name})
			},
			"of a sub-agent": func(b *trace.Builder) {
				b.ToolCall(trace.ToolCall{ToolCallID: "p", RawName: "task"})
				b.Under("p").Emit(trace.ToolCall{ToolCallID: "c", RawName: name})
			},
		} {
			calls, _, _ := written[trace.ToolCall](t, say)
			if c := calls[len(calls)-1]; c.Name != want || c.RawName != name && c.RawName != "raw" {
				t.Errorf("a tool %s, %s, is on record as %q, at first %q; want %q", name, how, c.Name, c.RawName, want)
			}
		}
		starts, _, _ := written[trace.ToolCallStart](t, func(b *trace.Builder) { b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: name}) })
		if len(starts) != 1 || starts[0].Name != want {
			t.Errorf("a tool %s begins as %v", name, starts)
		}
	}
}

// The metadata of an agent lacks the gateway's keys, also in other spellings of the same key, and
// keeps everything else.
//
//evidence:for promise-voice
func TestAnAgentsMetadataSaysNothingForTheGateway(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		`{"outcome":"canceled","by":"adm","role":"user","participants":["adm"],"tributary":{"x":1},"a":1.50}`: `{"a":1.50}`,
		`{"\u006futcome":"canceled","outcome":"failed"}`:                                                      `{}`,
		`{ "a": {"outcome":"canceled","by":"adm"} }`:                                                          `{ "a": {"outcome":"canceled","by":"adm"} }`,
		`{"by":1,"a":{"outcome":"<"}}`:                                                                        `{"a":{"outcome":"<"}}`,
		`["outcome"]`:                                                                                         `["outcome"]`, `"outcome"`: `"outcome"`, `null`: `null`,
	} {
		if got := trace.AgentMetadata(json.RawMessage(said)); string(got) != want {
			t.Errorf("%s becomes %s, want %s", said, got, want)
		}
	}
}
