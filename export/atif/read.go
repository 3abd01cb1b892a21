package atif

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file reads a trajectory that another program wrote into records.

// stranger is what is read of a trajectory.
type stranger struct {
	SchemaVersion string     `json:"schema_version"`
	TrajectoryID  string     `json:"trajectory_id"`
	SessionID     string     `json:"session_id"`
	Agent         agent      `json:"agent"`
	Steps         []given    `json:"steps"`
	Subagents     []stranger `json:"subagent_trajectories"`
}

type given struct {
	Timestamp   string          `json:"timestamp"`
	Source      string          `json:"source"`
	Model       string          `json:"model_name"`
	Message     json.RawMessage `json:"message"`
	Reasoning   string          `json:"reasoning_content"`
	ToolCalls   []givenCall     `json:"tool_calls"`
	Observation struct {
		Results []struct {
			CallID    string          `json:"source_call_id"`
			Content   json.RawMessage `json:"content"`
			Subagents []reference     `json:"subagent_trajectory_ref"`
		} `json:"results"`
	} `json:"observation"`
	Metrics *metrics `json:"metrics"`
}

type givenCall struct {
	ID        string          `json:"tool_call_id"`
	Name      string          `json:"function_name"`
	Arguments json.RawMessage `json:"arguments"`
	Extra     struct {
		Kind   trace.ToolKind   `json:"kind"`
		Status trace.ToolStatus `json:"status"`
	} `json:"extra"`
}

// Read makes a session of a trajectory in any version 1 of ATIF. Each step of a user begins a turn.
// The agent is named imported:NAME. What ATIF does not tell is not there: who was asked, when
// results came, and how a turn ended, which counts as completed.
func Read(ctx context.Context, r io.Reader, emit func(trace.Record) error) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("the trajectory cannot be read: %w", err)
	}
	var t stranger
	if err := json.Unmarshal(data, &t); err != nil {
		return fmt.Errorf("this is no trajectory in ATIF: %w", err)
	}
	if !strings.HasPrefix(t.SchemaVersion, "ATIF-v1.") {
		return fmt.Errorf("this is no trajectory in ATIF 1: its schema_version is %q", t.SchemaVersion)
	}
	if len(t.Steps) == 0 {
		return ErrNothing
	}
	in := &importer{emit: emit, placed: map[string]bool{}, session: cmp.Or(t.SessionID, t.TrajectoryID, fmt.Sprintf("imported-%.6x", sha256.Sum256(data)))}
	info := trace.AgentInfo{Name: "imported:" + t.Agent.Name, Adapter: "atif", Product: t.Agent.Name, Version: t.Agent.Version, Model: t.Agent.ModelName}
	for _, tool := range t.Agent.Tools {
		info.Tools = append(info.Tools, trace.ToolDefinition{Name: tool.Function.Name, Description: tool.Function.Description, InputSchema: tool.Function.Parameters})
	}
	in.clock(t.Steps[0])
	in.put("", trace.Event{ID: "agent", Time: in.now, Actor: trace.Agent, Payload: info.Payload()})
	for _, s := range t.Steps {
		in.clock(s)
		switch s.Source {
		case "user":
			in.finish()
			in.begin(ctx, &s)
		default:
			if in.b == nil {
				in.begin(ctx, nil)
			}
			in.step(in.b, s, t.Subagents, false)
		}
	}
	for _, sub := range t.Subagents { // of no call
		if !in.placed[sub.TrajectoryID] && in.b != nil {
			in.subagent(in.b.Sub(sub.TrajectoryID, sub.Agent.Name), sub)
		}
	}
	in.finish()
	return in.err
}

// importer writes the turns of the session.
type importer struct {
	emit    func(trace.Record) error
	session string
	now     time.Time
	seq     uint64
	turns   int
	steps   int             // so far, so that each has names of its own for its parts
	b       *trace.Builder  // of the open turn
	placed  map[string]bool // trajectories of sub-agents, by their ids
	err     error
}

// clock is the time of the step, which never goes back. A step without a time has that before.
func (in *importer) clock(s given) {
	if t, err := time.Parse(time.RFC3339Nano, s.Timestamp); err == nil && t.After(in.now) {
		in.now = t.UTC()
	}
}

func (in *importer) put(turn string, e trace.Event) {
	in.seq++
	if in.err == nil {
		in.err = in.emit(trace.Record{Session: in.session, Turn: turn, Seq: in.seq, Event: e})
	}
}

