package agent_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// decoder is the pure half of an adapter. Its agent writes lines such as
// {"say":"Hello"}, {"call":"c1","tool":"date"}, {"result":"c1","output":"today"}
// and {"done":true}.
type decoder struct{}

func (decoder) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	var line struct {
		Say, Call, Tool, Result string
		Output                  json.RawMessage
		Done                    bool
	}
	if err := json.Unmarshal(m.Data, &line); err != nil {
		return nil, fmt.Errorf("ticker: a line that is not JSON was skipped: %w", err)
	}
	b := t.Current()
	if m.Dir != agent.Out || b == nil {
		return nil, nil
	}
	switch {
	case line.Say != "":
		b.MessageDelta("answer", line.Say)
	case line.Call != "":
		b.MessageEnd("answer")
		b.ToolCall(trace.ToolCall{ToolCallID: line.Call, RawName: line.Tool, ToolKind: trace.ToolOther, Input: json.RawMessage("{}")})
	case line.Result != "":
		b.ToolResult(trace.ToolResult{ToolCallID: line.Result, Status: trace.ToolCompleted, Output: line.Output})
	case line.Done:
		b.End(trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted})
	}
	return nil, nil
}

// runtime is the other half. A real one starts a process; this one has the lines.
type runtime struct{ lines []string }

func (r runtime) Open(context.Context, agent.Host, agent.Config) (agent.Session, error) {
	return session(r), nil
}

type session struct{ lines []string }

func (s session) Prompt(ctx context.Context, _ agent.Prompt, b *trace.Builder) error {
	for _, line := range s.lines {
		select {
		case <-ctx.Done():
			b.End(trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled})
			return nil
		default:
		}
		if _, err := (decoder{}).Decode(agent.Message{Dir: agent.Out, Data: json.RawMessage(line)}, oneTurn{b}); err != nil {
			return err
		}
	}
	return nil
}

func (session) Close() error { return nil }

// oneTurn is agent.Turns for an agent that never begins a turn by itself.
type oneTurn struct{ b *trace.Builder }

func (t oneTurn) Prompted(trace.Prompt) *trace.Builder { return t.b }
func (t oneTurn) Begin(agent.TurnInfo) *trace.Builder  { return nil }
func (t oneTurn) Current() *trace.Builder              { return t.b }
func (t oneTurn) Note(trace.Payload)                   {}

// An adapter is a Decoder, which is pure, and a Runtime, which feeds it.
func Example() {
	ctx, host := context.Background(), agenttest.NewHost()
	ticker := runtime{lines: []string{
		`{"say":"One "}`, `{"say":"moment."}`,
		`{"call":"c1","tool":"date"}`, `{"result":"c1","output":"today"}`,
		`{"done":true}`,
	}}
	s, err := ticker.Open(ctx, host, agent.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()

	prompt := agent.Prompt{Message: trace.UserMessage{ID: "u1", Parts: []trace.InputPart{{Type: trace.InputText, Text: "What day is it?"}}}}
	turn := host.Turn(prompt) // the session does this, and Finish too
	if err := s.Prompt(ctx, prompt, turn.Builder); err != nil {
		fmt.Println(err)
	}
	verdict, _ := turn.Result()
	if err := turn.Finish(verdict); err != nil {
		fmt.Println(err)
	}
	for _, e := range turn.Events() {
		payload, _ := trace.MarshalPayload(e.Payload)
		fmt.Println(e.Payload.Kind(), string(payload))
	}
	// Output:
	// prompt {"message":{"id":"u1","parts":[{"type":"text","text":"What day is it?"}]}}
	// reply {"message_id":"message-t1","cause":"prompt"}
	// step {"phase":"start"}
	// message.start {"part":"text-1","role":"assistant"}
	// message.delta {"part":"text-1","delta":"One "}
	// message.delta {"part":"text-1","delta":"moment."}
	// message {"part":"text-1","role":"assistant","text":"One moment."}
	// tool_call {"tool_call_id":"c1","raw_name":"date","name":"date","kind":"other","input":{}}
	// tool_result {"tool_call_id":"c1","status":"completed","output":"today"}
	// step {"phase":"end"}
	// stop {"reason":"end_turn","outcome":"completed","final_output":"One moment."}
}
