package langgraph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// frames plays frames of a stream of a server: mode, data, mode, data, …
func frames(t *testing.T, o langgraph.Options, all ...string) []trace.Event {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(all); i += 2 {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", all[i], strings.ReplaceAll(all[i+1], "\n", ""))
	}
	p := replaytest.Play(t, langgraph.NewDecoder(o), []byte(b.String()))
	if p.Skipped > 0 || len(p.Turns) != 1 {
		t.Fatalf("%d turns, %d messages were not understood: %v", len(p.Turns), p.Skipped, p.First)
	}
	return replaytest.Events(p.Turns[0])
}

// delta is a piece of a message; more are fields of its metadata.
func delta(id, text, more string) string {
	return fmt.Sprintf(`[{"type":"AIMessageChunk","id":%q,"content":%q,"tool_call_chunks":[]},{%s}]`, id, text, more)
}

func last(id, more string) string {
	return fmt.Sprintf(`[{"type":"AIMessageChunk","id":%q,"content":"","tool_call_chunks":[],"response_metadata":{"finish_reason":"stop"},"usage_metadata":{"input_tokens":3,"output_tokens":2}},{%s}]`, id, more)
}

func TestTwoSpeakersAtOnceAreTwoPartsInOneStep(t *testing.T) {
	t.Parallel()
	events := frames(
		t, langgraph.Options{}, "metadata", `{"run_id":"r"}`,
		"messages", delta("a", "I talk ", `"participant":"alice"`), "messages", delta("b", "And I ", `"participant":"bob"`), "messages", delta("a", "while.", ""),
		"messages", last("a", ""), "messages", delta("b", "do not wait.", ""), "messages", last("b", ""),
	)
	if got := speeches(events); !slices.Equal(got, []string{"alice: I talk while.", "bob: And I do not wait."}) {
		t.Errorf("%q", got)
	}
	var steps int
	for _, s := range agenttest.Each[trace.Step](events) {
		if s.Phase == trace.PhaseStart {
			steps++
		}
	}
	var done []string
	for _, d := range agenttest.Each[trace.Data](events) {
		if strings.Contains(string(d.Value), `"done"`) {
			done = append(done, string(d.Value))
		}
	}
	if want := []string{
		`{"participant":"alice","messageId":"a","state":"done","usage":{"inputTokens":3,"outputTokens":2}}`,
		`{"participant":"bob","messageId":"b","state":"done","usage":{"inputTokens":3,"outputTokens":2}}`,
	}; steps != 1 || !slices.Equal(done, want) {
		t.Errorf("%d steps, %q", steps, done)
	}
	if usage := agenttest.Each[trace.Usage](events); usage[len(usage)-1].InputTokens != 6 || usage[len(usage)-1].Scope != trace.UsageTurn {
		t.Errorf("%+v", usage)
	}
}

func TestAPartBelongsToTheSpeakerWhoWasAnnouncedLast(t *testing.T) {
	t.Parallel()
	thinks := func(id, text string) string {
		return fmt.Sprintf(`[{"type":"AIMessageChunk","id":%q,"content":[{"type":"reasoning","reasoning":%q}],"tool_call_chunks":[]},{}]`, id, text)
	}
	events := frames(
		t, langgraph.Options{}, "messages", delta("a", "I ", `"participant":"alice"`), "messages", delta("b", "No. ", `"participant":"bob"`), "messages", thinks("a", "hm"),
		"messages", delta("c", "Who? ", ""), "messages", thinks("b", "oh"), "messages", delta("a", "do.", ""), "messages", last("a", ""), "messages", last("b", ""), "messages", last("c", ""),
	)
	var got []string
	who := map[string]string{}
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.Data:
			if strings.Contains(string(p.Value), `"speaking"`) {
				_, rest, _ := strings.Cut(string(p.Value), `"participant":"`)
				who["now"], _, _ = strings.Cut(rest, `"`)
			}
		case trace.MessageStart:
			who[p.Part] = who["now"]
		case trace.ThoughtStart:
			who[p.Part] = who["now"]
		case trace.Message:
			got = append(got, who[p.Part]+": "+p.Text)
		case trace.Thought:
			got = append(got, who[p.Part]+": ("+p.Text+")")
		}
	}
	slices.Sort(got)
	if want := []string{": Who? ", "alice: (hm)", "alice: I ", "alice: do.", "bob: (oh)", "bob: No. "}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestASpeakerHasATurnOfSpeech(t *testing.T) {
	t.Parallel()
	events := frames(
		t, langgraph.Options{}, "metadata", `{"run_id":"r"}`,
		"messages", delta("a", "Hi.", `"participant":"alice","langgraph_node":"x"`), "messages", last("a", ""), "messages", delta("b", "Ho.", `"participant":"bob","langgraph_node":"y"`), "messages", last("b", ""),
	)
	var order []string
	for _, e := range events {
		switch p := e.Payload.(type) {
		case trace.Step:
			order = append(order, string(p.Phase)+" "+p.NativeID)
		case trace.MessageStart:
			order = append(order, "text")
		case trace.Data:
			order = append(order, p.ID)
		}
	}
	if want := []string{"start run:r", "a", "text", "a", "end ", "start b", "b", "text", "b", "end "}; !slices.Equal(order, want) {
		t.Errorf("%q", order)
	}
}

