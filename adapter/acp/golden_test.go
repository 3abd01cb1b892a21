package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/acp"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// recordings are those of real agents.
func recordings() replaytest.Recorded {
	return replaytest.Recorded{Dir: "../../test/recordings/acp", New: func() agent.Decoder { return acp.NewDecoder(acp.Options{}) }}
}

// prompts counts the prompts in a recording.
func prompts(recording []byte) int {
	return strings.Count(string(recording), `"method":"session/prompt"`)
}

func TestEveryRecordingOfARealAgentConverts(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings().All(t) {
		if p := recordings().Play(t, recording); len(p.Turns) != prompts(recording) {
			t.Errorf("%s: %d turns of %d prompts", name, len(p.Turns), prompts(recording))
		}
	}
	recordings().Golden(t)
}

func TestNoSyntheticTextOfARecordingIsShown(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings().All(t) {
		for _, r := range recordings().Play(t, recording).Records {
			switch p := r.Payload.(type) {
			case trace.Message:
				if strings.HasPrefix(p.Text, "API Error") || strings.HasPrefix(p.Text, "[Request interrupted") || strings.HasPrefix(p.Text, "[MODE_UPDATE]") || p.Role != trace.RoleAssistant {
					t.Errorf("%s: the agent says %q", name, p.Text)
				}
			case trace.Thought:
				if strings.Contains(p.Text, "****") {
					t.Errorf("%s: a thought has an empty heading: %q", name, p.Text)
				}
			}
		}
	}
}

// kinds are the kinds of the durable records of a turn, with what tells them apart.
func kinds(records []trace.Record) string {
	var all []string
	for _, r := range records {
		if trace.Ephemeral(r.Payload) {
			continue
		}
		switch p := r.Payload.(type) {
		case trace.Stop:
			all = append(all, "stop:"+string(p.Outcome)+":"+p.Reason)
		case trace.ToolResult:
			all = append(all, "tool_result:"+string(p.Status))
		case trace.PermissionResponse:
			all = append(all, "permission_response:"+string(p.OptionKind))
		case trace.MessageStart, trace.ThoughtStart, trace.ToolCallStart, trace.Step, trace.Data, trace.Prompt, trace.Reply, trace.Usage, trace.Pause, trace.Thought:
		default:
			all = append(all, string(p.Kind()))
		}
	}
	return strings.Join(all, " ")
}

// TestTheSameScriptHasTheSameShapeWithEachAgent compares what different agents made of
// the same script of the model.
func TestTheSameScriptHasTheSameShapeWithEachAgent(t *testing.T) {
	t.Parallel()
	all := recordings().All(t)
	for script, want := range map[string]string{
		"plain":            "message stop:completed:end_turn",
		"tool":             "message tool_call tool_result:completed message stop:completed:end_turn",
		"permission-allow": "message tool_call permission_request permission_response:allow_once tool_result:completed message stop:completed:end_turn",
		"permission-write": "message tool_call permission_request permission_response:allow_once file_change tool_result:completed message stop:completed:end_turn",
		"permission-deny":  "message tool_call permission_request permission_response:reject_once tool_result:denied message stop:completed:end_turn",
		"error-400":        "stop:failed:error",
	} {
		for name, recording := range all {
			agent, ok := strings.CutSuffix(name, "-"+script)
			if !ok || strings.Contains(agent, "-") {
				continue
			}
			got := kinds(recordings().Play(t, recording).Turns[0])
			if (agent == "opencode" || agent == "qwen") && script == "permission-deny" { // a denial ends its turn
				got = strings.Replace(got, "denied stop", "denied message stop", 1)
			}
			if got != want {
				t.Errorf("%s\n got  %s\n want %s", name, got, want)
			}
		}
	}
}

func TestTheHistoryOfALoadedSessionIsInNoTurn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"claude-load-2", "opencode-load-2"} {
		p := recordings().Play(t, recordings().All(t)[name])
		for _, r := range p.Records {
			if m, ok := r.Payload.(trace.Message); ok && strings.Contains(m.Text, "hello from a file") {
				t.Errorf("%s: the history comes again: %q", name, m.Text)
			}
			if _, ok := r.Payload.(trace.ToolCall); ok {
				t.Errorf("%s: a call of the past is on record again", name)
			}
		}
		if len(p.Turns) != 1 {
			t.Errorf("%s: %d turns", name, len(p.Turns))
		}
	}
}

func TestUsageHasOnlyFiguresOfTheAgent(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings().All(t) {
		for _, r := range recordings().Play(t, recording).Records {
			if _, ok := r.Payload.(trace.Usage); !ok {
				continue
			}
			data, err := trace.MarshalPayload(r.Payload)
			if err != nil {
				t.Fatal(err)
			}
			var u map[string]any
			if err := json.Unmarshal(data, &u); err != nil {
				t.Fatal(err)
			}
			if u["input_tokens"] == 0.0 && u["output_tokens"] == 0.0 {
				t.Errorf("%s: zero tokens for unknown: %s", name, data)
			}
		}
	}
}

func TestAStepIsOneCallOfTheModel(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings().All(t) {
		replaytest.StepsAreModelCalls(t, name, recordings().Play(t, recording).Turns)
	}
}
