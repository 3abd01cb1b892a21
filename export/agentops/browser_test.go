package agentops_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/export/agentops"
	"github.com/tributary-dev/tributary/trace"
)

var update = flag.Bool("update", false, "write the golden files")

// tape is a session's log in the making.
type tape struct {
	t       *testing.T
	records []trace.Record
}

func at() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) }

// turn writes the prompt of a turn; its reply is written by reply.
func (l *tape) turn(id, by, channel, text string) *trace.Builder {
	b := trace.NewBuilder(l.t.Context(), trace.Config{
		Turn: id, Now: at,
		Append: func(_ context.Context, events []trace.Event) error {
			for _, e := range events {
				l.records = append(l.records, trace.Record{Session: "s", Turn: id, Seq: uint64(len(l.records) + 1), Event: e})
			}
			return nil
		},
	})
	if text != "" {
		b.Emit(trace.Prompt{Message: user("user_"+id, text), By: by, Channel: channel})
	}
	l.flush(b)
	return b
}

func user(id, text string) trace.UserMessage {
	return trace.UserMessage{ID: id, Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}
}

func (l *tape) flush(b *trace.Builder) {
	l.t.Helper()
	if err := b.Flush(); err != nil {
		l.t.Fatal(err)
	}
}

func (l *tape) reply(b *trace.Builder) {
	b.Emit(trace.Reply{MessageID: "msg_" + b.Turn(), Cause: trace.CausePrompt})
	l.flush(b)
}

func (l *tape) end(b *trace.Builder, s trace.Stop) {
	l.t.Helper()
	if err := b.Finish(s); err != nil {
		l.t.Fatal(err)
	}
}

func (l *tape) note(p trace.Payload) {
	l.records = append(l.records, trace.Record{Session: "s", Seq: uint64(len(l.records) + 1), Event: trace.Event{
		ID: fmt.Sprint("note.", len(l.records)), Time: at(), Actor: trace.Agent, Payload: p,
	}})
}

var (
	completed = trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}
	canceled  = trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}
	failed    = trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: "The model is gone."}
	notRun    = trace.Stop{Reason: "not_run", Outcome: trace.OutcomeCanceled}
)

func call(id, name, input string) trace.ToolCall {
	return trace.ToolCall{ToolCallID: id, RawName: name, Name: name, ToolKind: trace.ToolRead, Input: json.RawMessage(input)}
}