func TestTheNameOfASpeaker(t *testing.T) {
	t.Parallel()
	all := `"participant":"meta","lc_agent_name":"agent","tags":["participant:tag"],"langgraph_node":"node"`
	event := func(fields string) string {
		return `{"event":"on_chat_model_stream","run_id":"1","data":{"chunk":{"type":"AIMessageChunk","content":"x","name":"name"}},"metadata":{` + all + `}` + fields + `}`
	}
	options := langgraph.Options{Participants: map[string]string{"node": "mapped"}}
	for want, c := range map[string][2]string{
		"top":    {"events", event(`,"participant":"top"`)},
		"meta":   {"events", event("")},
		"agent":  {"messages", `[{"type":"AIMessageChunk","id":"m","name":"name","content":"x"},{"lc_agent_name":"agent","tags":["participant:tag"]}]`},
		"name":   {"messages", `[{"type":"AIMessageChunk","id":"m","name":"name","content":"x"},{"tags":["participant:tag"]}]`},
		"tag":    {"messages", `[{"type":"AIMessageChunk","id":"m","content":"x"},{"tags":["participant:tag"],"langgraph_node":"node"}]`},
		"mapped": {"messages", `[{"type":"AIMessageChunk","id":"m","content":"x"},{"langgraph_node":"node"}]`},
		"":       {"messages", `[{"type":"AIMessageChunk","id":"m","content":"x"},{"langgraph_node":"another"}]`},
	} {
		if got := speeches(frames(t, options, c[0], c[1])); !slices.Equal(got, []string{want + ": x"}) {
			t.Errorf("%q instead of %q", got, want)
		}
	}
}

func TestPlacesAreHidden(t *testing.T) {
	t.Parallel()
	const team = "langgraph_checkpoint_ns\":\"team:1|inner:2|"
	stream := []string{
		"messages", delta("1", "plan", `"langgraph_node":"planner"`), "messages", last("1", ""),
		"messages", delta("2", "class", `"langgraph_node":"classifier","tags":["internal"]`), "messages", last("2", ""),
		"messages", delta("3", "deep", `"langgraph_node":"checker","`+team+`checker:3"`), "messages", last("3", ""),
		"messages", `[{"type":"AIMessageChunk","id":"4","content":"","tool_call_chunks":[{"index":0,"id":"c","name":"look","args":"{}"}]},{"langgraph_node":"checker","` + team + `checker:3"}]`,
		"messages", `[{"type":"tool","tool_call_id":"c","name":"look","content":"seen"},{"langgraph_node":"tools","` + team + `tools:4"}]`,
	}
	deep := []string{"plan", "class", "deep", "look{}", `completed:"seen"`}
	for _, c := range []struct {
		o    langgraph.Options
		want []string
	}{
		{langgraph.Options{}, deep},
		{langgraph.Options{Hide: []string{"classifier"}}, []string{"plan", "deep", "look{}", `completed:"seen"`}},
		{langgraph.Options{Hide: []string{"tag:internal"}}, []string{"plan", "deep", "look{}", `completed:"seen"`}},
		{langgraph.Options{Hide: []string{"namespace:team"}}, []string{"plan", "class"}},
		{langgraph.Options{Hide: []string{"namespace:team/inner"}}, []string{"plan", "class"}},
		{langgraph.Options{Hide: []string{"namespace:tea"}}, deep},
		{langgraph.Options{Show: []string{"planner"}}, []string{"plan"}},
		{langgraph.Options{Show: []string{"namespace:team", "classifier"}}, []string{"class", "deep", "look{}", `completed:"seen"`}},
		{langgraph.Options{Subgraphs: "hide"}, []string{"plan", "class"}},
		{langgraph.Options{Subgraphs: "data"}, []string{"plan", "class"}},
	} {
		var records []trace.Record
		events := frames(t, c.o, stream...)
		for _, e := range events {
			records = append(records, trace.Record{Event: e})
		}
		if got := outline(records); !slices.Equal(got[:len(got)-1], c.want) {
			t.Errorf("%+v: %q", c.o, got)
		}
		if data := agenttest.Each[trace.Data](events); (len(data) > 0) != (c.o.Subgraphs == "data") {
			t.Errorf("%+v: %v", c.o, data)
		}
	}
}

