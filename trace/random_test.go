package trace_test

import (
	"encoding/json"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/tributary-dev/tributary/trace"
)

// step is one call of an agent to its Builder. asked passes on the ids of what
// waits for an answer.
type step func(b *trace.Builder, asked chan string)

func keys() *rapid.Generator[string] { return rapid.SampledFrom([]string{"", "a", "a~2", "b", "ask"}) }

func callIDs() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"", "c", "c~2", "d", "call", "ask\x00c"})
}

// texts are short and alike, so that they extend, repeat and contradict.
func texts() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "He", "Hello", "Hello world", "Hello world, and all who sail on it", "Hello world, and none", "llo", " world", "x",
			"\xf0\x9f", "\x98\x80", "\xed\xa0\xbd", "\xed\xb8\x80", "\xed", "😀", "\xff",
		}),
		rapid.StringN(0, 20, -1),
	)
}

func values() *rapid.Generator[json.RawMessage] {
	return rapid.Map(rapid.SampledFrom([]string{"", "null", "{}", `{"a": 1}`, `"text"`, "not json", "\xff", "[1,\n2]", `{"a":1e999}`}),
		func(s string) json.RawMessage { return json.RawMessage(s) })
}

func drawStep(t *rapid.T) step {
	key, other, id, text, value := keys().Draw(t, "key"), keys().Draw(t, "other"), callIDs().Draw(t, "call"), texts().Draw(t, "text"), values().Draw(t, "value")
	pick := func(words ...string) string { return rapid.SampledFrom(words).Draw(t, "word") }
	emit := func(p trace.Payload) step { return func(b *trace.Builder, _ chan string) { b.Emit(p) } }
	switch pick("delta", "snapshot", "message", "end", "repeats", "thought delta", "thought snapshot", "thought", "thought end", "thought repeats",
		"call start", "call delta", "call", "call snapshot", "call update", "progress", "output", "result", "denied", "permission", "permissions", "question", "answer", "pause", "step", "step end",
		"reply", "data", "file", "change", "usage", "plan", "status", "error", "unknown", "end of turn", "touch", "source", "sub end") {
	case "delta":
		return func(b *trace.Builder, _ chan string) { b.MessageDelta(key, text) }
	case "snapshot":
		return func(b *trace.Builder, _ chan string) { b.MessageSnapshot(key, text) }
	case "message":
		return func(b *trace.Builder, _ chan string) { b.Message(key, text) }
	case "end":
		return func(b *trace.Builder, _ chan string) { b.MessageEnd(key) }
	case "repeats":
		return func(b *trace.Builder, _ chan string) { b.MessageRepeats(key, other) }
	case "thought delta":
		return func(b *trace.Builder, _ chan string) { b.ThoughtDelta(key, text) }
	case "thought snapshot":
		return func(b *trace.Builder, _ chan string) { b.ThoughtSnapshot(key, text) }
	case "thought":
		return func(b *trace.Builder, _ chan string) { b.Thought(key, text, "sig") }
	case "thought end":
		return func(b *trace.Builder, _ chan string) { b.ThoughtEnd(key, "sig") }
	case "thought repeats":
		return func(b *trace.Builder, _ chan string) { b.ThoughtRepeats(key, other) }
	case "call start":
		return emit(trace.ToolCallStart{ToolCallID: id, RawName: pick("", "Read"), ToolKind: trace.ToolKind(pick("", "read", "novel"))})
	case "call delta":
		return emit(trace.ToolCallDelta{ToolCallID: id, Delta: pick(`{"a"`, `:1}`, "\xf0\x9f", "")})
	case "call":
		return emit(trace.ToolCall{ToolCallID: id, RawName: pick("", "Read"), Title: text, Input: value, Locations: []trace.Location{{Path: "p"}}})
	case "call snapshot":
		object := pick("{}", `{"a":"x"}`, `{"a":"xy"}`, `{"a":"xy","b":[1]}`, `{"a":"xy","b":[1,{}]}`, `{"b":1}`, "x")
		return func(b *trace.Builder, _ chan string) { b.ToolCallSnapshot(id, json.RawMessage(object)) }
	case "call update":
		update := trace.ToolCall{ToolCallID: id, Title: pick("", "T"), ToolKind: trace.ToolKind(pick("", "read", "novel")), Input: value}
		return func(b *trace.Builder, _ chan string) { b.ToolCallUpdate(update) }
	case "output":
		return func(b *trace.Builder, _ chan string) { b.ToolResultDelta(id, text) }
	case "denied":
		return func(b *trace.Builder, _ chan string) { b.Denied(id, text) }
	case "permissions":
		ask := func(id, call string) trace.PermissionCheck {
			return trace.PermissionCheck{Request: trace.PermissionRequest{RequestID: id, ToolCallID: call}, Call: trace.ToolCall{Input: value}}
		}
		return func(b *trace.Builder, asked chan string) {
			for _, d := range b.PermissionRequests(ask(key, id), ask(other, id), ask("", "d")) {
				if !d.Decided {
					send(asked, d.ID)
				}
			}
		}
	case "sub end":
		status := trace.SubagentStatus(pick("", "failed"))
		return func(b *trace.Builder, _ chan string) { b.SubEnd(id, status) }
	case "progress":
		return emit(trace.ToolResultProgress{ToolCallID: id, Output: value})
	case "result":
		return emit(trace.ToolResult{ToolCallID: id, Status: trace.ToolStatus(pick("", "completed", "failed", "novel")), Output: value, Error: text})
	case "permission":
		r := trace.PermissionRequest{RequestID: key, ToolCallID: id, Title: text, Options: []trace.PermissionOption{{ID: "yes", Name: "Yes", OptionKind: trace.OptionKind(pick("allow_once", "novel"))}}}
		return func(b *trace.Builder, asked chan string) {
			if id, _, decided := b.PermissionRequest(r, trace.ToolCall{}); !decided {
				send(asked, id)
			}
		}
	case "question":
		return func(b *trace.Builder, asked chan string) {
			send(asked, b.Question(trace.Question{QuestionID: key, ToolCallID: id, Text: text}))
		}
	case "answer":
		option, by := pick("yes", "no", ""), pick("", "ann")
		return func(b *trace.Builder, asked chan string) {
			select {
			case key := <-asked:
				b.PermissionResponse(trace.PermissionResponse{RequestID: key, Outcome: trace.PermissionOutcome(pickOutcome(option)), ChosenOption: option, UpdatedInput: value, By: by})
				b.Answer(trace.Answer{QuestionID: key, Values: nil, By: by})
			default:
				b.PermissionResponse(trace.PermissionResponse{RequestID: key})
			}
		}
	case "pause":
		if pick("present", "release") == "present" {
			return func(b *trace.Builder, _ chan string) { b.Present() }
		}
		return func(b *trace.Builder, _ chan string) { b.EndHold() }
	case "step":
		return emit(trace.Step{Phase: trace.PhaseStart, Name: text, NativeID: pick("", "theirs")})
	case "step end":
		return emit(trace.Step{Phase: trace.PhaseEnd})
	case "reply":
		return emit(trace.Reply{MessageID: "m", Cause: trace.CauseSteer})
	case "data":
		return emit(trace.Data{Name: "n", Value: value, Transient: pick("", "transient") != "", Domain: pick("", "domain") != ""})
	case "file":
		return emit(trace.File{URL: "u", MediaType: "text/plain"})
	case "source":
		return emit(trace.Source{SourceID: "s"})
	case "change":
		return emit(trace.FileChange{Path: "p", Change: trace.ChangeKind(pick("created", "novel")), ToolCallID: id})
	case "usage":
		return emit(trace.Usage{Scope: trace.UsageScope(pick("turn", "novel"))})
	case "plan":
		return emit(trace.Plan{Entries: []trace.PlanEntry{{Content: text, Status: trace.PlanStatus(pick("pending", "novel"))}}})
	case "status":
		return emit(trace.Status{State: trace.State(pick("idle", "novel"))})
	case "error":
		return emit(trace.Error{Message: text})
	case "unknown":
		return emit(trace.Unknown{UnknownKind: trace.Kind(pick("", "novel", "message.delta", "stop")), Raw: value})
	case "end of turn":
		return emit(trace.Stop{Reason: text})
	default:
		return func(b *trace.Builder, _ chan string) { b.Touch() }
	}
}

