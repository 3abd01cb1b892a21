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

	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

// This file makes records of a trajectory that another program wrote.

// Read makes a session of a trajectory in any version 1 of ATIF. Each step of a user begins a turn.
// The agent is named imported:NAME. What ATIF does not tell is not there: when results came, and, of
// other programs, who was asked and how a turn ended, which counts as completed. Steps that were
// copied from another trajectory are left out.
func Read(ctx context.Context, r io.Reader, emit func(trace.Record) error) error {
	t, data, err := parse(r)
	if err != nil {
		return err
	}
	in := &importer{ctx: ctx, emit: emit, placed: map[*trajectory]bool{}}
	in.session = cmp.Or(t.SessionID, t.TrajectoryID, fmt.Sprintf("imported-%.6x", sha256.Sum256(data)))
	in.collect(t.Subagents)
	info := trace.AgentInfo{Name: "imported:" + t.Agent.Name, Adapter: "atif", Product: t.Agent.Name, Version: t.Agent.Version, Model: t.Agent.ModelName}
	for _, tool := range t.Agent.Tools {
		info.Tools = append(info.Tools, trace.ToolDefinition{Name: tool.Function.Name, Description: tool.Function.Description, InputSchema: tool.Function.Parameters})
	}
	in.clock(t.Steps[0].Timestamp)
	in.put("", trace.Event{ID: "agent", Time: in.now, Actor: trace.Agent, Payload: info.Payload()})
	for _, s := range t.Steps {
		in.clock(s.Timestamp)
		if s.Source == "user" && !s.Copied {
			in.finish()
			in.begin(s)
		}
		if !s.Copied {
			in.turn()
		}
		in.step(in.b, s, &t, false)
	}
	in.rest(in.turn(), &t)
	if left := t.Extra.v.LeftOut; len(left) > 0 {
		in.turn().Emit(trace.Notice(reader.Untold, "The trajectory was written without: "+strings.Join(left, ", ")+"."))
	}
	if u, more := in.unexplained(&t, trace.Usage{}); more {
		u = in.last.Plus(u)
		u.Scope = trace.UsageTurn
		in.turn().Emit(u)
	}
	in.finish()
	for i, q := range in.scores { // they came after the turns
		in.clock(q.At)
		found := trace.Score{Turn: q.turn, Case: q.Case, Name: q.Name, Verdict: q.Verdict, Score: q.Score, Reason: q.Reason, By: q.By}.Within()
		if found.Check() == nil {
			in.put("", trace.Event{ID: fmt.Sprintf("score-%d", i+1), Time: in.now, Actor: trace.User, Payload: found.Payload()})
		}
	}
	return in.err
}

// scored is a score of a turn. The records that were its evidence are not in the trajectory.
type scored struct {
	score
	turn string
}

// importer writes the turns of the session.
type importer struct {
	ctx     context.Context //nolint:containedctx // the life of one Read
	emit    func(trace.Record) error
	session string
	now     time.Time
	seq     uint64
	turns   int
	n       int                  // counts what needs a name
	b       *trace.Builder       // of the open turn
	stop    *trace.Stop          // of the open turn, if the trajectory tells
	ids     map[string]int       // of calls and sub-agents in the open turn, and how often each was given
	all     []*trajectory        // the trajectories of sub-agents in the file
	placed  map[*trajectory]bool // those that are on record
	sum     trace.Usage          // of all steps, and last of those in the open turn
	last    trace.Usage
	scores  []scored
	err     error
}

// collect finds the trajectories of sub-agents, wherever in the file they are.
func (in *importer) collect(subs []*trajectory) {
	for _, sub := range subs {
		in.all = append(in.all, sub)
		in.collect(sub.Subagents)
	}
}

// clock is the time of a step, which never goes back. A step without a time has that before.
func (in *importer) clock(timestamp string) {
	if t, err := time.Parse(time.RFC3339Nano, timestamp); err == nil && t.After(in.now) {
		in.now = t.UTC()
	}
}

func (in *importer) put(turn string, e trace.Event) {
	in.seq++
	if in.err == nil {
		in.err = in.emit(trace.Record{Session: in.session, Turn: turn, Seq: in.seq, Event: e})
	}
}