// stories are what happens in a session, one after another.
func stories() map[string]func(*tape) {
	return map[string]func(*tape){
		"text-and-tools": func(l *tape) {
			b := l.turn("t1", "ada", "", "Read it")
			l.reply(b)
			b.Thought("th", "I never get to a browser.", "")
			b.MessageDelta("a", "Let me ")
			b.MessageDelta("a", "look.")
			b.MessageEnd("a")
			b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c1", RawName: "read", Name: "read", ToolKind: trace.ToolRead})
			b.ToolCallDelta("c1", `{"path":`)
			b.ToolCall(call("c1", "read", `{"path":"a.txt"}`))
			b.ToolCall(call("c2", "read", `{"path":"b.txt"}`))
			b.ToolResult(trace.ToolResult{ToolCallID: "c2", Status: trace.ToolFailed, Error: "There is no b.txt."})
			b.ToolResult(trace.ToolResult{ToolCallID: "c1", Status: trace.ToolCompleted, Output: json.RawMessage(`"hello"`)})
			b.StepEnd()
			b.Message("b", "It says hello.")
			b.Message("c", "That is all.")
			b.Emit(trace.FileChange{Path: "a.txt", Change: trace.FileModified})
			l.end(b, completed)
		},
		"retry-and-sub-agent": func(l *tape) {
			b := l.turn("t1", "ada", "thread:th1", "Delegate")
			l.reply(b)
			b.ToolCall(call("c1", "task", `{}`))
			under := b.Under("c1")
			under.Message("x", "The sub-agent speaks.")
			under.ToolCall(call("c2", "read", `{"path":"x"}`))
			under.ToolResult(trace.ToolResult{ToolCallID: "c2", Status: trace.ToolCompleted, Output: json.RawMessage(`"x"`)})
			b.ToolResult(trace.ToolResult{ToolCallID: "c1", Status: trace.ToolCompleted})
			b.Emit(trace.Error{Message: "The provider was busy, and is asked again."})
			b.Emit(trace.Status{State: trace.StateThinking, Detail: "again"})
			b.MessageDelta("a", "Done")
			l.end(b, failed)
		},
		"approval": func(l *tape) {
			b := l.turn("t1", "ada", "slack:C1", "Run it")
			l.reply(b)
			b.ToolCall(call("c1", "bash", `{"command":"make"}`))
			options := []trace.PermissionOption{{ID: "y", Name: "Yes", OptionKind: trace.AllowOnce}, {ID: "n", Name: "No", OptionKind: trace.RejectOnce}}
			id, _, _ := b.PermissionRequest(trace.PermissionRequest{RequestID: "p1", ToolCallID: "c1", Title: "Run make", Options: options}, trace.ToolCall{})
			b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "y", By: "bob"})
			b.ToolResult(trace.ToolResult{ToolCallID: "c1", Status: trace.ToolCompleted, Output: json.RawMessage(`{"exit":0}`)})
			b.ToolCall(call("c2", "bash", `{"command":"rm"}`))
			id, _, _ = b.PermissionRequest(trace.PermissionRequest{RequestID: "p2", ToolCallID: "c2", Title: "Run rm", Options: options}, trace.ToolCall{})
			b.PermissionResponse(trace.PermissionResponse{RequestID: id, Outcome: trace.Selected, ChosenOption: "n", By: "bob", Reason: "not that"})
			b.ToolResult(trace.ToolResult{ToolCallID: "c2", Status: trace.ToolDenied, Error: "not that"})
			b.PermissionRequest(trace.PermissionRequest{RequestID: "p3", Title: "Run more", Options: options}, trace.ToolCall{})
			l.end(b, canceled)
		},
		"question": func(l *tape) {
			b := l.turn("t1", "ada", "", "Ask me")
			l.reply(b)
			b.MessageDelta("a", "One thing:")
			id := b.Question(trace.Question{QuestionID: "q1", Header: "Color", Text: "Which one?", Choices: []trace.Choice{{Label: "red"}, {Label: "blue"}}})
			b.Answer(trace.Answer{QuestionID: id, Outcome: trace.Selected, Values: []string{"blue"}, By: "ada"})
			id = b.Question(trace.Question{QuestionID: "q2", Text: "And why?"})
			b.Answer(trace.Answer{QuestionID: id, Outcome: trace.Expired})
			b.MessageDelta("b", "Blue it is.")
			l.end(b, completed)
		},
		"answer-in-words": func(l *tape) {
			b := l.turn("t1", "ada", "", "Ask me")
			l.reply(b)
			b.Question(trace.Question{QuestionID: "q1", Text: "Why?"})
			l.flush(b)
			words := trace.TextAnswer{
				Prompt: trace.Prompt{Message: user("user_2", "Because."), By: "ada"},
				Reply:  trace.Reply{MessageID: "msg_2", Cause: trace.CauseAnswer},
			}
			if err := b.Resolve(trace.Answer{QuestionID: "q1", Outcome: trace.Selected, Values: []string{"Because."}, By: "ada"}, &words); err != nil {
				panic(err)
			}
			b.Message("b", "I see.")
			l.end(b, completed)
		},
		"queue": func(l *tape) {
			one := l.turn("t1", "ada", "", "First")
			l.reply(one)
			one.MessageDelta("a", "Working")
			l.flush(one)
			two := l.turn("t2", "bob", "thread:th1", "Second")
			three := l.turn("t3", "ada", "", "Third")
			l.end(three, notRun)
			l.end(one, completed)
			l.reply(two)
			four := l.turn("t4", "ada", "", "Fourth")
			l.end(two, canceled)
			l.end(four, failed)
			l.note(trace.Data{Name: "title", Value: json.RawMessage(`"A title"`)})
			l.note(trace.Data{Name: agentops.RunnerData, Value: json.RawMessage(`{"connected":false}`)})
			l.note(trace.Data{Name: agentops.RunnerData, Value: json.RawMessage(`{"connected":true}`)})
			l.note(trace.Data{Name: "git-state", Value: json.RawMessage(`{"branch":"main"}`), Domain: true})
			l.note(trace.Data{Name: "child-session", Value: json.RawMessage(`{"childSessionId":"s2"}`), Domain: true})
			l.note(trace.Data{Name: "child-session", Value: json.RawMessage(`{"of":"the conversation"}`)})
			l.note(trace.Data{Name: "diff", Value: json.RawMessage(`"no object"`), Domain: true})
		},
		"taken-back": func(l *tape) {
			one := l.turn("t1", "ada", "", "First")
			l.reply(one)
			l.flush(one)
			one.Emit(trace.Rewind{To: "user_t1"})
			l.end(one, trace.Stop{Reason: "superseded", Outcome: trace.OutcomeCanceled})
			two := l.turn("t2", "ada", "", "")
			two.Emit(trace.Rewind{To: "user_t0"})
			two.Emit(trace.Prompt{Message: user("user_t2", "Better"), By: "ada"})
			l.reply(two)
			l.end(two, completed)
		},
	}
}

