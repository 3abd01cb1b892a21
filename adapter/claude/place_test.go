package claude_test

import (
	"encoding/json"
	"testing"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// noTurns is an agent.Turns whose turns nobody reads.
type noTurns struct{ current *agenttest.Recorder }

func (n *noTurns) Prompted(p trace.Prompt) *trace.Builder {
	return n.Begin(agent.TurnInfo{Prompt: &p})
}

func (n *noTurns) Begin(agent.TurnInfo) *trace.Builder {
	n.current = agenttest.NewRecorder()
	return n.current.Builder
}

func (n *noTurns) Current() *trace.Builder {
	if n.current == nil {
		return nil
	}
	return n.current.Builder
}

func (*noTurns) Note(trace.Payload) {}

// TestToken: the token names the newest message of the conversation itself.
func TestToken(t *testing.T) {
	t.Parallel()
	d := claude.NewDecoder(claude.Options{})
	turns := &noTurns{}
	for _, c := range []struct{ line, want string }{
		{`{"type":"control_response","response":{}}`, ""},
		{`{"type":"system","subtype":"init","session_id":"s","uuid":"u0"}`, "s"},
		{`{"type":"assistant","session_id":"s","uuid":"u1","message":{"id":"a","content":[{"type":"text","text":"1"}]}}`, "s@u1"},
		{`{"type":"assistant","session_id":"s","uuid":"u2","parent_tool_use_id":"t","message":{"id":"b","content":[{"type":"text","text":"2"}]}}`, "s@u1"},
		{`{"type":"stream_event","session_id":"s","uuid":"u3","event":{"type":"ping"}}`, "s@u1"},
		{`{"type":"user","session_id":"s","uuid":"u4","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, "s@u4"},
		{`{"type":"result","session_id":"s","uuid":"u5","subtype":"success"}`, "s@u4"},
		{`{"type":"system","subtype":"init","session_id":"forked","uuid":"u6"}`, "forked"},
	} {
		if _, err := d.Decode(agent.Message{Dir: agent.Out, Data: json.RawMessage(c.line)}, turns); err != nil {
			t.Error(err)
		}
		if got := d.Token(); got != c.want {
			t.Errorf("after %s the token is %q, want %q", c.line, got, c.want)
		}
	}
	if turns.current != nil {
		if err := turns.current.Finish(trace.Stop{}); err != nil {
			t.Error(err)
		}
	}
	for token, names := range map[string]bool{"": true, "s": false, "s@u1": true} {
		if (claude.Runtime{}).Rewinds(token) != names {
			t.Errorf("that %q names a moment is said to be %v", token, !names)
		}
	}
}
