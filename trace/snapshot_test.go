package trace_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// inputs is the written input of a call: each delta, and each whole in brackets.
func inputs(t *testing.T, say func(*trace.Builder)) (string, trace.Counts) {
	t.Helper()
	_, events, counts := written[trace.Payload](t, say)
	var words []string
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.ToolCallDelta:
			words = append(words, p.Delta)
		case trace.ToolCall:
			words = append(words, "<"+string(p.Input)+">")
		}
	}
	return strings.Join(words, " "), counts
}

func TestSnapshotsOfAnInputBecomeDeltas(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		snapshots []string
		whole     string
		want      string
	}{
		"a text that grows":          {[]string{`{}`, `{"a": "x"}`, `{"a":"xy"}`, `{"a":"xy","b":[1]}`, `{"a":"xy","b":[1,2]}`}, `{"a":"xy","b":[1,2]}`, `{ "a":"x y ","b":[1 ,2 <{"a":"xy","b":[1,2]}>`},
		"the whole wins":             {[]string{`{"a":"x"}`}, `{"z":1}`, `{"a":"x <{"z":1}>`},
		"without a whole, the last":  {[]string{`{"a":"x"}`, `{"a":"xy"}`}, ``, `{"a":"x y <{"a":"xy"}>`},
		"nothing shown is retracted": {[]string{`{"a":"x"}`, `{"b":"y"}`, `{"a":"xyz"}`, `{"b":"z"}`}, ``, `{"a":"x yz <{"b":"z"}>`},
		"no object":                  {[]string{`"x"`, `[1]`, `nonsense`}, `{"a":1}`, `<{"a":1}>`},
		"quotes and backslashes":     {[]string{`{"a":"\\"}`, `{"a":"\\\""}`, `{"a":"\\\"}\""}`}, ``, `{"a":"\\ \ "}\ <{"a":"\\\"}\""}>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, _ := inputs(t, func(b *trace.Builder) {
				for _, s := range c.snapshots {
					b.ToolCallSnapshot("c", json.RawMessage(s))
				}
				if c.whole != "" {
					b.ToolCall(trace.ToolCall{ToolCallID: "c", Input: json.RawMessage(c.whole)})
				}
			})
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestASnapshotAfterTheFullTextIsLate(t *testing.T) {
	t.Parallel()
	got, counts := inputs(t, func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c", Input: json.RawMessage(`{"a":1}`)})
		b.ToolCallSnapshot("c", json.RawMessage(`{"a":12}`))
	})
	if got != `<{"a":1}>` || counts.Repeated != 1 {
		t.Errorf("%s, %+v", got, counts)
	}
}

func TestAnUpdateOfACallIsOnRecordOncePerChange(t *testing.T) {
	t.Parallel()
	calls, events, counts := written[trace.ToolCall](t, func(b *trace.Builder) {
		b.ToolCallUpdate(trace.ToolCall{ToolCallID: "unknown", Title: "x"})
		b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "edit"})
		b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Title: "Edit a.go", Input: json.RawMessage(`{"path":"a.go"}`)})
		b.ToolCall(trace.ToolCall{ToolCallID: "c", Input: json.RawMessage(`{"path":"a.go"}`)})
		at := []trace.Location{{Path: "a.go", Line: 3}}
		for range 3 {
			b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Title: "Edit a.go", ToolKind: trace.ToolEdit, Locations: at})
		}
		b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Input: json.RawMessage(`{"path": "b.go"}`)})
		b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c"})
		b.ToolResult(trace.ToolResult{ToolCallID: "c"})
		b.ToolCallUpdate(trace.ToolCall{ToolCallID: "c", Title: "too late"})
	})
	want := []string{`Edit a.go other {"path":"a.go"} 0`, `Edit a.go edit {"path":"a.go"} 1`, `Edit a.go edit {"path":"b.go"} 1`}
	if len(calls) != len(want) || counts.Orphans != 2 {
		t.Fatalf("%d records, %+v: %+v", len(calls), counts, events)
	}
	for i, c := range calls {
		got := strings.Join([]string{c.Title, string(c.ToolKind), string(c.Input), string(rune('0' + len(c.Locations)))}, " ")
		if got != want[i] {
			t.Errorf("record %d is %s, want %s", i, got, want[i])
		}
	}
}
