package uistream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
	"pgregory.net/rapid"
)

// log is a log of one session in memory.
type log struct {
	mu      sync.Mutex
	records []trace.Record
}

func (l *log) builder(turn string, judge func(trace.PermissionRequest, trace.ToolCall) (trace.PermissionResponse, bool)) *trace.Builder {
	return trace.NewBuilder(context.Background(), trace.Config{
		Turn:   turn,
		Decide: judge,
		Now:    func() time.Time { return time.Unix(0, 0) },
		Append: func(_ context.Context, events []trace.Event) error {
			l.mu.Lock()
			defer l.mu.Unlock()
			for _, e := range events {
				l.records = append(l.records, trace.Record{Session: "s", Turn: turn, Seq: uint64(len(l.records)*3 + 1), Event: e})
			}
			return nil
		},
	})
}

// write runs one turn and returns its records.
func write(tb interface{ Fatal(...any) }, stop trace.Stop, script func(b *trace.Builder)) []trace.Record {
	var l log
	b := l.builder("t1", func(r trace.PermissionRequest, _ trace.ToolCall) (trace.PermissionResponse, bool) {
		if r.Title != "by policy" {
			return trace.PermissionResponse{}, false
		}
		return trace.PermissionResponse{Outcome: trace.Selected, ChosenOption: "yes", By: "policy"}, true
	})
	b.Emit(trace.Prompt{Message: trace.UserMessage{ID: "u1", Parts: []trace.InputPart{{Type: trace.InputText, Text: "hi"}}}})
	b.Emit(trace.Reply{MessageID: "m1", Cause: trace.CausePrompt})
	script(b)
	if err := b.Finish(stop); err != nil {
		tb.Fatal(err)
	}
	return l.records
}

func completed() trace.Stop { return trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted} }

func durable(records []trace.Record) []trace.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r trace.Record) bool { return trace.Ephemeral(r.Payload) })
}

func translate(o uistream.Options, records []trace.Record) []uistream.Chunk {
	t := uistream.NewTranslation(o)
	var all []uistream.Chunk
	for _, r := range records {
		all = append(all, t.Translate(r)...)
	}
	return all
}

// messages splits chunks where a message starts and reduces each.
func messages(tb interface{ Fatalf(string, ...any) }, chunks []uistream.Chunk) []uistream.Message {
	var all []uistream.Message
	for len(chunks) > 0 { // what stands before the first start is in no message
		if d, ok := chunks[0].(uistream.Data); !ok || !d.Transient {
			break
		}
		chunks = chunks[1:]
	}
	for len(chunks) > 0 {
		n := 1
		for n < len(chunks) {
			if _, ok := chunks[n].(uistream.Start); ok {
				break
			}
			n++
		}
		var r uistream.Reducer
		for _, c := range chunks[:n] {
			if err := r.Add(c); err != nil {
				tb.Fatalf("the client would throw: %v\n%s", err, lines(chunks[:n]))
			}
		}
		all = append(all, r.Message())
		chunks = chunks[n:]
	}
	return all
}

func lines(chunks []uistream.Chunk) string {
	var out []byte
	for _, c := range chunks {
		out = append(uistream.AppendChunk(out, c), '\n')
	}
	return string(out)
}