// turn is the open turn; the agent begins one if there is none.
func (in *importer) turn() *trace.Builder {
	if in.b == nil {
		in.begin(nil)
	}
	return in.b
}

func (in *importer) begin(prompt *step) {
	in.turns++
	turn := fmt.Sprintf("turn-%d", in.turns)
	in.stop, in.ids, in.last = nil, map[string]int{}, trace.Usage{}
	in.b = trace.NewBuilder(in.ctx, trace.Config{
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
	stop := trace.Stop{Reason: "imported", Outcome: trace.OutcomeCompleted}
	if in.stop != nil {
		stop = *in.stop
	}
	if err := in.b.Finish(stop); in.err == nil {
		in.err = err
	}
	in.b = nil
}

// id is unique in the turn: ids of calls are unique in one trajectory, if at all.
func (in *importer) id(given string) string {
	id := given
	for in.ids[id] > 0 {
		in.ids[given]++
		id = fmt.Sprintf("%s~%d", given, in.ids[given])
	}
	in.ids[id]++
	return id
}

// name names a part or a request.
func (in *importer) name() string {
	in.n++
	return fmt.Sprint(in.n)
}

// called is a call of a step: its id in the trajectory, and the one on record.
type called struct {
	given, id string
	status    trace.ToolStatus
	done      bool
}

// step writes a step of the agent, or of a sub-agent. What a step of a user or of the system did
// beside its message is the agent's too.
func (in *importer) step(b *trace.Builder, s *step, of *trajectory, subagent bool) {
	usage := usageOf(s)
	in.sum = in.sum.Plus(usage)
	text := textIn(s.Message)
	switch {
	case s.Copied:
		return
	case s.Source == "system" && text != "":
		note := trace.Notice("system", text)
		if s.Extra.v.Kind == "error" {
			note = trace.Error{Message: text, Code: s.Extra.v.Code}
		}
		b.Emit(note)
		text = ""
	case s.Source == "user":
		text = "" // it is the prompt
	}
	if t := s.Extra.v.Stop; !subagent && t != nil {
		in.stop = &trace.Stop{Reason: t.Reason, Outcome: t.Outcome, Class: t.Class, Error: t.Error}
	}
	for _, one := range s.Extra.v.Scores {
		if !subagent {
			in.scores = append(in.scores, scored{one, fmt.Sprintf("turn-%d", in.turns)})
		}
	}
	if !subagent {
		b.StepStart(trace.Step{})
	}
	if s.Reasoning != "" {
		b.Thought(in.name(), s.Reasoning, "")
	}
	if text != "" {
		b.Message(in.name(), text)
	}
	calls := make([]called, len(s.ToolCalls))
	for i, c := range s.ToolCalls {
		x := c.Extra.v
		calls[i] = called{given: c.ID, id: in.id(cmp.Or(c.ID, "call")), status: x.Status}
		b.Emit(trace.ToolCall{ToolCallID: calls[i].id, RawName: c.Name, Name: cmp.Or(x.Name, c.Name), ToolKind: cmp.Or(x.Kind, trace.ToolOther), Title: x.Title, Input: input(c.Arguments), InputText: x.InputText})
	}
	if s.Metrics != nil {
		in.last = in.last.Plus(usage)
		b.Emit(usage)
	}
	for i, c := range s.ToolCalls { // a request ends the step, so all that is of the step is before
		for _, q := range c.Extra.v.Permissions {
			in.request(b, calls[i].id, q)
		}
	}
	for _, r := range s.Observation.Results {
		in.result(b, of, calls, r)
	}
	for _, q := range s.Extra.v.Questions {
		in.question(b, q)
	}
	if !subagent {
		b.StepEnd()
	}
}

func usageOf(s *step) trace.Usage {
	m := s.Metrics
	if m == nil {
		return trace.Usage{}
	}
	return trace.Usage{Scope: trace.UsageStep, InputTokens: int64(orZero(m.Prompt)), OutputTokens: int64(orZero(m.Completion)), CacheReadTokens: int64(orZero(m.Cached)), CostUSD: m.CostUSD, Model: s.Model}
}

// result writes what a call returned. Of several calls with one id, it is of the first without a
// result. A result of no call has no place in the trace; its sub-agents have.
func (in *importer) result(b *trace.Builder, of *trajectory, calls []called, r result) {
	var c *called
	for i := range calls {
		if calls[i].given == r.CallID && (c == nil || c.done) {
			c = &calls[i]
		}
	}
	for _, ref := range r.Subagents {
		named := func(sub *trajectory) bool {
			if ref.TrajectoryID != "" {
				return sub.TrajectoryID == ref.TrajectoryID
			}
			return ref.SessionID != "" && sub.SessionID == ref.SessionID
		}
		found := only(of.Subagents, named)
		if found == nil {
			found = only(in.all, named)
		}
		if found == nil {
			name := cmp.Or(ref.TrajectoryID, ref.Path, ref.SessionID)
			in.b.Emit(trace.Notice(reader.Untold, strings.TrimSpace("The trajectory "+name)+" of a sub-agent is not in the file."))
		}
		for _, sub := range found {
			if c != nil && !in.placed[sub] {
				in.subagent(b.Under(c.id), sub)
			}
		}
	}
	if c == nil {
		return
	}
	c.done = true
	done := trace.ToolResult{ToolCallID: c.id, Status: cmp.Or(c.status, trace.ToolCompleted)}
	if text := textIn(r.Content); done.Status == trace.ToolCompleted {
		done.Output, _ = json.Marshal(text) // a string always can be
	} else {
		done.Error = text
	}
	b.Emit(done)
}

func only(all []*trajectory, which func(*trajectory) bool) (found []*trajectory) {
	for _, one := range all {
		if which(one) {
			found = append(found, one)
		}
	}
	return found
}

// request writes a permission that Tributary has written as an extra.
func (in *importer) request(b *trace.Builder, call string, q request) {
	id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "permission-" + in.name(), ToolCallID: call, Title: q.Title, DecidedBy: q.DecidedBy}, trace.ToolCall{})
	if q.Outcome != "" {
		b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: q.Outcome, OptionKind: q.OptionKind, UpdatedInput: q.UpdatedInput, By: q.By, Via: q.Via, Reason: q.Reason, Rule: q.Rule})
	}
}

