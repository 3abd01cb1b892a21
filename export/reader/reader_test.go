package reader_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/reader"
	"github.com/tributary-dev/tributary/trace"
)

type fataler interface {
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// turns reads a session, with an outline if the test asks for it.
func turns(t fataler, records []trace.Record, whole bool) (all []*reader.Turn) {
	source := exporttest.Durable(records)
	var o *reader.Outline
	if whole {
		var err error
		if o, err = reader.Survey(source()); err != nil {
			t.Fatal(err)
		}
	}
	for turn, err := range reader.Turns(source(), o) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, turn)
	}
	return all
}

// check holds what every turn has.
func check(t fataler, turn *reader.Turn) {
	seen := map[*reader.Call]bool{}
	var sum trace.Usage
	for _, a := range turn.Actors {
		for _, st := range a.Steps {
			if st.Asked.After(st.First) || st.First.After(st.Last) || len(st.Parts) == 0 && st.Usage == nil {
				t.Fatalf("step %+v", st)
			}
			if st.Usage != nil {
				sum = sum.Plus(st.Usage.Usage)
				if len(st.Usage.Records) == 0 && (st.Usage.InputTokens > 0 || st.Usage.CostUSD != nil && *st.Usage.CostUSD > 0) {
					t.Fatalf("no record tells %+v", st.Usage)
				}
			}
			for _, p := range st.Parts {
				if p.Call != nil && seen[p.Call] {
					t.Fatalf("the call %s is there twice", p.Call.ToolCallID)
				}
				seen[p.Call] = p.Call != nil
			}
		}
		if a.End.Before(a.Start) {
			t.Fatalf("actor %+v", a)
		}
	}
	for _, c := range turn.Calls {
		if !seen[c] || c.End.Before(c.Start) || c.Result == nil || c.ResultRecord == "" || c.ResultSeq <= c.Seq {
			t.Fatalf("call %+v", c)
		}
	}
	for _, q := range turn.Requests {
		if q.Record == "" || (q.Response == nil) != (q.ResponseRecord == "") || q.Response != nil && q.ResponseSeq <= q.Seq {
			t.Fatalf("request %+v", q)
		}
	}
	if turn.End.Before(turn.Start) || turn.Stop.Outcome == "" || turn.StopRecord == "" {
		t.Fatalf("turn %+v", turn)
	}
}

func TestEveryRecording(t *testing.T) {
	t.Parallel()
	for path, records := range exporttest.Recorded(t, "../../adapter") {
		stops, perTurn := 0, map[string]trace.Usage{}
		for _, r := range records {
			switch p := r.Payload.(type) {
			case trace.Stop:
				stops++
			case trace.Usage:
				if p.Scope == trace.UsageTurn && r.Turn != "" {
					perTurn[r.Turn] = p
				}
			}
		}
		all := turns(t, records, true)
		if len(all) != stops {
			t.Errorf("%s: %d turns of %d", path, len(all), stops)
		}
		for _, turn := range all {
			check(t, turn)
			want, known := perTurn[turn.ID]
			var in, out int64
			for _, a := range turn.Actors {
				for _, st := range a.Steps {
					if st.Usage != nil {
						in, out = in+st.Usage.InputTokens, out+st.Usage.OutputTokens
					}
				}
			}
			if known && (in < want.InputTokens || out < want.OutputTokens) {
				t.Errorf("%s %s: %d and %d tokens are placed of %+v", path, turn.ID, in, out, want)
			}
		}
	}
}

func TestWhateverABuilderWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		for _, turn := range turns(rt, exporttest.Random(rt), rapid.Bool().Draw(rt, "whole")) {
			check(rt, turn)
		}
	})
}

func done() trace.Stop { return trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted} }

func tokens(scope trace.UsageScope, in, out int64, cost ...float64) trace.Usage {
	u := trace.Usage{Scope: scope, InputTokens: in, OutputTokens: out}
	if cost != nil {
		u.CostUSD = &cost[0]
	}
	return u
}