func TestEveryFrameOfConversaitionComesSeveralTimes(t *testing.T) {
	t.Parallel()
	frame := func(kind, data string) string {
		return fmt.Sprintf("data: {\"type\":%q,\"data\":{%s}}\n\n", kind, data)
	}
	for n := 1; n < 4; n++ {
		var b strings.Builder
		for _, f := range []string{
			frame("conversation-start", `"participants":["A","B"]`), frame("text-start", `"participant":"A"`),
			frame("text-delta", `"participant":"A","textDelta":"ha "`), frame("text-delta", `"participant":"A","textDelta":"ha "`), frame("text-delta", `"participant":"A","textDelta":"ho"`),
			frame("text-done", `"participant":"A","content":"ha ha ho"`), frame("new-kind", `"x":1`), frame("error", `"participant":"B","error":"no key"`), frame("conversation-end", `"message":"over"`),
		} {
			b.WriteString(strings.Repeat(f, n))
		}
		p := replaytest.Play(t, langgraph.NewDecoder(langgraph.Options{}), []byte(b.String()))
		if got := outline(p.Records); !slices.Equal(got, []string{"ha ha ho", "completed stop"}) {
			t.Errorf("%d times: %q", n, got)
		}
		events := replaytest.Events(p.Records)
		unknown := slices.DeleteFunc(agenttest.Each[trace.Data](events), func(d trace.Data) bool { return d.Name != "conversation-event" })
		if len(unknown) != 1 || string(unknown[0].Value) != `{"data":{"x":1},"eventType":"new-kind"}` || len(agenttest.Each[trace.Error](events)) != 1 {
			t.Errorf("%d times: %+v", n, unknown)
		}
	}
}

// TestASpeakerWithoutMoreTextIsDone: the usage comes behind the last word, and the name with the whole message.
func TestASpeakerWithoutMoreTextIsDone(t *testing.T) {
	t.Parallel()
	stop := `[{"type":"AIMessageChunk","id":"a","content":"","tool_call_chunks":[],"response_metadata":{"finish_reason":"stop"}},{%s}]`
	usage := `[{"type":"AIMessageChunk","id":"a","content":"","tool_call_chunks":[],"usage_metadata":{"input_tokens":3,"output_tokens":2}},{%s}]`
	for name, of := range map[string]string{"named by the chunks": `"participant":"alice"`, "named by the message": ""} {
		events := frames(
			t, langgraph.Options{}, "metadata", `{"run_id":"r"}`, "messages", delta("a", "Hello.", of), "messages", fmt.Sprintf(stop, of), "messages", fmt.Sprintf(usage, of),
			"updates", `{"agent":{"messages":[{"type":"ai","id":"a","name":"alice","content":"Hello."}]}}`,
		)
		var newest trace.Data
		for _, d := range agenttest.Each[trace.Data](events) {
			if d.Name == "participant" {
				newest = d
			}
		}
		if got := string(newest.Value); !strings.Contains(got, `"participant":"alice"`) || !strings.Contains(got, `"state":"done","usage":{"inputTokens":3,"outputTokens":2}`) {
			t.Errorf("%s: the newest announcement is %s", name, got)
		}
	}
}

func TestM03_M04_AnEventThatLangChainDoesNotHaveIsPassedOn(t *testing.T) {
	t.Parallel()
	var got []string
	for _, d := range agenttest.Each[trace.Data](frames(t, langgraph.Options{},
		"events", `{"event":"on_chain_start","name":"LangGraph","run_id":"g","data":{}}`, "events", `{"event":"billing","data":{"cents":2}}`, "events", `{"event":"on_tool_review","participant":"alice","data":[1]}`,
		"events", `{"data":{"x":3}}`, "events", `{"event":"on_retriever_end","run_id":"r","data":{}}`, "events", `{"event":"on_chain_end","name":"LangGraph","run_id":"g","data":{}}`)) {
		got = append(got, d.Name+" "+string(d.Value))
	}
	if want := []string{`conversation-event {"data":{"cents":2},"eventType":"billing"}`, `conversation-event {"data":[1],"eventType":"on_tool_review","participant":"alice"}`, `conversation-event {"data":{"x":3},"eventType":"unknown"}`}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