func (in *importer) question(b *trace.Builder, q question) {
	id := b.Question(trace.Question{QuestionID: "question-" + in.name(), Header: q.Header, Text: q.Text, Choices: q.Choices})
	if q.Outcome != "" {
		b.Answer(trace.Answer{QuestionID: id, Outcome: q.Outcome, Values: q.Values, By: q.By, Reason: q.Reason})
	}
}

// subagent writes the trajectory of a sub-agent.
func (in *importer) subagent(b *trace.Builder, t *trajectory) {
	in.placed[t] = true
	before := in.sum
	for _, s := range t.Steps {
		in.step(b, s, t, true)
	}
	in.rest(b, t)
	if u, more := in.unexplained(t, before); more {
		u.Scope = trace.UsageStep
		in.sum, in.last = in.sum.Plus(u), in.last.Plus(u)
		b.Emit(u)
	}
}

// rest writes the trajectories of sub-agents to which no step refers.
func (in *importer) rest(b *trace.Builder, t *trajectory) {
	for _, sub := range t.Subagents {
		if !in.placed[sub] {
			in.subagent(b.Sub(in.id(cmp.Or(sub.TrajectoryID, sub.SessionID, "subagent")), sub.Agent.Name), sub)
		}
	}
}

// unexplained is what the sums of a trajectory have more than its steps, and the sub-agents below,
// have told since before.
func (in *importer) unexplained(t *trajectory, before trace.Usage) (u trace.Usage, more bool) {
	f := t.Final
	if f == nil {
		f = &finalMetrics{}
	}
	u.InputTokens = max(0, int64(orZero(f.Prompt))-in.sum.InputTokens+before.InputTokens)
	u.OutputTokens = max(0, int64(orZero(f.Completion))-in.sum.OutputTokens+before.OutputTokens)
	u.CacheReadTokens = max(0, int64(orZero(f.Cached))-in.sum.CacheReadTokens+before.CacheReadTokens)
	if f.CostUSD != nil {
		cost := *f.CostUSD - orZero(in.sum.CostUSD) + orZero(before.CostUSD)
		if cost > 1e-9 { // else it is rounding
			u.CostUSD = &cost
		}
	}
	return u, u.InputTokens|u.OutputTokens != 0 || u.CostUSD != nil
}
