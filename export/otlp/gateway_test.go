package otlp_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/trace"
)

// The gateway's own times are spans of the turn, one after the other, within the span of the turn.
func TestTheGatewaysTimesAreSpans(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	record := func(seq uint64, ms int, by trace.Actor, p trace.Payload) trace.Record {
		return trace.Record{Session: "s", Turn: "t", Seq: seq, Event: trace.Event{ID: string(rune('a' + seq)), Time: at.Add(time.Duration(ms) * time.Millisecond), Actor: by, Payload: p}}
	}
	records := []trace.Record{
		record(1, 100, trace.User, trace.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: "hello"}}}}),
		record(2, 250, trace.Gateway, trace.Reply{MessageID: "m"}),
		record(3, 700, trace.Gateway, trace.Timing{Received: at.Add(10 * time.Millisecond), Read: at.Add(60 * time.Millisecond), Ready: at.Add(700 * time.Millisecond)}.Payload()),
		record(4, 900, trace.Agent, trace.Step{Phase: trace.PhaseStart}),
		record(5, 900, trace.Agent, trace.MessageStart{Part: "p", Role: trace.RoleAssistant}),
		record(6, 950, trace.Agent, trace.Message{Part: "p", Role: trace.RoleAssistant, Text: "hi"}),
		record(7, 950, trace.Agent, trace.Step{Phase: trace.PhaseEnd}),
		record(8, 960, trace.Gateway, trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted, FinalOutput: "hi"}),
	}
	var root *tracepb.Span
	var own []string
	for _, s := range spansOf(t, records, otlp.Options{}) {
		if strings.HasPrefix(s.Name, "invoke_agent") {
			root = s
		}
	}
	for _, s := range spansOf(t, records, otlp.Options{}) {
		if name, is := strings.CutPrefix(s.Name, "gateway: "); is {
			from, to := time.Unix(0, int64(s.GetStartTimeUnixNano())).Sub(at), time.Unix(0, int64(s.GetEndTimeUnixNano())).Sub(at) //nolint:gosec // of these days
			own = append(own, from.String()+" "+to.String()+" "+name)
			if !bytes.Equal(s.GetParentSpanId(), root.GetSpanId()) || s.GetStartTimeUnixNano() < root.GetStartTimeUnixNano() || s.GetEndTimeUnixNano() > root.GetEndTimeUnixNano() {
				t.Errorf("%s is not within the turn", s.Name)
			}
		}
	}
	slices.Sort(own)
	want := []string{"100ms 250ms wait in queue", "10ms 60ms read request", "250ms 700ms start agent", "60ms 100ms admit prompt", "700ms 900ms wait for agent"}
	if !slices.Equal(own, want) {
		t.Errorf("the spans are %q", own)
	}
	if root.GetStartTimeUnixNano() != uint64(at.Add(10*time.Millisecond).UnixNano()) { //nolint:gosec // of these days
		t.Errorf("the turn begins at %d", root.GetStartTimeUnixNano())
	}
}