// charges are what the steps of a turn are charged with: tokens, cost, and where it comes from.
func charges(turn *reader.Turn) string {
	var all []string
	for _, a := range turn.Actors {
		for _, st := range a.Steps {
			text := string(a.ID) + " -"
			if u := st.Usage; u != nil {
				text = fmt.Sprintf("%s %d/%d", a.ID, u.InputTokens, u.OutputTokens)
				if u.CostUSD != nil {
					text += fmt.Sprintf(" $%g", math.Round(*u.CostUSD*1e6)/1e6)
				}
				text = strings.TrimSpace(text + " " + u.From)
			}
			all = append(all, text)
		}
	}
	return strings.Join(all, ", ")
}

// Each token and each cent is on one step.
func TestUsageIsPlacedOnce(t *testing.T) {
	t.Parallel()
	step := func(b *trace.Builder, text string, u ...trace.Payload) {
		b.StepStart(trace.Step{})
		b.Message(text, text)
		for _, p := range u {
			b.Emit(p)
		}
		b.StepEnd()
	}
	for _, c := range []struct {
		name string
		do   func(*trace.Builder)
		want string
	}{
		{"steps", func(b *trace.Builder) {
			step(b, "a", tokens("step", 10, 1))
			step(b, "b", tokens("step", 20, 2))
			b.Emit(tokens("turn", 30, 3))
		}, "agent 10/1 step, agent 20/2 step"},
		{"a turn", func(b *trace.Builder) {
			step(b, "a")
			step(b, "b")
			b.Emit(tokens("turn", 30, 3, 0.5))
		}, "agent 0/0 $0, agent 30/3 $0.5 turn"},
		{"the cost of a turn", func(b *trace.Builder) {
			step(b, "a", tokens("step", 10, 1))
			step(b, "b", tokens("step", 20, 2))
			b.Emit(tokens("turn", 30, 3, 0.5))
		}, "agent 10/1 $0 step, agent 20/2 $0.5 step"},
		{"steps with costs", func(b *trace.Builder) {
			step(b, "a", tokens("step", 10, 1, 0.1))
			step(b, "b", tokens("step", 20, 2, 0.2))
			b.Emit(tokens("turn", 30, 3, 0.3))
		}, "agent 10/1 $0.1 step, agent 20/2 $0.2 step"},
		{"totals of the session", func(b *trace.Builder) {
			step(b, "a")
			b.Emit(tokens("session", 10, 1, 0.1))
			b.Emit(tokens("session", 30, 3, 0.3))
		}, "agent 30/3 $0.3 session-difference"},
		{"a meter of the context", func(b *trace.Builder) {
			step(b, "a")
			b.Emit(trace.Usage{Scope: "session", ContextUsed: 5, ContextSize: 10})
		}, "agent -"},
		{"a sub-agent that the steps do not explain", func(b *trace.Builder) {
			b.StepStart(trace.Step{})
			b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Task"})
			b.Under("c").Message("m", "I look")
			b.Emit(trace.ToolResult{ToolCallID: "c"})
			b.Emit(tokens("step", 10, 1))
			b.StepEnd()
			b.Emit(tokens("turn", 110, 11, 0.5))
		}, "agent 10/1 $0 step, subagent:c 100/10 $0.5 remainder"},
		{"sub-agents with usage", func(b *trace.Builder) {
			b.StepStart(trace.Step{})
			b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Task"})
			sub := b.Under("c")
			sub.Message("m", "I look")
			sub.Emit(tokens("step", 5, 1))
			sub.Message("n", "I have looked")
			sub.Emit(tokens("step", 6, 1))
			b.Emit(trace.ToolResult{ToolCallID: "c"})
			b.Emit(tokens("step", 10, 1))
			b.StepEnd()
		}, "agent 10/1 step, subagent:c 5/1 step, subagent:c 6/1 step"},
	} {
		s := exporttest.NewSession()
		s.Turn(t.Context(), "go", done(), c.do)
		if got := charges(turns(t, s.Records, false)[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A total of the session is charged as the difference to the total before. The first total of a
// conversation that began elsewhere says nothing.
func TestTotalsOfASession(t *testing.T) {
	t.Parallel()
	for resume, want := range map[string]string{"": "agent 0/0 $0.1 turn; agent 0/0 $0.2 turn; agent -", "native-1": "agent -; agent 0/0 $0.2 turn; agent -"} {
		s := exporttest.NewSession()
		for i, cost := range []float64{0.1, 0.3, 0.2} {
			s.Turn(t.Context(), "go", done(), func(b *trace.Builder) {
				if i == 0 && resume != "" {
					b.Emit(trace.Reply{MessageID: "r", Cause: trace.CausePrompt, Resume: resume})
				}
				b.Message("m", "x")
				b.Emit(tokens("session", 0, 0, cost))
			})
		}
		var all []string
		for _, turn := range turns(t, s.Records, false) {
			all = append(all, charges(turn))
		}
		if got := strings.Join(all, "; "); got != want {
			t.Errorf("resume %q: %s, want %s", resume, got, want)
		}
	}
}

// The call of the model begins when what it waited for was there, not with its first word.
func TestWhenTheModelWasAsked(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	s.Turn(t.Context(), "go", done(), func(b *trace.Builder) {
		b.StepStart(trace.Step{})
		b.Emit(trace.ToolCall{ToolCallID: "c", RawName: "Read", Input: json.RawMessage(`{}`)})
		b.Emit(trace.ToolResult{ToolCallID: "c"})
		b.StepEnd()
		b.StepStart(trace.Step{})
		b.Message("m", "x")
		b.StepFinish("stop")
		b.StepEnd()
	})
	turn := turns(t, s.Records, false)[0]
	steps := turn.Main().Steps
	if len(steps) != 2 || !steps[0].Asked.Equal(turn.Start.Add(0)) && steps[0].Asked.After(steps[0].First) {
		t.Fatalf("%+v", steps)
	}
	if c := turn.Calls[0]; !steps[1].Asked.Equal(c.End) || !steps[1].First.After(c.End) || steps[1].Finish != "stop" || steps[0].Last.After(c.End) {
		t.Errorf("the call ended at %v; the next step: %+v", c.End, steps[1])
	}
}

// Text that a retry has replaced is left out, and a prompt that was changed is there once.
func TestReplaced(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	turn := "t"
	add := func(p trace.Payload) { s.Add(turn, trace.Event{Actor: trace.Agent, Payload: p}) }
	prompt := func(text string) trace.Prompt {
		return trace.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: "text", Text: text}}}}
	}
	add(prompt("before"))
	add(prompt("after"))
	add(trace.Step{Phase: trace.PhaseStart})
	add(trace.MessageStart{Part: "p", Role: "assistant"})
	add(trace.Message{Part: "p", Role: "assistant", Text: "old"})
	add(trace.Message{Part: "p", Role: "assistant", Text: "old", Superseded: true})
	add(trace.MessageStart{Part: "q", Role: "assistant"})
	add(trace.Message{Part: "q", Role: "assistant", Text: "new"})
	add(trace.Stop{Outcome: "completed"})
	add2 := turns(t, s.Records, false)[0]
	if p := add2.Main().Steps[0].Parts; len(p) != 1 || p[0].Text != "new" || len(add2.Prompts) != 1 || add2.Prompts[0].Message.Parts[0].Text != "after" {
		t.Errorf("%+v %+v", p, add2.Prompts)
	}
}