func (in *importer) begin(ctx context.Context, prompt *given) {
	in.turns++
	turn := fmt.Sprintf("turn-%d", in.turns)
	in.b = trace.NewBuilder(ctx, trace.Config{
		Turn: turn, Now: func() time.Time { return in.now },
		Append: func(_ context.Context, events []trace.Event) error {
			for _, e := range events {
				in.put(turn, e)
			}
			return in.err
		},
	})
	cause := trace.CauseAgent
	if prompt != nil {
		cause = trace.CausePrompt
		in.b.Emit(trace.Prompt{Message: trace.UserMessage{ID: fmt.Sprintf("prompt-%d", in.turns), Parts: inputs(prompt.Message)}})
	}
	in.b.Emit(trace.Reply{MessageID: fmt.Sprintf("reply-%d", in.turns), Cause: cause})
}

func (in *importer) finish() {
	if in.b == nil {
		return
	}
	if err := in.b.Finish(trace.Stop{Reason: "imported", Outcome: trace.OutcomeCompleted}); in.err == nil {
		in.err = err
	}
	in.b = nil
}

// step writes a step of the agent, or of a sub-agent.
func (in *importer) step(b *trace.Builder, s given, subs []stranger, subagent bool) {
	if s.Source != "agent" {
		if text := textIn(s.Message); text != "" && s.Source == "system" {
			b.Emit(trace.Notice("system", text))
		}
		return
	}
	if !subagent {
		b.StepStart(trace.Step{})
	}
	in.steps++
	key := fmt.Sprint(in.steps)
	if s.Reasoning != "" {
		b.Thought(key, s.Reasoning, "")
	}
	if text := textIn(s.Message); text != "" {
		b.Message(key, text)
	}
	status := map[string]trace.ToolStatus{}
	for _, c := range s.ToolCalls {
		status[c.ID] = c.Extra.Status
		b.Emit(trace.ToolCall{ToolCallID: c.ID, RawName: c.Name, Name: c.Name, ToolKind: cmp.Or(c.Extra.Kind, trace.ToolOther), Input: arguments(c.Arguments)})
	}
	for _, r := range s.Observation.Results {
		if _, known := status[r.CallID]; !known {
			continue // of no call: the trace has no place for it
		}
		for _, ref := range r.Subagents {
			for _, sub := range subs {
				if sub.TrajectoryID == ref.TrajectoryID {
					in.subagent(b.Under(r.CallID), sub)
				}
			}
		}
		result := trace.ToolResult{ToolCallID: r.CallID, Status: cmp.Or(status[r.CallID], trace.ToolCompleted)}
		if text := textIn(r.Content); result.Status == trace.ToolCompleted {
			result.Output, _ = json.Marshal(text) // a string always can be
		} else {
			result.Error = text
		}
		b.Emit(result)
	}
	if m := s.Metrics; m != nil {
		b.Emit(trace.Usage{Scope: trace.UsageStep, InputTokens: or0(m.Prompt), OutputTokens: or0(m.Completion), CacheReadTokens: or0(m.Cached), CostUSD: m.CostUSD, Model: s.Model})
	}
	if !subagent {
		b.StepEnd()
	}
}

func (in *importer) subagent(b *trace.Builder, t stranger) {
	in.placed[t.TrajectoryID] = true
	for _, s := range t.Steps {
		in.step(b, s, t.Subagents, true)
	}
}

func or0(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// contents are those of a message: a text, or a list.
func contents(v json.RawMessage) (all []content) {
	var text string
	if json.Unmarshal(v, &text) == nil {
		return []content{{Type: "text", Text: text}}
	}
	_ = json.Unmarshal(v, &all) // else there is nothing
	return all
}

func textIn(v json.RawMessage) string {
	var all []string
	for _, c := range contents(v) {
		if c.Type == "text" {
			all = append(all, c.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// inputs are the parts of a prompt. A picture stays where it is.
func inputs(v json.RawMessage) (all []trace.InputPart) {
	for _, c := range contents(v) {
		if c.Source != nil {
			all = append(all, trace.InputPart{Type: trace.InputFile, MediaType: c.Source.MediaType, URL: c.Source.Path})
			continue
		}
		all = append(all, trace.InputPart{Type: trace.InputText, Text: c.Text})
	}
	return all
}
