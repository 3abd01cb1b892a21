package trace_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// Whatever an agent goes on with for ever, and whether or not a record comes of it, the turn
// exceeds a bound.
//
//evidence:for limit-event limit-held limit-turn-bytes limit-turn-records
func TestWhateverAnAgentGoesOnWithExceedsABound(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("x", 1000)
	quoted := json.RawMessage(`"` + words + `"`)
	call := func(id string) trace.ToolCall { return trace.ToolCall{ToolCallID: id, RawName: "t", Input: quoted} }
	for name, c := range map[string]struct {
		say  func(b *trace.Builder, n int)
		want trace.Bound
	}{
		"a text":              {func(b *trace.Builder, _ int) { b.MessageDelta("a", words) }, trace.BoundEvent},
		"a text in snapshots": {func(b *trace.Builder, n int) { b.MessageSnapshot("a", strings.Repeat(words, n)) }, trace.BoundEvent},
		"a whole text":        {func(b *trace.Builder, _ int) { b.Message("a", strings.Repeat(words, 30)) }, trace.BoundEvent},
		"a thought":           {func(b *trace.Builder, _ int) { b.ThoughtDelta("a", words) }, trace.BoundEvent},
		"texts":               {func(b *trace.Builder, n int) { b.MessageDelta(fmt.Sprint(n), words) }, trace.BoundHeld},
		"an input": {func(b *trace.Builder, n int) {
			if n == 0 {
				b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c"})
			}
			b.ToolCallDelta("c", words)
		}, trace.BoundEvent},
		"an input in snapshots": {func(b *trace.Builder, n int) {
			b.ToolCallSnapshot("c", json.RawMessage(`{"a":"`+strings.Repeat(words, n)+`"}`))
		}, trace.BoundEvent},
		"a whole input": {func(b *trace.Builder, _ int) {
			b.ToolCall(trace.ToolCall{ToolCallID: "c", Input: json.RawMessage(`"` + strings.Repeat(words, 30) + `"`)})
		}, trace.BoundEvent},
		"an input that changes": {func(b *trace.Builder, n int) {
			if n == 0 {
				b.ToolCall(call("c"))
			}
			b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Input: json.RawMessage(fmt.Sprint(n))})
		}, trace.BoundRecords},
		"inputs that somebody approves": {func(b *trace.Builder, n int) {
			b.PermissionRequest(trace.PermissionRequest{ToolCallID: fmt.Sprint(n)}, call(fmt.Sprint(n)))
		}, trace.BoundHeld},
		"inputs": {func(b *trace.Builder, n int) {
			b.ToolCallStart(trace.ToolCallStart{ToolCallID: fmt.Sprint(n)})
			b.ToolCallDelta(fmt.Sprint(n), words)
		}, trace.BoundHeld},
		"calls without a result": {func(b *trace.Builder, n int) { b.ToolCall(call(fmt.Sprint(n))) }, trace.BoundHeld},
		"calls with a result": {func(b *trace.Builder, n int) {
			b.ToolCall(call(fmt.Sprint(n)))
			b.ToolResult(trace.ToolResult{ToolCallID: fmt.Sprint(n), Status: trace.ToolCompleted, Output: json.RawMessage(`"` + strings.Repeat(words, 15) + `"`)})
		}, trace.BoundBytes},
		"long ids": {func(b *trace.Builder, n int) { b.ToolCallStart(trace.ToolCallStart{ToolCallID: words + fmt.Sprint(n)}) }, trace.BoundHeld},
		"long names": {func(b *trace.Builder, n int) {
			b.ToolCallStart(trace.ToolCallStart{ToolCallID: fmt.Sprint(n), RawName: words})
		}, trace.BoundHeld},
		"output of a call": {func(b *trace.Builder, _ int) { b.ToolCall(call("c")); b.ToolResultDelta("c", words) }, trace.BoundBytes},
		"progress": {func(b *trace.Builder, n int) {
			if n == 0 {
				b.ToolCall(call("c"))
			}
			b.ToolResultProgress("c", json.RawMessage(`1`))
		}, trace.BoundRecords},
		"transient data": {func(b *trace.Builder, _ int) {
			b.Emit(trace.Data{Name: "x", Transient: true, Value: json.RawMessage(`1`)})
		}, trace.BoundRecords},
		"large data":   {func(b *trace.Builder, _ int) { b.Emit(trace.Data{Name: strings.Repeat(words, 30)}) }, trace.BoundEvent},
		"a large plan": {func(b *trace.Builder, _ int) { b.Emit(trace.Plan{Entries: make([]trace.PlanEntry, 1000)}) }, trace.BoundEvent},
		"a large diff": {func(b *trace.Builder, _ int) { b.Emit(trace.FileChange{Path: "a", Diff: strings.Repeat(words, 30)}) }, trace.BoundEvent},
		"states":       {func(b *trace.Builder, _ int) { b.Emit(trace.Status{State: trace.StateThinking}) }, trace.BoundRecords},
		"notices":      {func(b *trace.Builder, _ int) { b.Emit(trace.Notice("c", "x")) }, trace.BoundRecords},
		"steps":        {func(b *trace.Builder, n int) { b.StepStart(trace.Step{NativeID: fmt.Sprint(n)}) }, trace.BoundRecords},
		"questions":    {func(b *trace.Builder, _ int) { b.Question(trace.Question{Text: words}) }, trace.BoundHeld},
		"forms":        {func(b *trace.Builder, _ int) { b.Question(trace.Question{Choices: make([]trace.Choice, 1000)}) }, trace.BoundHeld},
		"sub-agents":   {func(b *trace.Builder, n int) { b.Sub(fmt.Sprint(n), words) }, trace.BoundHeld},
		"empty deltas": {func(b *trace.Builder, _ int) { b.MessageDelta("a", "") }, trace.BoundBytes},
		"repetitions":  {func(b *trace.Builder, _ int) { b.Message("a", "x") }, trace.BoundBytes},
		"messages without a word": {func(b *trace.Builder, _ int) {
			b.Touch()
			b.Heard(0)
		}, trace.BoundBytes},
		"what the adapter keeps": {func(b *trace.Builder, _ int) { b.Hold(100) }, trace.BoundHeld},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var exceeded []trace.Bound
			b, log := newTurn(func(c *trace.Config) {
				c.MaxEvent, c.MaxBytes, c.MaxRecords, c.MaxHeld = 20_000, 400_000, 1000, 60_000
				c.Exceeded = func(b trace.Bound) { exceeded = append(exceeded, b) }
			})
			for n := 0; n < 10_000 && len(exceeded) == 0; n++ {
				c.say(b, n)
			}
			c.say(b, 10_000) // nothing comes of it
			if err := b.Finish(trace.Stop{Reason: trace.ReasonTooMuch, Outcome: trace.OutcomeFailed}); err != nil {
				t.Fatal(err)
			}
			if len(exceeded) != 1 || exceeded[0] != c.want {
				t.Errorf("the turn exceeds %v, want %v", exceeded, c.want)
			}
			if err := check(log.events); err != nil {
				t.Error(err)
			}
		})
	}
}

