package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// scripted is an endpoint that plays one answer after another. The last answer repeats.
type scripted struct {
	*fake
	answers []string
}

// play is an endpoint with the answers of a script. An answer that begins with a status and a
// space is an error; one that begins with { or [ is JSON; any other is a stream.
func playScript(t *testing.T, script ...string) *scripted {
	t.Helper()
	s := &scripted{answers: script}
	s.fake = serve(t, func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		var body map[string]any
		_ = json.Unmarshal(raw, &body)
		s.mu.Lock()
		s.bodies = append(s.bodies, body)
		answer := s.answers[min(len(s.bodies), len(s.answers))-1]
		s.mu.Unlock()
		var status int
		if n, _ := fmt.Sscanf(answer, "%d ", &status); n == 1 {
			answers(status, "application/json", answer[4:])(w, r)
			return
		}
		kind := "text/event-stream"
		if strings.HasPrefix(answer, "{") || strings.HasPrefix(answer, "[") {
			kind = "application/json"
		}
		answers(200, kind, answer)(w, r)
	})
	return s
}

// events are a stream of data.
func events(all ...string) string {
	text := ""
	for _, e := range all {
		text += "data: " + e + "\n\n"
	}
	return text
}

func finish(word string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + word + `"}]}`
}

const done = "[DONE]"

func item(kind, item string) string {
	return `{"type":"response.output_item.` + kind + `","output_index":0,"item":` + item + `}`
}

func completed(output ...string) string {
	return `{"type":"response.completed","response":{"status":"completed","output":[` + strings.Join(output, ",") + `]}}`
}