// The model of a step is that of its usage, of the turn's, of the agent, or of the list, and never
// a word for whichever it is.
func TestModels(t *testing.T) {
	t.Parallel()
	for current, want := range map[string]string{"sonnet": "sonnet", "default": ""} {
		s := exporttest.NewSession()
		s.Add("", trace.Event{Actor: trace.Agent, Payload: trace.Models(current, nil)})
		s.Turn(t.Context(), "go", done(), func(b *trace.Builder) { b.Message("m", "x") })
		if got := turns(t, s.Records, false)[0].Main().Steps[0].Model; got != want {
			t.Errorf("%q: %q", current, got)
		}
	}
}

// Rewinds take out what came after the message, also within a turn, and also one after another.
func TestRewinds(t *testing.T) {
	t.Parallel()
	s := exporttest.NewSession()
	say := func(b *trace.Builder) { b.Message("m", "x") }
	for range 3 {
		s.Turn(t.Context(), "go", done(), say)
	}
	s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: "a3"}}) // the answer only
	s.Turn(t.Context(), "go", done(), say)
	s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: "u2"}})
	s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: "unknown"}})
	s.Turn(t.Context(), "go", done(), say)
	var got []bool
	for _, turn := range turns(t, s.Records, true) {
		got = append(got, turn.Removed)
		if st := turn.Main().Steps[0]; st.Removed != turn.Removed || turn.Prompts[0].Removed != turn.Removed {
			t.Errorf("%s: %+v", turn.ID, st)
		}
	}
	if fmt.Sprint(got) != "[false true true true false]" {
		t.Error(got)
	}
	s = exporttest.NewSession()
	s.Turn(t.Context(), "go", done(), say)
	s.Add("", trace.Event{Actor: trace.Gateway, Payload: trace.Rewind{To: "a1"}})
	if turn := turns(t, s.Records, true)[0]; turn.Removed || turn.Prompts[0].Removed || !turn.Main().Steps[0].Removed {
		t.Errorf("%+v", turn)
	}
}