func seq(records []trace.Record) iter.Seq2[trace.Record, error] {
	return func(yield func(trace.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

func profile(tb testing.TB, s string) uistream.Profile {
	tb.Helper()
	p, err := uistream.ParseProfile(s)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// drawTurn draws a turn that a hectic agent might write.
func drawTurn(t *rapid.T) []trace.Record {
	outcome := rapid.SampledFrom([]trace.Outcome{trace.OutcomeCompleted, trace.OutcomeCompleted, trace.OutcomeFailed, trace.OutcomeCanceled}).Draw(t, "outcome")
	n := rapid.IntRange(0, 60).Draw(t, "n")
	reason := rapid.SampledFrom([]string{"drawn", "end_turn", "max_tokens"}).Draw(t, "reason")
	return write(t, trace.Stop{Reason: reason, Outcome: outcome}, func(b *trace.Builder) {
		d := drawn{t: t, b: b}
		for range n {
			d.step()
		}
	})
}

type drawn struct {
	t         *rapid.T
	b         *trace.Builder
	approvals []string
	questions []string
	replies   int
	retries   int
}

func (d *drawn) step() {
	t := d.t
	key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
	text := rapid.SampledFrom([]string{"x", "hello ", "Größe 😀", "\n", "a\"\\b", ""}).Draw(t, "text")
	value := json.RawMessage(rapid.SampledFrom([]string{`{}`, `{"path":"x"}`, `null`, `[1,9007199254740993]`, `"s"`, `{"__proto__":{"a":1}}`, `not json`, ``}).Draw(t, "value"))
	b := d.b
	switch rapid.IntRange(0, 9).Draw(t, "under") {
	case 0, 1:
		b = b.Under(key)
	case 2:
		b = b.Sub("child of "+key, text)
	}
	switch rapid.IntRange(0, 30).Draw(t, "op") {
	case 0, 1:
		b.MessageDelta(key, text)
	case 2:
		b.Message(key, "hello "+text)
	case 3:
		b.MessageEnd(key)
	case 4:
		b.ThoughtDelta(key, text)
	case 5:
		b.Thought(key, text, "sig")
	case 6:
		b.ToolCallStart(trace.ToolCallStart{ToolCallID: key, RawName: "bash", Title: text})
	case 7, 8:
		b.ToolCallDelta(key, fmt.Sprintf(`{"x":"%0300d`, 1))
	case 9, 10:
		b.ToolCall(trace.ToolCall{ToolCallID: key, RawName: "Bash", Title: "Run " + key, Input: value})
	case 11, 12:
		status := rapid.SampledFrom([]trace.ToolStatus{trace.ToolCompleted, trace.ToolFailed, trace.ToolDenied, trace.ToolCanceled}).Draw(t, "status")
		b.ToolResult(trace.ToolResult{ToolCallID: key, Status: status, Output: value})
	case 13:
		b.ToolResultProgress(key, value)
	case 14, 15:
		title := rapid.SampledFrom([]string{"by policy", "Run it?", ""}).Draw(t, "title")
		id, _, decided := b.PermissionRequest(trace.PermissionRequest{
			RequestID: "r" + key, ToolCallID: rapid.SampledFrom([]string{key, key, ""}).Draw(t, "about"), Title: title,
			Options: []trace.PermissionOption{{ID: "yes", Name: "Yes", OptionKind: trace.AllowOnce}, {ID: "no", Name: "No", OptionKind: trace.RejectOnce}},
		}, trace.ToolCall{})

		if !decided {
			d.approvals = append(d.approvals, id)
		}
	case 16:
		if len(d.approvals) > 0 {
			option := rapid.SampledFrom([]string{"yes", "no"}).Draw(t, "option")
			d.b.PermissionResponse(trace.PermissionResponse{RequestID: d.approvals[0], Outcome: trace.Selected, ChosenOption: option, By: "me"})
			d.approvals = d.approvals[1:]
		}
	case 17:
		d.questions = append(d.questions, b.Question(trace.Question{QuestionID: key, ToolCallID: rapid.SampledFrom([]string{"", key}).Draw(t, "behind"), Text: "Which?", Choices: []trace.Choice{{Label: "one"}}, Multiple: text == ""}))
	case 18:
		if len(d.questions) > 0 {
			outcome := rapid.SampledFrom([]trace.PermissionOutcome{trace.Selected, trace.Expired}).Draw(t, "answered")
			d.b.Answer(trace.Answer{QuestionID: d.questions[0], Outcome: outcome, Values: []string{"one"}, By: "me"})
			d.questions = d.questions[1:]
		}
	case 19:
		d.b.StepStart(trace.Step{Name: "s", NativeID: rapid.SampledFrom([]string{"", "theirs", "theirs too"}).Draw(t, "native")})
	case 20:
		d.b.StepEnd()
	case 21:
		if text == "" {
			d.b.EndHold()
		} else {
			d.b.Present()
		}
	case 22:
		d.replies++
		d.b.Emit(trace.Reply{MessageID: fmt.Sprintf("m1-%d", d.replies), Cause: trace.CauseSteer})
	case 23:
		d.retries++
		again := fmt.Sprintf("again%d", d.retries)
		b.MessageRepeats(again, key)
		b.MessageDelta(again, "hello x and then something else"+text)
	case 24:
		b.Emit(rapid.SampledFrom([]trace.Payload{
			trace.Usage{Scope: trace.UsageTurn, InputTokens: 3},
			trace.Plan{},
			trace.FileChange{Path: "a<b"},
			trace.Error{Message: "slow"},
			trace.Source{URL: "http://a"},
			trace.Source{Filename: "f"},
			trace.File{URL: "data:,x"},
			trace.Status{State: trace.StateThinking},
			trace.Unknown{UnknownKind: "new", Raw: json.RawMessage("{}")},
		}).Draw(t, "event"))
	case 25:
		b.ToolCallUpdate(trace.ToolCall{ToolCallID: key, Title: text, Input: value})
	case 26:
		b.ToolCallSnapshot(key, value)
	case 27:
		b.ToolResultDelta(key, text)
	case 28:
		b.Denied(key, text)
	case 29:
		b.SubEnd("child of "+key, trace.SubagentFailed)
	default:
		b.Emit(trace.Data{Name: rapid.SampledFrom([]string{"x", "ü ü", "", "title"}).Draw(t, "name"), ID: key, Value: value, Transient: text == "x", Domain: text == "\n"})
	}
}

// drawOptions draws whom to translate for.
func drawOptions(t *rapid.T) uistream.Options {
	p, err := uistream.ParseProfile(rapid.SampledFrom([]string{"", "5", "7", "5.0.277", "6.0.0", "6.0.323", "7.0.173"}).Draw(t, "client"))
	if err != nil {
		t.Fatal(err)
	}
	domain, err := uistream.ParseDomainEvents(rapid.SampledFrom([][]string{nil, {"title"}, {"question", "approval"}, {"all"}}).Draw(t, "domain"))
	if err != nil {
		t.Fatal(err)
	}
	return uistream.Options{
		Profile:   p,
		RFC:       rapid.IntRange(0, 2).Draw(t, "rfc") == 0,
		Domain:    domain,
		Subagents: uistream.Subagents(rapid.IntRange(0, 3).Draw(t, "subagents")),
	}
}
