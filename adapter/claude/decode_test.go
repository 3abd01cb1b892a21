package claude_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

// Short forms of lines.

func out(msg string) string { return `{"dir":"out","msg":` + msg + `}` }
func in(msg string) string  { return `{"dir":"in","msg":` + msg + `}` }

func event(e string) string { return out(`{"type":"stream_event","event":` + e + `}`) }

func begin(id string) string {
	return event(fmt.Sprintf(`{"type":"message_start","message":{"id":%q,"model":"m"}}`, id))
}

func open1(i int, block string) string {
	return event(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block))
}

func delta(i int, d string) string {
	return event(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d))
}

func textDelta(i int, text string) string {
	return delta(i, `{"type":"text_delta","text":"`+text+`"}`)
}

func shut(i int) string { return event(fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i)) }

func messageEnd(reason string) string {
	return event(`{"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}`)
}

func cut(from int) string {
	return out(fmt.Sprintf(`{"type":"stream_event","event":{"type":"message_stop"},"abandoned_blocks":{"from_block_index":%d}}`, from))
}

func assistantLine(id, blocks string) string {
	return out(fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"m","content":[%s]}}`, id, blocks))
}

func userLine(content string) string {
	return out(`{"type":"user","message":{"role":"user","content":` + content + `}}`)
}

// echo is what the agent says when it takes a prompt up.
func echo(text string) string {
	return out(fmt.Sprintf(`{"type":"user","isReplay":true,"message":{"role":"user","content":%q}}`, text))
}

const (
	text0 = `{"type":"text","text":""}`
	done  = `{"dir":"out","msg":{"type":"result","subtype":"success","is_error":false,"terminal_reason":"completed","stop_reason":"end_turn"}}`
	// reported ends the agent's work on the report of a background task.
	reported = `{"dir":"out","msg":{"type":"result","subtype":"success","is_error":false,"num_turns":1,"queued_turn_count":0,"terminal_reason":"completed","stop_reason":"end_turn","origin":{"kind":"task-notification"}}}`

	hello = `{"dir":"in","msg":{"type":"user","message":{"role":"user","content":"hi"}}}`
)

// sketch tells the durable records, one a line.
func sketch(records []trace.Record) []string {
	var lines []string
	for _, r := range records {
		who := ""
		if id, ok := r.Actor.SubagentCall(); ok {
			who = id + "> "
		}
		if s := sketch1(r.Payload); s != "" {
			lines = append(lines, who+s)
		}
	}
	return lines
}

func sketch1(p trace.Payload) string {
	switch p := p.(type) {
	case trace.Prompt:
		return "prompt " + p.Message.Parts[0].Text
	case trace.Reply:
		return "reply " + string(p.Cause)
	case trace.Message:
		return "text " + mark(p.Superseded) + p.Text
	case trace.Thought:
		return strings.TrimSpace("thought " + mark(p.Superseded) + p.Text + " " + p.Signature)
	case trace.ToolCall:
		return fmt.Sprintf("call %s %s %s", p.ToolCallID, p.Name, p.Input) + p.InputText
	case trace.ToolResult:
		return strings.TrimSpace(fmt.Sprintf("result %s %s %s %s", p.ToolCallID, p.Status, p.Output, p.Error))
	case trace.PermissionRequest:
		ids := make([]string, 0, len(p.Options))
		for _, o := range p.Options {
			ids = append(ids, o.ID)
		}
		return fmt.Sprintf("may %s %s: %s %v", p.RequestID, p.ToolCallID, p.Title, ids)
	case trace.PermissionResponse:
		return strings.TrimSpace(fmt.Sprintf("answer %s %s %s %s", p.Outcome, p.ChosenOption, p.UpdatedInput, p.Reason))
	case trace.Question:
		return fmt.Sprintf("question %s %s %d", p.QuestionID, p.Text, len(p.Choices))
	case trace.Answer:
		return fmt.Sprintf("answer %s %s %s", p.QuestionID, p.Outcome, strings.Join(p.Values, "+"))
	case trace.Plan:
		return fmt.Sprint("plan ", p.Entries)
	case trace.FileChange:
		return fmt.Sprintf("%s %s %q", p.Change, p.Path, p.Diff)
	case trace.Source:
		return fmt.Sprintf("source %s %s", p.URL, p.Title)
	case trace.File:
		return "file " + p.MediaType + " " + p.URL
	case trace.Data:
		if _, about := p.Agent(); about { // about_test.go has it
			return ""
		}
		return fmt.Sprintf("data %s %s", p.Name, p.Value)
	case trace.Error:
		return "error " + p.Code + ": " + p.Message
	case trace.Stop:
		return strings.TrimSpace(fmt.Sprintf("stop %s %s %s", p.Outcome, p.Reason, p.Error))
	}
	return ""
}

func mark(superseded bool) string {
	if superseded {
		return "(superseded) "
	}
	return ""
}

// edge is a piece of protocol and what it amounts to.
type edge struct {
	name  string
	lines []string
	want  []string
}

func runEdges(t *testing.T, edges []edge) {
	t.Helper()
	for _, c := range edges {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := recordings().Play(t, []byte(strings.Join(c.lines, "\n")))
			if p.First != nil {
				t.Errorf("not understood: %v", p.First)
			}
			if d := cmp.Diff(c.want, sketch(p.Records)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	runEdges(t, []edge{
		{"no partial messages", []string{
			hello, assistantLine("a", `{"type":"thinking","thinking":"hm","signature":"s"}`), assistantLine("a", `{"type":"text","text":"one"}`), assistantLine("b", `{"type":"text","text":"two"}`), done,
		}, []string{"prompt hi", "reply prompt", "thought hm s", "text one", "text two", "stop completed end_turn"}},
		{"a snapshot of several blocks", []string{
			assistantLine("a", `{"type":"text","text":"one"},{"type":"text","text":"two"}`), done,
		}, []string{"reply agent", "text one", "text two", "stop completed end_turn"}},
		{"half a surrogate", []string{
			hello, begin("a"), open1(0, text0), textDelta(0, `a\ud83d`), textDelta(0, `\ude00b`), assistantLine("a", `{"type":"text","text":"a😀b"}`), shut(0), done,
		}, []string{"prompt hi", "reply prompt", "text a😀b", "stop completed end_turn"}},
		{"a snapshot that knows more", []string{
			hello, begin("a"), open1(0, text0), textDelta(0, "ab"), assistantLine("a", `{"type":"text","text":"abcd"}`), shut(0), done,
		}, []string{"prompt hi", "reply prompt", "text abcd", "stop completed end_turn"}},
		{"no snapshot, and one that comes late", []string{
			hello, begin("a"), open1(0, text0), textDelta(0, "ab"), shut(0), open1(1, text0), textDelta(1, "cd"), shut(1), messageEnd("end_turn"), assistantLine("a", `{"type":"text","text":"ab"}`), done,
		}, []string{"prompt hi", "reply prompt", "text ab", "text cd", "stop completed end_turn"}},
		{"lines about the agent's state, whose fields have other forms", []string{
			hello, out(`{"type":"system","subtype":"ui_invalidate","event":"ui.render","uuid":"u"}`), out(`{"type":"from_the_future","message":"text","event":3}`), begin("a"), open1(0, text0), textDelta(0, "ab"), shut(0), done,
		}, []string{"prompt hi", "reply prompt", "text ab", "stop completed end_turn"}},
		{"a stream without its beginning", []string{
			delta(3, `{"type":"thinking_delta","thinking":"hm"}`), textDelta(4, "ab"), delta(5, `{"type":"input_json_delta","partial_json":"{}"}`), done,
		}, []string{"reply agent", "thought hm", "text ab", "stop completed end_turn"}},
		{"a message id that is used again", []string{
			hello, begin("a"), open1(0, text0), textDelta(0, "one"), shut(0), messageEnd("end_turn"), begin("a"), open1(0, text0), textDelta(0, "one"), shut(0), messageEnd("end_turn"), done,
		}, []string{"prompt hi", "reply prompt", "text one", "text one", "stop completed end_turn"}},
		{"what nobody said", []string{
			hello, userLine(`"Continue from where you left off."`), userLine(`[{"type":"text","text":"[Image: source]"}]`), assistantLine("x", `{"type":"redacted_thinking","data":"xyz"}`),
			out(`{"type":"assistant","message":{"id":"y","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}`), done,
		}, []string{"prompt hi", "reply prompt", "stop completed end_turn"}},
		{"what a command prints", []string{
			hello, out(`{"type":"result","subtype":"success","is_error":false,"result":"Total cost: 1 $"}`),
		}, []string{"prompt hi", "reply prompt", "text Total cost: 1 $", "stop completed end_turn"}},
		{"files, and blocks that are not known", []string{
			hello, assistantLine("a", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`), assistantLine("a", `{"type":"from_the_future","content":{"x":1}}`), done,
		}, []string{"prompt hi", "reply prompt", "file image/png data:image/png;base64,AAAA", `data claude-from-the-future {"x":1}`, "stop completed end_turn"}},
	})
}

func TestRetries(t *testing.T) {
	t.Parallel()
	const first = "The answer to your question is"
	again := userLine(`[{"type":"text","text":"Your response above was cut off mid-stream."}]`)
	broken := []string{hello, begin("a"), open1(0, text0), textDelta(0, first), shut(0), cut(0), again}
	runEdges(t, []edge{
		{"goes on where it repeats", append(slices.Clip(broken),
			begin("b"), open1(0, text0), textDelta(0, "The answer"), textDelta(0, " to your question is 42"), shut(0), messageEnd("end_turn"), done,
		), []string{"prompt hi", "reply prompt", "text " + first, "text  42", "stop completed end_turn"}},
		{"is said anew where it differs", append(slices.Clip(broken),
			begin("b"), open1(0, text0), textDelta(0, "The answer to your prayers"), shut(0), messageEnd("end_turn"), done,
		), []string{"prompt hi", "reply prompt", "text " + first, "text (superseded) " + first, "text The answer to your prayers", "stop completed end_turn"}},
		{"continues as it was told", append(slices.Clip(broken),
			begin("b"), open1(0, text0), textDelta(0, " 42."), shut(0), messageEnd("end_turn"), done,
		), []string{"prompt hi", "reply prompt", "text " + first, "text  42.", "stop completed end_turn"}},
		{"falls back to an answer in one piece", append(slices.Clip(broken),
			assistantLine("b", `{"type":"text","text":"The answer to your question is 42"}`), done,
		), []string{"prompt hi", "reply prompt", "text " + first, "text  42", "stop completed end_turn"}},
		{"broke off within a call", []string{
			hello, begin("a"), open1(0, `{"type":"tool_use","id":"t1","name":"Bash","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"comm"}`), shut(0), cut(0), again,
			begin("b"), open1(0, `{"type":"tool_use","id":"t2","name":"Bash","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"command\":\"ls\"}"}`), shut(0), messageEnd("tool_use"),
			userLine(`[{"type":"tool_result","tool_use_id":"t2","content":"ok"}]`), done,
		}, []string{
			"prompt hi", "reply prompt", `call t1 Bash {}{"comm`, "result t1 canceled null Not run: the model's answer broke off before the call was complete.",
			`call t2 Bash {"command":"ls"}`, `result t2 completed "ok"`, "stop completed end_turn",
		}},
		{"an error that it got over", []string{
			hello, out(`{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"retry_delay_ms":564,"error_status":500,"error":"server_error"}`),
			out(`{"type":"assistant","message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error: oh"}]},"is_api_error_message":true}`),
			assistantLine("a", `{"type":"text","text":"ok"}`), done,
		}, []string{
			"prompt hi", "reply prompt", "error retry: The model's provider answered with server_error (HTTP 500); trying again in 0.6 s (1 of 2).",
			"text ok", "error api_error: API Error: oh", "stop completed end_turn",
		}},
	})
}

func TestConcatenatedDeltasAreTheFullText(t *testing.T) {
	t.Parallel()
	for name, recording := range recordings().All(t) {
		parts := map[string]string{}
		for _, r := range recordings().Play(t, recording).Records {
			switch p := r.Payload.(type) {
			case trace.MessageDelta:
				parts[r.Turn+p.Part] += p.Delta
			case trace.Message:
				if parts[r.Turn+p.Part] != p.Text {
					t.Errorf("%s: part %s is %q, its deltas are %q", name, p.Part, p.Text, parts[r.Turn+p.Part])
				}
			case trace.ToolCallDelta:
				parts[r.Turn+p.ToolCallID] += p.Delta
			case trace.ToolCall:
				var a, b any
				if written := parts[r.Turn+p.ToolCallID]; written != "" && json.Unmarshal([]byte(written), &a) == nil && json.Unmarshal(p.Input, &b) == nil && !cmp.Equal(a, b) {
					t.Errorf("%s: the input of %s is %s, its deltas are %s", name, p.ToolCallID, p.Input, written)
				}
			}
		}
	}
}