func options() agentops.Options {
	return agentops.Options{Session: "s", Workspace: "demo", Title: "Old title", AnswerLimit: time.Hour}
}

func record(t *testing.T, story func(*tape)) []trace.Record {
	t.Helper()
	l := &tape{t: t}
	story(l)
	return l.records
}

// lines are frames, one a line. Each can be read by who is to read it.
func lines(t *testing.T, frames []wire.Frame) string {
	t.Helper()
	var out bytes.Buffer
	for _, f := range frames {
		line, err := wire.Encode(f)
		if err != nil {
			t.Fatal(err)
		}
		back, err := wire.Decode(wire.ToBrowser, line)
		if _, unknown := back.(wire.Unknown); err != nil || unknown {
			t.Errorf("no browser can read %s: %v", line, err)
		}
		out.Write(line)
		out.WriteByte('\n')
	}
	return out.String()
}

func TestD14_Frames(t *testing.T) {
	for name, story := range stories() {
		t.Run(name, func(t *testing.T) {
			tr := agentops.New(options())
			frames := tr.Join(agentops.Presence{Clients: 1, Users: []wire.User{{ID: "ada", Name: "ada"}}})
			for _, r := range record(t, story) {
				frames = append(frames, tr.Next(r)...)
			}
			compare(t, filepath.Join("testdata", name+".jsonl"), lines(t, frames))
		})
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-update writes it):\n%s", file, diff)
	}
}

// A client joins at each record in turn. The frames from then on make the same messages as the frames
// from the start.
func TestE32_AClientThatJoinsLaterSeesTheSameMessages(t *testing.T) {
	for name, story := range stories() {
		if name == "taken-back" {
			continue // a client that joins after a rewind never saw the removed messages
		}
		records := record(t, story)
		for joined := range records {
			before, after := screen{}, screen{}
			early := agentops.New(options())
			late := agentops.New(options())
			for _, r := range records[:joined] {
				before.take(t, early.Next(r))
				late.Observe(r)
			}
			after.take(t, late.Join(agentops.Presence{}))
			for _, r := range records[joined:] {
				before.take(t, early.Next(r))
				after.take(t, late.Next(r))
			}
			for id, m := range after.messages {
				if diff := cmp.Diff(before.messages[id], m); diff != "" {
					t.Errorf("%s joined at %d: message %s:\n%s", name, joined, id, diff)
				}
			}
			if len(before.asks) != 0 || len(after.asks) != 0 {
				t.Errorf("%s joined at %d: asks are left: %v %v", name, joined, before.asks, after.asks)
			}
		}
	}
}

// screen is what a browser shows: it puts chunks where they belong and lets the
// whole message win.
type screen struct {
	messages map[string]string
	texts    map[string]string
	asks     map[string]bool
}

func (s *screen) take(t *testing.T, frames []wire.Frame) {
	t.Helper()
	if s.messages == nil {
		s.messages, s.texts, s.asks = map[string]string{}, map[string]string{}, map[string]bool{}
	}
	for _, f := range frames {
		switch f := f.(type) {
		case wire.MessageAdded:
			if _, known := s.messages[f.Data.ID]; !known {
				s.messages[f.Data.ID] = string(f.Data.Content)
			}
		case wire.Chunk:
			s.texts[f.MessageID] += string(f.Content)
		case wire.MessageUpdated:
			text, rest := "", ""
			for _, p := range f.Data.Parts {
				text += string(p.Text)
				rest += " " + p.CallID + p.Status + string(p.Result) + p.Reason + p.Message
			}
			if grown := s.texts[f.Data.ID]; !strings.HasPrefix(text, grown) {
				t.Errorf("chunks made %q, and the message is %q", grown, text)
			}
			s.texts[f.Data.ID], s.messages[f.Data.ID] = text, text+rest
		case wire.InteractivePrompt:
			s.asks[f.Prompt.ID] = true
		case wire.InteractivePromptResolved:
			delete(s.asks, f.PromptID)
		case wire.InteractivePromptExpired:
			delete(s.asks, f.PromptID)
		}
	}
}