func pickOutcome(option string) string {
	if option == "" {
		return ""
	}
	return "selected"
}

func send(asked chan string, id string) {
	select {
	case asked <- id:
	default:
	}
}

type speaker struct {
	under []string
	subs  bool // they are sub-agents without a call
	steps []step
}

func drawSpeaker(t *rapid.T) speaker {
	return speaker{
		under: rapid.SliceOfN(callIDs(), 0, 2).Draw(t, "under"),
		subs:  rapid.Bool().Draw(t, "subs"),
		steps: rapid.SliceOfN(rapid.Custom(drawStep), 0, 25).Draw(t, "steps"),
	}
}

func (s speaker) speak(b *trace.Builder, asked chan string) {
	for _, id := range s.under {
		if s.subs {
			b = b.Sub(id, "child")
		} else {
			b = b.Under(id)
		}
	}
	for _, say := range s.steps {
		say(b, asked)
	}
}

func drawStop(t *rapid.T) trace.Stop {
	return trace.Stop{
		Reason:  texts().Draw(t, "reason"),
		Outcome: trace.Outcome(rapid.SampledFrom([]string{"", "completed", "failed", "canceled", "novel"}).Draw(t, "outcome")),
	}
}

// One agent after another, and Finish.
func randomTurn(t *rapid.T) []trace.Event {
	b, log := newTurn(func(c *trace.Config) {
		if rapid.Bool().Draw(t, "judge") {
			c.Decide = func(r trace.PermissionRequest, _ trace.ToolCall) (trace.PermissionResponse, bool) {
				return trace.PermissionResponse{ChosenOption: "yes"}, r.RequestID != "a"
			}
		}
		c.MaxEvent = rapid.SampledFrom([]int{0, 1, 10}).Draw(t, "max event")
	})
	asked := make(chan string, 100)
	for _, s := range rapid.SliceOfN(rapid.Custom(drawSpeaker), 1, 4).Draw(t, "speakers") {
		s.speak(b, asked)
	}
	if err := b.Finish(drawStop(t)); err != nil {
		t.Fatal(err)
	}
	if a := b.Activity(); a.Tools != 0 || a.Asks != 0 {
		t.Fatalf("after the turn %d tools run and %d asks wait", a.Tools, a.Asks)
	}
	return log.events
}