const (
	hello   = `{"type":"message","id":"m1","content":[{"type":"output_text","text":"Hello there."}]}`
	echoOne = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"bash","arguments":"{\"command\":\"echo ONE\"}"}`
	begun   = `{"type":"function_call","id":"fc_1","call_id":"call_1","name":"bash","arguments":""}`
)

// outcome is a turn in one line: what was thought and said, the calls with their results, and a failure.
func outcome(all []trace.Event, stop trace.Stop) string {
	var line []string
	for _, x := range agenttest.Each[trace.Thought](all) {
		line = append(line, "thought "+x.Text)
	}
	results := map[string]string{}
	for _, r := range agenttest.Each[trace.ToolResult](all) {
		results[r.ToolCallID] = string(r.Output) + r.Error
	}
	for _, c := range agenttest.Each[trace.ToolCall](all) {
		line = append(line, fmt.Sprintf("call %s %s = %s", c.RawName, c.Input, results[c.ToolCallID]))
	}
	for _, m := range agenttest.Each[trace.Message](all) {
		line = append(line, m.Text)
	}
	for _, s := range agenttest.Each[trace.Source](all) {
		line = append(line, "source "+s.URL+s.Filename+" "+s.Title)
	}
	for _, f := range agenttest.Each[trace.File](all) {
		line = append(line, "file "+f.MediaType+" "+f.URL)
	}
	for _, n := range notices(all) {
		line = append(line, "notice "+n)
	}
	if stop.Outcome == trace.OutcomeFailed {
		line = append(line, "failed: "+stop.Error)
	}
	return strings.Join(line, " | ")
}

// check plays a turn for each answer, and compares it. A turn with calls has a second answer.
func check(t *testing.T, o openai.Options, answer, want string) {
	t.Helper()
	second := events(delta(`{"content":"Done."}`), finish("stop"), done)
	if o.API == "responses" {
		second = events(completed(strings.Replace(hello, "Hello there.", "Done.", 1)))
	}
	o.Retries = none()
	if got := outcome(open(t, playScript(t, answer, second).runtime(o)).prompt("go")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

const (
	brokeOff = `failed: The endpoint broke the answer off (the answer ended with %q): ask again.`
	cutOff   = "notice The answer reached the model's limit and is cut off: ask the agent to go on, or raise the limit."
	heldBack = "failed: The model's server held the answer back because of its content: ask in other words."
	one      = `call bash {"command":"echo ONE"} = "ONE\n"`
	two      = `call bash {"command":"echo TWO"} = "TWO\n"`
)

func TestWordsForTheEndOfAnAnswer(t *testing.T) {
	t.Parallel()
	for want, words := range map[string]string{
		"":       "stop eos_token end_turn COMPLETE tool_calls",
		cutOff:   "length model_length max_tokens MAX_TOKENS",
		heldBack: "content_filter sensitive SAFETY RECITATION",
		brokeOff: "error ERROR insufficient_system_resource network_error abort aborted MALFORMED_FUNCTION_CALL",
	} {
		for word := range strings.FieldsSeq(words) {
			t.Run(word, func(t *testing.T) {
				t.Parallel()
				full := "Half an ans"
				if want != "" {
					full += " | " + want
				}
				if want == brokeOff {
					full = fmt.Sprintf(full, word)
				}
				check(t, openai.Options{}, events(delta(`{"content":"Half an ans"}`), finish(word), done), full)
			})
		}
	}
}

func TestAnswersOfServersThatDiffer(t *testing.T) {
	t.Parallel()
	call := func(fields, name, input string) string {
		arguments, _ := json.Marshal(input)
		return `{` + fields + `"function":{"name":"` + name + `","arguments":` + string(arguments) + `}}`
	}
	calls := func(all ...string) string { return delta(`{"tool_calls":[` + strings.Join(all, ",") + `]}`) }
	first, second := `{"command":"echo ONE"}`, `{"command":"echo TWO"}`
	for name, c := range map[string][2]string{
		"one object": {`{"choices":[{"message":{"content":"Hello there."},"finish_reason":"stop"}]}`, "Hello there."},
		"one object, no reason, with a call": {
			`{"choices":[{"message":{"content":null,"tool_calls":[` + call(`"id":"a",`, "bash", first) + `]}}]}`, one + " | Done.",
		},
		"one object in a stream":         {events(`{"choices":[{"message":{"role":"assistant","reasoning":"Hm.","content":"Hello there."},"finish_reason":"stop"}]}`), "thought Hm. | Hello there."},
		"pieces, one a line":             {delta(`{"content":"Hello "}`) + "\n" + delta(`{"content":"there."}`) + "\n" + finish("stop"), "Hello there."},
		"a message behind its pieces":    {events(delta(`{"content":"Hello "}`), `{"choices":[{"message":{"content":"Hello there."},"finish_reason":"stop"}]}`), "Hello there."},
		"no reason":                      {events(delta(`{"content":"All is well."}`), done), "All is well."},
		"no reason, a call":              {events(calls(call(`"index":0,"id":"a",`, "bash", first)), done), one + " | Done."},
		"no end at all":                  {events(delta(`{"content":"All"}`)), "All | failed: The answer of URL stopped without a sign of its end: ask again."},
		"CR alone":                       {strings.ReplaceAll(events(delta(`{"content":"Hello there."}`), finish("stop")), "\n", "\r"), "Hello there."},
		"a byte order mark":              {"\ufeff" + events(delta(`{"content":"Hello there."}`), finish("stop")), "Hello there."},
		"an object behind a mark":        {"\ufeff" + `{"choices":[{"message":{"content":"Hello there."},"finish_reason":"stop"}]}`, "Hello there."},
		"null, numbers and lists":        {events("null", delta(`{"content":null,"tool_calls":null}`), delta(`{"content":[{"type":"text","text":"Hello there."}]}`), `{"choices":[{"index":"0","delta":{"content":[]},"finish_reason":"stop"}],"usage":{"prompt_tokens":"3"}}`), "Hello there."},
		"an error in a choice":           {events(delta(`{"content":"Half"}`), `{"choices":[{"delta":{},"finish_reason":"error","error":{"message":"The provider went away."}}]}`), "Half | failed: The endpoint broke the answer off (The provider went away): ask again."},
		"no index, ids in turns":         {events(calls(call(`"id":"a",`, "bash", `{"command":`), call(`"id":"b",`, "bash", `{"command":`)), calls(`{"id":"a","function":{"arguments":"\"echo ONE\"}"}}`, `{"id":"b","function":{"arguments":"\"echo TWO\"}"}}`), finish("tool_calls")), one + " | " + two + " | Done."},
		"no index, ids, the second only": {events(calls(call(`"id":"a",`, "bash", `{"command":`), call(`"id":"b",`, "bash", `{"command":`)), calls(`{"id":"b","function":{"arguments":"\"echo TWO\"}"}}`), calls(`{"id":"a","function":{"arguments":"\"echo ONE\"}"}}`), finish("tool_calls")), one + " | " + two + " | Done."},
		"no index, no ids, by place":     {events(calls(call(``, "bash", `{"command":`), call(``, "bash", `{"command":`)), calls(`{"function":{"arguments":"\"echo ONE\"}"}}`, `{"function":{"arguments":"\"echo TWO\"}"}}`), finish("tool_calls")), one + " | " + two + " | Done."},
		"no index, the id once":          {events(calls(call(`"id":"a",`, "bash", `{"command":`)), calls(`{"function":{"arguments":"\"echo ONE\"}"}}`), calls(call(`"id":"b",`, "bash", `{"command":`)), calls(`{"function":{"arguments":"\"echo TWO\"}"}}`), finish("tool_calls")), one + " | " + two + " | Done."},
		"the index as a text":            {events(calls(call(`"index":"0","id":"a",`, "bash", first)), calls(call(`"index":"1","id":"b",`, "bash", second)), finish("tool_calls")), one + " | " + two + " | Done."},
		"one id for all calls":           {events(calls(call(`"id":"a",`, "bash", first), call(`"id":"a",`, "bash", second)), finish("stop")), one + " | " + two + " | Done."},
		"a call that is repeated whole":  {events(calls(call(`"index":0,"id":"a",`, "bash", first)), calls(call(`"index":0,"id":"a",`, "bash", first)), finish("tool_calls")), one + " | Done."},
		"the id comes late":              {events(calls(`{"function":{"name":"bash"}}`), calls(`{"id":"a","function":{"arguments":"{\"command\":\"echo ONE\"}"}}`), finish("tool_calls")), one + " | Done."},
		"sources":                        {events(delta(`{"content":"It rains.","annotations":[{"type":"url_citation","url_citation":{"url":"https://example.org/w","title":"Weather"}}]}`), `{"choices":[{"delta":{},"finish_reason":"stop"}],"citations":["https://example.org/w","https://example.org/x","javascript:alert(1)"],"search_results":[{"url":"https://example.org/y","title":"More"}]}`), "It rains. | source https://example.org/w Weather | source https://example.org/y More | source https://example.org/x "},
		"sources of a whole message":     {`{"choices":[{"message":{"content":"It rains.","annotations":[{"type":"url_citation","url":"https://example.org/w","title":"Weather"}]},"finish_reason":"stop"}]}`, "It rains. | source https://example.org/w Weather"},
		"pictures":                       {events(delta(`{"content":"Here.","images":[{"type":"image_url","image_url":{"url":"data:image/webp;base64,aGk="}},{"b64_json":"aGk="},{"image_url":"https://example.org/a.png"},{"image_url":{"url":"file:///etc/passwd"}}]}`), finish("stop")), "Here. | file image/webp data:image/webp;base64,aGk= | file image/png data:image/png;base64,aGk= | file image/png https://example.org/a.png"},
		"a picture in the content":       {events(delta(`{"content":[{"type":"text","text":"Here."},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]}`), finish("stop")), "Here. | file image/png data:image/png;base64,aGk="},
		"tags are text":                  {events(delta(`{"content":"<think>Hm.</think>Hello."}`), finish("stop")), "<think>Hm.</think>Hello."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := playScript(t, c[0], events(delta(`{"content":"Done."}`), finish("stop"), done))
			all, stop := open(t, s.runtime(openai.Options{Retries: none()})).prompt("go")
			if d := cmp.Diff(strings.ReplaceAll(c[1], "URL", s.URL+"/v1"), outcome(all, stop)); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestResponsesOfServersThatDiffer(t *testing.T) {
	t.Parallel()
	secondCall := strings.NewReplacer("fc_1", "fc_2", "call_1", "call_2", "ONE", "TWO").Replace(echoOne)
	for name, c := range map[string][2]string{
		"text in the snapshot only":       {events(`{"type":"response.created","response":{"status":"in_progress","output":[]}}`, completed(hello)), "Hello there."},
		"text in text.done only":          {events(`{"type":"response.output_text.done","item_id":"m1","output_index":0,"content_index":0,"text":"Hello there."}`, completed(hello)), "Hello there."},
		"text in part.done only":          {events(`{"type":"response.content_part.done","item_id":"m1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hello there."}}`, completed()), "Hello there."},
		"text in item.done only":          {events(item("done", hello), completed(hello)), "Hello there."},
		"all of them":                     {events(`{"type":"response.output_text.delta","delta":"Hello "}`, `{"type":"response.output_text.delta","delta":"there."}`, `{"type":"response.output_text.done","content_index":0,"text":"Hello there."}`, item("done", hello), completed(hello)), "Hello there."},
		"ids that change":                 {events(`{"type":"response.output_text.delta","item_id":"x","output_index":0,"delta":"Hello "}`, `{"type":"response.output_text.delta","item_id":"y","output_index":0,"delta":"there."}`, item("done", hello), completed(hello)), "Hello there."},
		"one object":                      {`{"object":"response","status":"completed","error":null,"output":[` + hello + `]}`, "Hello there."},
		"one object that failed":          {`{"object":"response","status":"failed","error":{"code":"server_error","message":"It fell over."},"output":[]}`, "failed: The endpoint reported an error (It fell over): ask again."},
		"a call in the snapshot only":     {events(completed(echoOne, secondCall)), one + " | " + two + " | Done."},
		"a call in item.done only":        {events(item("done", echoOne), completed(echoOne)), one + " | Done."},
		"arguments in arguments.done":     {events(item("added", begun), `{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":0,"arguments":"{\"command\":\"echo ONE\"}"}`, completed()), one + " | Done."},
		"arguments in the snapshot only":  {events(item("added", begun), completed(echoOne)), one + " | Done."},
		"a call without an end":           {events(item("added", begun), `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"command\":\"echo ONE\"}"}`, completed()), one + " | Done."},
		"no end but DONE":                 {events(`{"type":"response.output_text.delta","delta":"Hello there."}`, item("done", hello), done), "Hello there."},
		"empty ids, indexes tell":         {events(item("added", `{"type":"function_call","id":"","call_id":"call_0","name":"bash"}`), strings.Replace(item("added", `{"type":"function_call","id":"","call_id":"call_1","name":"bash"}`), `"output_index":0`, `"output_index":1`, 1), `{"type":"response.function_call_arguments.delta","item_id":"","output_index":0,"delta":"{\"command\":"}`, `{"type":"response.function_call_arguments.delta","item_id":"","output_index":1,"delta":"{\"command\":\"echo TWO\"}"}`, `{"type":"response.function_call_arguments.delta","item_id":"","output_index":0,"delta":"\"echo ONE\"}"}`, completed()), one + " | " + two + " | Done."},
		"broken deltas, a whole snapshot": {events(item("added", begun), `{"type":"response.function_call_arguments.delta","item_id":"fc_1","delta":"{\"comm{\"comm"}`, completed(echoOne)), one + " | Done."},
		"reasoning in a snapshot":         {events(completed(`{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"Hm."},{"type":"summary_text","text":"Well."}]}`, hello)), "thought Hm.\n\nWell. | Hello there."},
		"reasoning as text":               {events(`{"type":"response.reasoning_text.delta","item_id":"rs","delta":"Hm."}`, item("done", `{"type":"reasoning","id":"rs","content":[{"type":"reasoning_text","text":"Hm."}]}`), completed(hello)), "thought Hm. | Hello there."},
		"cut off":                         {events(`{"type":"response.output_text.delta","delta":"Half"}`, `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`), "Half | " + cutOff},
		"canceled":                        {events(`{"type":"response.output_text.delta","delta":"Half"}`, `{"type":"response.done","response":{"status":"cancelled"}}`), "Half | " + fmt.Sprintf(brokeOff, "cancelled")},
		"failed":                          {events(`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"It fell over."}}}`), "failed: The endpoint reported an error (It fell over): ask again."},
		"an error":                        {events(`{"type":"error","code":"x","message":"It fell over."}`), "failed: The endpoint reported an error (It fell over): ask again."},
		"refused":                         {events(completed(`{"type":"message","content":[{"type":"refusal","refusal":"I must not."}]}`)), "I must not."},
		"sources":                         {events(`{"type":"response.output_text.delta","delta":"It rains."}`, `{"type":"response.output_text.annotation.added","annotation":{"type":"url_citation","url":"https://example.org/w","title":"Weather"}}`, completed(`{"type":"message","content":[{"type":"output_text","text":"It rains.","annotations":[{"type":"url_citation","url":"https://example.org/w"},{"type":"file_citation","file_id":"f1","filename":"a.pdf"}]}]}`)), "It rains. | source https://example.org/w Weather | source a.pdf "},
		"a picture":                       {events(item("done", `{"type":"image_generation_call","id":"ig","result":"aGk=","output_format":"webp"}`), completed(`{"type":"image_generation_call","id":"ig","result":"aGk=","output_format":"webp"}`)), "file image/webp data:image/webp;base64,aGk="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, openai.Options{API: "responses"}, c[0], c[1])
		})
	}
}

func TestThinkTagsAreReasoningByASetting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"<think>I reason.</think>Hello.":             "thought I reason. | Hello.",
		"\n<think>\nI reason.</think>\n\nHello.":     "thought I reason. | Hello.",
		"<think></think>Hello.":                      "Hello.",
		"<think>a < b</thin</think>Hello.":           "thought a < b</thin | Hello.",
		"Hello <think>there</think>.":                "Hello <think>there</think>.",
		"<b>Hello.":                                  "<b>Hello.",
		"<think>Never closed":                        "thought Never closed",
		"<think>One.</think><think>Two.</think>Bye.": "thought One.Two. | Bye.",
		"<thi": "<thi",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			for _, size := range []int{1, 3, 100} {
				var all []string
				for rest := text; rest != ""; {
					n := min(size, len(rest))
					piece, _ := json.Marshal(rest[:n])
					all, rest = append(all, delta(`{"content":`+string(piece)+`}`)), rest[n:]
				}
				check(t, openai.Options{ThinkTags: true}, events(append(all, finish("stop"), done)...), want)
			}
		})
	}
	check(t, openai.Options{ThinkTags: true, API: "responses"}, events(completed(strings.Replace(hello, "Hello", "<think>Hm.</think>Hello", 1))), "thought Hm. | Hello there.")
}
