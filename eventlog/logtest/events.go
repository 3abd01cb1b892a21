package logtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// hang is how long a wait may last before a test gives up: far more than any of
// them needs on a busy machine.
const hang = time.Minute

func event(id string, p trace.Payload) trace.Event {
	return trace.Event{
		ID: id, Parent: "parent of " + id, Actor: trace.Agent, Payload: p,
		Time: time.Date(2026, 5, 4, 3, 2, 1, 987654321, time.FixedZone("somewhere", 3600)),
	}
}

// Whole is an event that is kept, Delta one that may be dropped.
func whole(i int) trace.Event {
	return event(fmt.Sprintf("e%d", i), trace.Message{Part: "p", Role: "assistant", Text: fmt.Sprintf("whole %d", i)})
}

func delta(i int) trace.Event {
	return event(fmt.Sprintf("e%d", i), trace.MessageDelta{Part: "p", Delta: fmt.Sprintf("delta %d ", i)})
}

func stop(i int) trace.Event {
	return event(fmt.Sprintf("e%d", i), trace.Stop{Reason: "end_turn", Outcome: "completed", FinalOutput: "done"})
}

// mixed is n events from first on, of which every third is whole.
func mixed(first, n int) []trace.Event {
	events := make([]trace.Event, n)
	for i := range events {
		if k := first + i; k%3 == 0 {
			events[i] = whole(k)
		} else {
			events[i] = delta(k)
		}
	}
	return events
}

// everyKind is one event of each sort of payload that a store could get wrong.
func everyKind() []trace.Event {
	cost := 0.25
	payloads := []trace.Payload{
		trace.Prompt{Message: trace.UserMessage{ID: "m", Parts: []trace.InputPart{{Type: "text", Text: "héllo \u2028 <b>&</b> \x00 \U0001F600"}}, Metadata: json.RawMessage(`{"a":[1,2]}`)}, By: "ann"},
		trace.Reply{MessageID: "r", Cause: "prompt"},
		trace.MessageStart{Part: "p", Role: "assistant"},
		trace.MessageDelta{Part: "p", Delta: "line one\nline two\r\n"},
		trace.Message{Part: "p", Role: "assistant", Text: ""},
		trace.ThoughtDelta{Part: "q", Delta: "hm"},
		trace.ToolCall{ToolCallID: "c", RawName: "Bash", Name: "Bash", ToolKind: "execute", Input: json.RawMessage(`{"n":12345678901234567890,"s":"\u003c"}`)},
		trace.ToolResultProgress{ToolCallID: "c", Output: json.RawMessage(`"half"`)},
		trace.ToolResult{ToolCallID: "c", Status: "completed", Output: json.RawMessage(`null`)},
		trace.Data{Name: "x", Value: json.RawMessage(`1`), Transient: true},
		trace.Data{Name: "x", Value: json.RawMessage(`1`)},
		trace.Usage{Scope: "turn", InputTokens: 1, CostUSD: &cost},
		trace.Status{State: "thinking"},
		trace.Unknown{UnknownKind: "from.the.future", Raw: json.RawMessage(`{ "kept" :  [ 1 , 2 ] }`)},
		trace.Stop{Reason: "end_turn", Outcome: "completed"},
	}
	events := make([]trace.Event, len(payloads))
	for i, p := range payloads {
		events[i] = event(fmt.Sprintf("k%d", i), p)
	}
	return events
}

// records is what a store must yield for events that were appended as a batch
// whose last number is last.
func records(session, turn string, last uint64, events []trace.Event) []trace.Record {
	rs := make([]trace.Record, len(events))
	for i, e := range events {
		e.Time = e.Time.UTC()
		rs[i] = trace.Record{Session: session, Turn: turn, Seq: last - uint64(len(events)) + uint64(i) + 1, Event: e}
	}
	return rs
}

func durableOf(rs []trace.Record) []trace.Record {
	var kept []trace.Record
	for _, r := range rs {
		if !trace.Ephemeral(r.Payload) {
			kept = append(kept, r)
		}
	}
	return kept
}

func collect(t *testing.T, seq iter.Seq2[trace.Record, error]) []trace.Record {
	t.Helper()
	var rs []trace.Record
	for r, err := range seq {
		if err != nil {
			t.Fatalf("after %d records: %v", len(rs), err)
		}
		rs = append(rs, r)
	}
	return rs
}

func same[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if reflect.DeepEqual(got, want) { // cmp.Diff takes seconds for a megabyte
		return
	}
	if d := cmp.Diff(want, got, cmp.Comparer(func(a, b json.RawMessage) bool { return bytes.Equal(a, b) })); d != "" {
		const enough = 4000
		if len(d) > enough {
			d = d[:enough] + "…"
		}
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

// add appends and checks the number against what has been written so far.
func add(t *testing.T, s eventlog.Store, session, turn string, log *[]trace.Record, events ...trace.Event) {
	t.Helper()
	last, err := s.Append(t.Context(), session, turn, events)
	must(t, err)
	first := last - uint64(len(events)) + 1
	if n := len(*log); n > 0 && first <= (*log)[n-1].Seq || first == 0 {
		t.Fatalf("append of %d events returned %d, which goes back", len(events), last)
	}
	*log = append(*log, records(session, turn, last, events)...)
}

func number(t *testing.T, s eventlog.Store, ctx context.Context, session string) uint64 { //nolint:revive // t first
	t.Helper()
	last, err := s.Last(ctx, session)
	must(t, err)
	return last
}

func weirdIDs() []string {
	return []string{
		"plain", "with space", "dots.in.it", ".", "..", "*", ">", "a.*.>", "$JS.API", "tab\tand\nnewline", "ünïcödé 🦊", "../../etc/passwd",
		"UPPER", "upper", "a/b\\c", `quote"s'`, "{}", strings.Repeat("long ", 40), strings.Repeat("é", 100),
	}
}

func entry(session, doc string) eventlog.Entry {
	return eventlog.Entry{Session: session, Agent: "demo", Updated: time.Now(), Doc: []byte(doc)}
}