func TestL08_WhateverAnAgentSaysATurnObeysTheGrammar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		if err := check(randomTurn(t)); err != nil {
			t.Fatal(err)
		}
	})
}

func TestConcurrentSpeakersObeyTheGrammar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, log := newTurn()
		asked := make(chan string, 100)
		var wg sync.WaitGroup
		for _, s := range rapid.SliceOfN(rapid.Custom(drawSpeaker), 2, 4).Draw(t, "speakers") {
			wg.Go(func() { s.speak(b, asked) })
		}
		stop := drawStop(t)
		if rapid.Bool().Draw(t, "finish early") {
			wg.Go(func() { _ = b.Finish(stop) })
		} else {
			wg.Wait()
		}
		if err := b.Finish(stop); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if err := check(log.events); err != nil {
			t.Fatal(err)
		}
	})
}

// A turn that is cut anywhere and taken up again is one well-formed turn.
func TestReopenedTurnsObeyTheGrammar(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		events := randomTurn(t)
		cut := rapid.IntRange(0, len(events)-1).Draw(t, "cut")
		log := &tape{events: events[:cut:cut]}
		var records []trace.Record
		for _, e := range log.events {
			records = append(records, trace.Record{Turn: "t", Event: e})
		}
		b := trace.Restore(t.Context(), trace.Config{Turn: "t", Append: log.append}, records)
		drawSpeaker(t).speak(b, make(chan string, 100))
		if err := b.Finish(trace.Stop{Outcome: trace.OutcomeFailed}); err != nil {
			t.Fatal(err)
		}
		if err := check(log.events); err != nil {
			t.Fatal(err)
		}
	})
}
