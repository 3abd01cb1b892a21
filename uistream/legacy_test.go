package uistream_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

func TestM01_M02_M10_TheLegacyFormHasSevenTypes(t *testing.T) {
	t.Parallel()
	stop := trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}
	got := uistream.AppendTurn(nil, slices.Values(everything(t, stop)), uistream.Options{Legacy: true}, uistream.Framing{})
	compare(t, "legacy.sse", got)
	types := map[string]int{}
	for _, e := range legacyEvents(t, got) {
		types[e["type"].(string)]++ //nolint:forcetypeassert // a panic is a failure here
	}
	for _, typ := range []string{"text-start", "text-delta", "text-done", "tool-call", "tool-result", "conversation-event"} {
		if types[typ] == 0 {
			t.Errorf("there is no %s", typ)
		}
		delete(types, typ)
	}
	if len(types) > 0 {
		t.Errorf("there are other types: %v", types)
	}
}

func TestM08_ALegacyStreamReportsAFailure(t *testing.T) {
	t.Parallel()
	stop := trace.Stop{Reason: "error", Outcome: trace.OutcomeFailed, Error: "The model is away."}
	got := uistream.AppendTurn(nil, slices.Values(write(t, stop, textScript("Hel", "lo"))), uistream.Options{Legacy: true}, uistream.Framing{})
	events := legacyEvents(t, got)
	text := ""
	for _, e := range events {
		if delta, ok := e["textDelta"].(string); ok {
			text += delta
		}
	}
	if last := events[len(events)-1]; text != "Hello" || last["type"] != "error" || last["error"] != "The model is away." {
		t.Errorf("the text is %q and the last event %v", text, last)
	}
}

func TestM03_ALegacyEventNamesItsParticipant(t *testing.T) {
	t.Parallel()
	got := uistream.AppendTurn(nil, slices.Values(write(t, trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}, func(b *trace.Builder) {
		b.Emit(trace.Data{Name: "speaker", Value: json.RawMessage(`{"participant":"Alice","state":"speaking"}`)})
	})), uistream.Options{Legacy: true}, uistream.Framing{})
	want := `{"type":"conversation-event","eventType":"speaker","participant":"Alice","data":{"participant":"Alice","state":"speaking"}}`
	if !strings.Contains(string(got), "data: "+want+"\n\n") {
		t.Errorf("the stream is\n%s", got)
	}
}

// legacyEvents reads a stream whose frames have one line each.
func legacyEvents(t *testing.T, stream []byte) (all []map[string]any) {
	t.Helper()
	for frame := range strings.SplitSeq(strings.TrimSuffix(string(stream), "\n\n"), "\n\n") {
		var e map[string]any
		if err := json.Unmarshal([]byte(strings.TrimPrefix(frame, "data: ")), &e); err != nil {
			t.Fatalf("the frame %q: %v", frame, err)
		}
		all = append(all, e)
	}
	return all
}
