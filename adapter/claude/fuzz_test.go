package claude_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/adapter/claude"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/trace"
)

func FuzzDecode(f *testing.F) {
	var seeds [][]byte
	for _, lines := range [][]string{ // small, so that the fuzzer gets around
		{hello, begin("a"), open1(0, text0), textDelta(0, `a\ud83d`), assistantLine("a", `{"type":"text","text":"a😀"}`), shut(0), cut(0), begin("b"), open1(0, text0), textDelta(0, "a"), shut(0), messageEnd("end_turn"), done},
		{hello, begin("a"), open1(0, `{"type":"tool_use","id":"t","name":"Task","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{}"}`), shut(0), may("r", "t", "Task", "{}", ""), reply("r", `{"behavior":"allow"}`)},
		{
			call("t", "Task", "{}"), out(`{"type":"system","subtype":"task_started","task_id":"k","tool_use_id":"t"}`), userLine(`[{"type":"tool_result","tool_use_id":"t","content":"ok"}]`), done,
			out(`{"type":"assistant","parent_tool_use_id":"t","message":{"id":"s","content":[{"type":"tool_use","id":"u","name":"Read","input":{}}]}}`),
			out(`{"type":"system","subtype":"task_notification","task_id":"k","tool_use_id":"t","status":"failed"}`), done,
		},
		{may("r", "t", "AskUserQuestion", `{"questions":[{"question":"?","options":[]}]}`, ""), out(`{"type":"control_cancel_request","request_id":"r"}`), out(`{"type":"result","is_error":true}`)},
		{assistantLine("a", `{"type":"server_tool_use","id":"s","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s","content":[{"url":"u"}]},{"type":"image","source":{"url":"u"}}`)},
	} {
		seeds = append(seeds, []byte(strings.Join(lines, "\n")))
	}
	recordings().Fuzz(f, seeds...)
}

// TestLostDoubledAndMovedLines plays recordings that were damaged line by line.
func TestLostDoubledAndMovedLines(t *testing.T) {
	t.Parallel()
	recordings().Damaged(t, 6, "big")
}

// TestTimeGrowsWithTheInput decodes texts of which one is eight times as long
// as the other. Quadratic work would take 64 times as long.
func TestTimeGrowsWithTheInput(t *testing.T) {
	turn := func(deltas int) []byte {
		var b strings.Builder
		b.WriteString(hello + "\n" + begin("a") + "\n" + open1(0, text0) + "\n")
		for range deltas {
			b.WriteString(textDelta(0, "some more text") + "\n")
		}
		b.WriteString(open1(1, `{"type":"tool_use","id":"t","name":"Write","input":{}}`) + "\n" + delta(1, `{"type":"input_json_delta","partial_json":"{\"content\":\""}`) + "\n")
		for range deltas {
			b.WriteString(delta(1, `{"type":"input_json_delta","partial_json":"some more text"}`) + "\n")
		}
		b.WriteString(delta(1, `{"type":"input_json_delta","partial_json":"\"}"}`) + "\n" + shut(1) + "\n" + done)
		return []byte(b.String())
	}
	measure := func(recording []byte) time.Duration {
		start := time.Now()
		if _, err := replay.Run(t.Context(), claude.NewDecoder(claude.Options{}), bytes.NewReader(recording), func(trace.Record) error { return nil }); err != nil {
			t.Fatal(err)
		}
		return time.Since(start)
	}
	small, large := time.Hour, time.Hour
	for range 60 { // other work of the machine makes some runs slow, and none fast
		small, large = min(small, measure(turn(500))), min(large, measure(turn(4000)))
		if large <= 32*small {
			return
		}
	}
	t.Errorf("8 times the input takes %v instead of %v", large, small)
}

// BenchmarkDelta is the cost of one streamed piece of text.
func BenchmarkDelta(b *testing.B) {
	r := agenttest.NewRecorder()
	t := agenttest.OneTurn(r.Builder)
	d := claude.NewDecoder(claude.Options{})
	line := []byte(`{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"some more text"}},"session_id":"85cea5f6-547e-4327-8237-b6434b18165f","parent_tool_use_id":null,"uuid":"88a59188-e63c-4311-a357-a226a4a8b43e","api_message_id":"msg_c79ea815c564448b"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Decode(agent.Message{Dir: agent.Out, Data: line}, t); err != nil {
			b.Fatal(err)
		}
	}
}