// byTurn reads each turn from its own first record, in the order in which turns end.
func byTurn(t fataler, records []trace.Record) (all []*reader.Turn) {
	first := map[string]uint64{}
	var r reader.Reader
	for i, last := range records {
		if _, known := first[last.Turn]; !known && !trace.Ephemeral(last.Payload) {
			first[last.Turn] = last.Seq
		}
		if _, is := last.Payload.(trace.Stop); !is || last.Turn == "" {
			continue
		}
		next, from := r, min(r.Seen()+1, first[last.Turn])
		piece := slices.DeleteFunc(slices.Clone(records[:i+1]), func(r trace.Record) bool { return r.Seq < from })
		for turn, err := range next.Turns(exporttest.Durable(piece)()) {
			if err != nil {
				t.Fatalf("%v", err)
			}
			all = append(all, turn)
		}
		r = next
	}
	return all
}

// A turn that is read alone, when it has ended, is the turn that a reader of all records finds.
func TestTurnByTurn(t *testing.T) {
	t.Parallel()
	check := func(t fataler, path string, records []trace.Record) {
		var want []*reader.Turn
		for turn, err := range reader.Turns(exporttest.Durable(records)(), nil) {
			if err != nil {
				t.Fatalf("%v", err)
			}
			want = append(want, turn)
		}
		if got := byTurn(t, records); !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %d turns are read one by one, and differ from %d that are read together", path, len(got), len(want))
		}
	}
	for path, records := range exporttest.Recorded(t, "../../adapter") {
		check(t, path, records)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, "random", exporttest.Random(t)) })

	// Turns that overlap, with totals of the session.
	s := exporttest.NewSession()
	for i, turn := range []string{"a", "b", "a", "c", "b", "c", "d"} {
		s.Add("", trace.Event{Actor: trace.Agent, Payload: trace.AgentInfo{Model: fmt.Sprint("model ", i)}.Payload()})
		s.Add(turn, trace.Event{Actor: trace.Agent, Payload: trace.Message{Part: fmt.Sprint("p", i), Role: "assistant", Text: "x"}})
		if i == 2 || i > 3 {
			s.Add(turn, trace.Event{Actor: trace.Agent, Payload: trace.Usage{Scope: trace.UsageSession, InputTokens: int64(10 * i)}})
			s.Add(turn, trace.Event{Actor: trace.Gateway, Payload: trace.Stop{Outcome: "completed"}})
		}
	}
	check(t, "overlap", s.Records)
}