//evidence:for limit-frame-history
func TestTranscript(t *testing.T) {
	records := record(t, stories()["text-and-tools"])
	kept := func(yield func(trace.Record, error) bool) {
		for _, r := range records {
			if !trace.Ephemeral(r.Payload) && !yield(r, nil) {
				return
			}
		}
	}
	all, err := agentops.Transcript(kept, options(), 1<<20)
	if err != nil || len(all) != 2 || all[1].Parts[len(all[1].Parts)-1].Type != wire.PartFinish {
		t.Fatalf("%v %+v", err, all)
	}
	var streamed wire.Message
	tr := agentops.New(options())
	for _, r := range records {
		for _, f := range tr.Next(r) {
			if u, is := f.(wire.MessageUpdated); is {
				streamed = u.Data
			}
		}
	}
	if diff := cmp.Diff(streamed.Parts, all[1].Parts); diff != "" {
		t.Errorf("history differs from what was streamed:\n%s", diff)
	}
	if few, err := agentops.Transcript(kept, options(), 300); err != nil || len(few) > 1 {
		t.Errorf("%d messages within 300 bytes, %v", len(few), err)
	}
	broken := fmt.Errorf("gone")
	if _, err := agentops.Transcript(func(yield func(trace.Record, error) bool) { yield(trace.Record{}, broken) }, options(), 1); err != broken { //nolint:errorlint // the very same
		t.Errorf("error %v", err)
	}
}

//evidence:for limit-frame-message
func TestE37_AMessageHasABound(t *testing.T) {
	l := &tape{t: t}
	b := l.turn("t1", "ada", "", "Much")
	l.reply(b)
	large := strings.Repeat("é", 400)
	var said string
	for i := range 10 {
		id := fmt.Sprint("c", i)
		b.MessageDelta(id, large)
		said += large
		b.ToolCall(call(id, "read", `{"path":"`+large+`"}`))
		b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted, Output: json.RawMessage(`"` + large + `"`)})
	}
	l.end(b, completed)
	o := options()
	o.MaxMessage = 4000
	tr, told := agentops.New(o), ""
	for _, r := range l.records {
		for _, f := range tr.Next(r) {
			line, err := wire.Encode(f)
			if err != nil || len(line) > 10*1000 {
				t.Fatalf("a frame of %d bytes, %v", len(line), err)
			}
			if c, is := f.(wire.Chunk); is {
				told += string(c.Content)
			}
		}
	}
	if told != said {
		t.Error("chunks lost text")
	}
}

func FuzzTranslator(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17})
	f.Add([]byte{0, 1, 4, 0, 1, 9, 17, 9, 17, 200, 12, 13})
	f.Fuzz(func(t *testing.T, script []byte) {
		tr := agentops.New(agentops.Options{Session: "s", MaxMessage: 64})
		for i, op := range script {
			r := trace.Record{Session: "s", Turn: fmt.Sprint("t", op>>6), Seq: uint64(i + 1), Event: trace.Event{Time: at(), Payload: payload(op)}}
			if op == 63 {
				r.Actor = trace.Subagent("c")
			}
			for _, frame := range tr.Next(r) {
				if _, err := wire.Encode(frame); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, frame := range tr.Join(agentops.Presence{}) {
			if _, err := wire.Encode(frame); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// payload is some payload, in any order and of any turn: not what a Builder writes.
func payload(op byte) trace.Payload {
	all := []trace.Payload{
		trace.Prompt{Message: user("u", "text"), By: "ada", Channel: "slack:x"},
		trace.Reply{MessageID: "m"},
		trace.MessageStart{Part: "p"},
		trace.MessageDelta{Part: "p", Delta: "é"},
		trace.Message{Part: "p", Text: "éa"},
		trace.Message{Part: "q", Text: strings.Repeat("é", 50)},
		trace.ToolCallStart{ToolCallID: "c", RawName: "n"},
		trace.ToolCall{ToolCallID: "c", RawName: "n", Input: json.RawMessage(`{"a":1}`)},
		trace.ToolResult{ToolCallID: "c", Status: trace.ToolFailed, Error: "é"},
		trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: json.RawMessage(`null`)},
		trace.PermissionRequest{RequestID: "r", ToolCallID: "c"},
		trace.PermissionResponse{RequestID: "r", Outcome: trace.Selected, OptionKind: trace.AllowOnce},
		trace.Question{QuestionID: "r", Choices: []trace.Choice{{Label: "x"}}},
		trace.Answer{QuestionID: "r", Outcome: trace.Selected, Values: []string{"x"}},
		trace.Rewind{To: "m"},
		trace.Stop{Outcome: trace.OutcomeFailed},
		trace.Stop{Outcome: trace.OutcomeCanceled},
		trace.Data{Name: "title", Value: json.RawMessage(`"t"`)},
		trace.FileChange{Path: "f", Change: trace.FileMoved},
		trace.Unknown{UnknownKind: "new"},
	}
	return all[int(op&63)%len(all)]
}
