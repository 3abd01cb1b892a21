package langgraph_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

func TestContent(t *testing.T) {
	t.Parallel()
	message := func(fields string) []string {
		return []string{"messages", `[{"type":"ai","id":"m",` + fields + `},{"langgraph_node":"model"}]`}
	}
	for name, c := range map[string]struct {
		stream []string
		want   []string
	}{
		"a list of strings":        {message(`"content":["one ","two"]`), []string{"one two"}},
		"reasoning between texts":  {message(`"content":[{"type":"text","text":"a"},{"type":"reasoning","reasoning":"b"},{"type":"text","text":"c"}]`), []string{"a", "(b)", "c"}},
		"reasoning with a summary": {message(`"content":[{"type":"reasoning","summary":[{"text":"b"}]},{"type":"text","text":"c"}]`), []string{"(b)", "c"}},
		"reasoning beside":         {message(`"content":"c","additional_kwargs":{"reasoning":{"summary":[{"text":"b"}]}}`), []string{"(b)", "c"}},
		"reasoning_content":        {message(`"content":"c","additional_kwargs":{"reasoning_content":"b"}`), []string{"(b)", "c"}},
		"a constructor":            {[]string{"messages", `[{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{"id":"m","content":"c"}},{}]`}, []string{"c"}},
		"fields of other types":    {[]string{"messages", `[{"type":"ai","id":"m","content":"c","name":7,"usage_metadata":"none","additional_kwargs":[]},{"tags":"x"}]`}, []string{"c"}},
		"no id":                    {[]string{"messages", `[{"type":"AIMessageChunk","content":"a "},{}]`, "messages", `[{"type":"AIMessageChunk","content":"b"},{}]`, "messages", `[{"type":"AIMessageChunk","content":"","chunk_position":"last"},{}]`, "messages", `[{"type":"AIMessageChunk","content":"c","chunk_position":"last"},{}]`}, []string{"a b", "c"}},
		"a call with no JSON": {message(`"content":"","invalid_tool_calls":[{"id":"x","name":"look","args":"{no","error":"Malformed"}]`), []string{
			`look{}`, "failed:The model wrote arguments that are no JSON.null",
		}},
		"more than was streamed":                    {[]string{"messages", delta("m", "one ", ""), "updates", `{"model":{"messages":[{"type":"ai","id":"m","content":"one two"}]}}`}, []string{"one two"}},
		"less than was streamed":                    {[]string{"messages", delta("m", "one two", ""), "updates", `{"model":{"messages":[{"type":"ai","id":"m","content":"one"}]}}`}, []string{"one two"}},
		"a message that nobody knows, in an update": {[]string{"messages", delta("m", "one", ""), "updates", `{"team":{"messages":[{"type":"ai","id":"old","content":"history"},{"type":"ai","id":"m","content":"one"}]}}`}, []string{"one"}},
		"one id for two calls": {[]string{
			"updates", `{"model":{"messages":[{"type":"ai","id":"1","content":"","tool_calls":[{"id":"same","name":"look","args":{"n":1}}]}]}}`,
			"updates", `{"tools":{"messages":[{"type":"tool","tool_call_id":"same","content":"a"}]}}`,
			"updates", `{"model":{"messages":[{"type":"ai","id":"2","content":"","tool_calls":[{"id":"same","name":"look","args":{"n":2}}]}]}}`,
			"updates", `{"tools":{"messages":[{"type":"tool","tool_call_id":"same","content":"b"}]}}`,
		}, []string{`look{"n":1}`, `completed:"a"`, `look{"n":2}`, `completed:"b"`}},
		"a cached update":           {[]string{"updates", `{"__metadata__":{"cached":true},"model":{"messages":[{"type":"ai","content":"again"}]}}`, "updates", `{"model":{"messages":[{"type":"ai","content":"new"}]}}`}, []string{"new"}},
		"an error that is a string": {[]string{"messages", delta("m", "so far", ""), "error", `"Run not found"`}, []string{"so far"}},
	} {
		var records []trace.Record
		for _, e := range frames(t, langgraph.Options{}, c.stream...) {
			records = append(records, trace.Record{Event: e})
		}
		if got := outline(records); !slices.Equal(got[:len(got)-1], c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestFilesAndSources(t *testing.T) {
	t.Parallel()
	events := frames(t, langgraph.Options{}, "messages", `[{"type":"ai","id":"m","content":[
		{"type":"text","text":"a","annotations":[{"type":"citation","url":"https://a.test","title":"A"}],"citations":[{"url":"https://b.test"},{"url":"https://a.test"},{}]},
		{"type":"image","mimeType":"image/png","data":"QUJD"},{"type":"image_url","image_url":{"url":"https://c.test/x.gif"}},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"QQ=="}},
		{"type":"file","source_type":"base64","mime_type":"text/plain","data":"QQ==","filename":"a.txt"},{"type":"image_url","image_url":"data:image/webp;base64,QQ=="},{"type":"image"}]},{}]`)
	var got []string
	for _, f := range agenttest.Each[trace.File](events) {
		got = append(got, f.MediaType+" "+f.URL+f.Filename)
	}
	for _, s := range agenttest.Each[trace.Source](events) {
		got = append(got, s.URL+" "+s.Title)
	}
	want := []string{
		"image/png data:image/png;base64,QUJD", "image/png https://c.test/x.gif", "image/gif data:image/gif;base64,QQ==", "text/plain data:text/plain;base64,QQ==a.txt", "image/webp data:image/webp;base64,QQ==",
		"https://a.test A", "https://b.test ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestRequestsOfTheAgentInbox(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for answer, c := range map[string]struct {
		kind  trace.OptionKind
		input string
	}{
		`[{"args":null,"type":"accept"}]`:                              {trace.AllowOnce, ""},
		`[{"args":{"action":"send","args":{"to":"b"}},"type":"edit"}]`: {trace.AllowOnce, `{"to":"b"}`},
		`[{"args":"not now","type":"response"}]`:                       {trace.RejectOnce, ""},
	} {
		s := newStage(t, f.URL, "agent")
		s.host.OnPermit = approve(c.kind, c.input)
		if got := s.says("inbox"); !slices.Contains(got, "You chose "+answer) || !slices.Contains(got, "approve i:0?") {
			t.Errorf("%q and not %s", got, answer)
		}
	}
}

// LangChain's middleware fails the run at a decision that it does not allow.
func TestAnEditThatTheGraphDoesNotAllowIsARefusalWithTheInput(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for answer, input := range map[string]string{
		`{"decisions":[{"type":"approve"}]}`: "",
		`{"decisions":[{"message":"The user wants another input: {\"to\":\"b\"}","type":"reject"}]}`: `{"to":"b"}`,
	} {
		s := newStage(t, f.URL, "agent")
		s.host.OnPermit = approve(trace.AllowOnce, input)
		if got := s.says("review"); !slices.Contains(got, "You chose "+answer) {
			t.Errorf("%q and not %s", got, answer)
		}
	}
}

// TestAReviewOfLangChainInJavaScript: LangChain.js has field names of its own, also in its answer.
func TestAReviewOfLangChainInJavaScript(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for answer, input := range map[string]string{
		`{"decisions":[{"editedAction":{"args":{"to":"b"},"name":"send"},"type":"edit"}]}`:    `{"to":"b"}`,
		`{"decisions":[{"message":"The call may not run with this input.","type":"reject"}]}`: "",
	} {
		s := newStage(t, f.URL, "agent")
		s.host.OnPermit = approve(trace.AllowOnce, input)
		if got := s.says("js-review"); !slices.Contains(got, "You chose "+answer) {
			t.Errorf("%q and not %s", got, answer)
		}
	}
}

// FuzzDecoder: whatever a graph publishes, each turn obeys the grammar and ends once.
func FuzzDecoder(f *testing.F) {
	for _, name := range append(names(f, "*.sse"), names(f, "*.jsonl")...) {
		data := recorded(f, name)
		f.Add(data[:min(len(data), 6000)])
	}
	f.Add([]byte("event: updates\ndata: {\"__interrupt__\":[{\"value\":[{\"action_request\":{\"action\":\"a\"}}]},{},{\"id\":\"\"}]}\n\nevent: updates\ndata: {\"__interrupt__\":[]}\n\n"))
	f.Fuzz(func(t *testing.T, recording []byte) {
		if err := replaytest.AnyInput(t, langgraph.NewDecoder(langgraph.Options{}), recording); err != nil {
			t.Error(err)
		}
	})
}

// TestM12_DamagedRecordings loses, doubles and swaps frames of the recordings.
func TestM12_DamagedRecordings(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("each recording is played many times")
	}
	for _, name := range append(names(t, "*.sse"), names(t, "*.jsonl")...) {
		separator := "\n"
		if strings.HasSuffix(name, ".sse") {
			separator = "\n\n"
		}
		parts := bytes.SplitAfter(recorded(t, name), []byte(separator))
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // damage that can be repeated
			var damaged []byte
			for i := range parts {
				switch r.IntN(12) {
				case 0: // lost
				case 1:
					damaged = append(append(damaged, parts[i]...), parts[i]...)
				case 2:
					damaged = append(damaged, parts[r.IntN(len(parts))]...)
				default:
					damaged = append(damaged, parts[i]...)
				}
			}
			if err := replaytest.AnyInput(t, langgraph.NewDecoder(langgraph.Options{}), damaged); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
}

// turns has one turn.
type turns struct{ *trace.Builder }

func (t turns) Prompted(trace.Prompt) *trace.Builder { return t.Builder }
func (t turns) Begin(agent.TurnInfo) *trace.Builder  { return t.Builder }
func (t turns) Current() *trace.Builder              { return t.Builder }
func (turns) Note(trace.Payload)                     {}

// The gateway that goes on with a turn asks, and not the one that has given the turn up.
func TestAGatewayThatHasGivenATurnUpAnswersNothing(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`"Which?"`, `{"action_requests":[{"name":"send","args":{}}]}`} {
		r, d := agenttest.NewHost().Turn(promptOf("go")), langgraph.NewDecoder(langgraph.Options{})
		decode := func(mode, data string) []agent.Effect {
			effects, err := d.Decode(agent.Message{Dir: agent.Out, Channel: mode, Data: json.RawMessage(data)}, turns{r.Builder})
			if err != nil {
				t.Error(err)
			}
			return effects
		}
		decode("metadata", `{"run_id":"r"}`)
		if err := r.Detach(); err != nil {
			t.Fatal(err)
		}
		if effects := decode("updates", `{"__interrupt__":[{"id":"i","value":`+value+`}]}`); len(effects) > 0 {
			t.Errorf("%s: %+v", value, effects)
		}
	}
}