// What a turn still keeps is counted. When it is over nothing is.
func TestATurnGivesBackWhatItHeld(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it says megabytes, in one goroutine")
	}
	var reserved, most int64
	refuse := false
	var exceeded []trace.Bound
	b, _ := newTurn(func(c *trace.Config) {
		c.Reserve = func(bytes int64) bool {
			reserved += bytes
			most = max(most, reserved)
			return !refuse || bytes < 0
		}
		c.Exceeded = func(b trace.Bound) { exceeded = append(exceeded, b) }
	})
	input := json.RawMessage(`"` + strings.Repeat("x", 4<<20) + `"`)
	for i := range 10 { // one after another
		id := fmt.Sprint(i)
		b.ToolCall(trace.ToolCall{ToolCallID: id, RawName: "t", Input: input})
		b.ToolResult(trace.ToolResult{ToolCallID: id, Status: trace.ToolCompleted})
	}
	if most < 4<<20 || most > 6<<20 || reserved != 0 {
		t.Errorf("the turn held %d bytes at most, and holds %d", most, reserved)
	}
	refuse = true
	b.ToolCall(trace.ToolCall{ToolCallID: "last", RawName: "t", Input: input})
	if len(exceeded) != 1 || exceeded[0] != trace.BoundReserve {
		t.Errorf("a turn that gets no memory exceeds %v", exceeded)
	}
	if err := b.Finish(trace.Stop{Reason: trace.ReasonTooMuch, Outcome: trace.OutcomeFailed}); err != nil || reserved != 0 {
		t.Errorf("after its end the turn holds %d (%v)", reserved, err)
	}
}
