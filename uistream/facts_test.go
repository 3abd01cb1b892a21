package uistream_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/trace"
	"github.com/tributary-dev/tributary/uistream"
)

// timed gives each record the time of its place: a second after the one before.
func timed(records []trace.Record) []trace.Record {
	for i := range records {
		records[i].Time = time.Unix(int64(i), 0)
	}
	return records
}

// factsOf are the call's lines about itself, of the chunks that have some.
func factsOf(chunks []uistream.Chunk) (all []string) {
	for line := range strings.SplitSeq(lines(chunks), "\n") {
		if _, facts, has := strings.Cut(line, `"providerMetadata":{"tributary":`); has {
			typ, _, _ := strings.Cut(strings.TrimPrefix(line, `{"type":"`), `"`)
			all = append(all, typ+" "+strings.TrimSuffix(facts, "}}"))
		}
	}
	return all
}

func aCall(b *trace.Builder) {
	b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "bash", ToolKind: trace.ToolExecute})
	b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", ToolKind: trace.ToolExecute, Input: input(`{}`)})
	b.ToolResultProgress("c", input(`"a"`))
	b.ToolResultProgress("c", input(`"ab"`))
	b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: input(`"abc"`)})
}

// The call has the number 4 of the records, the result the number 7.
func TestTheStreamSaysOfACallWhatItDoesAndWhen(t *testing.T) {
	t.Parallel()
	const call = `tool-input-available {"kind":"execute","started_at":"1970-01-01T00:00:04.000Z"}`
	for client, want := range map[string][]string{
		"5": {call}, "": {call}, "6.0.230": {call},
		"6.0.231": {`tool-input-start {"kind":"execute"}`, call, `tool-output-available {"duration_ms":3000}`},
		"7":       {`tool-input-start {"kind":"execute"}`, call, `tool-output-available {"duration_ms":3000}`},
	} {
		got := factsOf(translate(uistream.Options{Profile: profile(t, client)}, timed(write(t, completed(), aCall))))
		if !slices.Equal(got, want) {
			t.Errorf("client %q: got\n%s\nwant\n%s", client, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for name, o := range map[string]uistream.Options{"by the RFC": {RFC: true, Profile: uistream.Newest()}, "for an upstream": {Native: true, Profile: uistream.Newest()}} {
		if got := factsOf(translate(o, timed(write(t, completed(), aCall)))); len(got) > 0 {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestHistoryKeepsWhatTheStreamSaysOfACall(t *testing.T) {
	t.Parallel()
	all, err := uistream.History(seq(durable(timed(write(t, completed(), aCall)))), uistream.Options{Profile: profile(t, "7")})
	if err != nil {
		t.Fatal(err)
	}
	p := all[1].Parts[1]
	if call, result := string(p.Keys["callProviderMetadata"]), string(p.Keys["resultProviderMetadata"]); call != `{"tributary":{"kind":"execute","started_at":"1970-01-01T00:00:04.000Z"}}` ||
		result != `{"tributary":{"duration_ms":3000}}` {
		t.Errorf("the call says %s, its result %s", call, result)
	}
}

// A call runs from the moment in which somebody allows it; what was never allowed has not run.
func TestTheWaitForAPersonIsNoPartOfTheDuration(t *testing.T) {
	t.Parallel()
	ask := func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", ToolKind: trace.ToolExecute, Input: input(`{}`)})
		b.PermissionRequest(requests("p", "c"), trace.ToolCall{})
	}
	for name, c := range map[string]struct {
		answer func(*trace.Builder)
		stop   trace.Stop
		want   string
	}{
		"allowed": {func(b *trace.Builder) {
			b.PermissionResponse(chooses("p", "yes"))
			b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: input(`1`)})
		}, completed(), `tool-output-available {"duration_ms":1000}`},
		"stopped": {func(*trace.Builder) {}, trace.Stop{Reason: "stopped", Outcome: trace.OutcomeCanceled}, ""},
	} {
		records := timed(write(t, c.stop, func(b *trace.Builder) { ask(b); c.answer(b) }))
		got := ""
		for _, fact := range factsOf(translate(uistream.Options{Profile: profile(t, "7")}, records)) {
			if strings.Contains(fact, "duration") {
				got += fact
			}
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

// An upstream of this protocol has facts of its own about its calls.
func TestTheFactsOfAnUpstreamStayBesideOurOwn(t *testing.T) {
	t.Parallel()
	d, _ := uistream.Beyond(uistream.Extended{Chunk: uistream.ToolInputStart{ToolCallID: "c"}, Keys: uistream.Keys{"providerMetadata": input(`{"openai":{"id":"1"},"tributary":{"kind":"read","decision":{"outcome":"selected","by":"adm"}}}`)}})
	records := write(t, completed(), func(b *trace.Builder) {
		b.EmitOwn(d)
		b.ToolCallStart(trace.ToolCallStart{ToolCallID: "c", RawName: "bash", ToolKind: trace.ToolExecute})
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", ToolKind: trace.ToolExecute, Input: input(`{}`)})
		b.ToolResult(trace.ToolResult{ToolCallID: "c", Status: trace.ToolCompleted, Output: input(`1`)})
	})
	const want = `"providerMetadata":{"openai":{"id":"1"},"tributary":{"kind":"execute","started_at":"1970-01-01T00:00:00.000Z"}}`
	if got := lines(translate(uistream.Options{Profile: uistream.Newest()}, records)); !strings.Contains(got, want) {
		t.Errorf("got %s", got)
	}
}

// An input that JSON.parse would change comes as a text too, to each client, also when it is revised.
//
//evidence:for promise-shown
func TestTheStreamHasAnInputThatABrowserWouldChangeAsAText(t *testing.T) {
	t.Parallel()
	const twice = `"input_text":"{\"command\":\"ls\",\"command\":\"rm\"}"`
	domain, err := uistream.ParseDomainEvents([]string{"all"})
	if err != nil {
		t.Fatal(err)
	}
	for _, client := range []string{"5", "", "6.0.230", "7"} {
		for given, want := range map[string]bool{`{"command":"ls","command":"rm"}`: true, `{"command":"ls","n":1.50}`: false} {
			records := timed(write(t, completed(), func(b *trace.Builder) {
				b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", ToolKind: trace.ToolExecute, Input: input(given)})
				b.PermissionRequest(requests("p", "c"), trace.ToolCall{})
				b.PermissionResponse(chooses("p", "no"))
			}))
			o := uistream.Options{Profile: profile(t, client), Domain: domain}
			for line := range strings.SplitSeq(lines(translate(o, records)), "\n") {
				if strings.Contains(line, `"input":{`) && strings.Contains(line, twice) != want {
					t.Errorf("client %q: %s", client, line)
				}
			}
			all, err := uistream.History(seq(durable(records)), o)
			if kept := asJSON(all); err != nil || strings.Contains(kept, `"input_text": "{`) != want {
				t.Errorf("client %q: err %v, the history is %s", client, err, kept)
			}
		}
	}
}

// A page can say who decided, without the trace.
func TestTheStreamSaysWhoAnswered(t *testing.T) {
	t.Parallel()
	records := timed(write(t, completed(), func(b *trace.Builder) {
		b.ToolCall(trace.ToolCall{ToolCallID: "c", RawName: "bash", ToolKind: trace.ToolExecute, Input: input(`{}`)})
		b.PermissionRequest(requests("p", "c"), trace.ToolCall{})
		b.PermissionResponse(chooses("p", "no"))
		b.Question(trace.Question{QuestionID: "q", Text: "Which?"})
		b.Answer(trace.Answer{QuestionID: "q", Outcome: trace.Selected, Values: []string{"this"}, By: "bob"})
	}))
	o := uistream.Options{Profile: profile(t, "7")}
	const denied, said = `tool-approval-response {"kind":"execute","started_at":"1970-01-01T00:00:03.000Z","decision":{"outcome":"selected","by":"ann","option":"Deny"}}`,
		`tool-output-available {"decision":{"outcome":"selected","by":"bob"}}`
	if got := factsOf(translate(o, records)); !slices.Contains(got, denied) || !slices.Contains(got, said) {
		t.Errorf("the stream says\n%s", strings.Join(got, "\n"))
	}
	all, err := uistream.History(seq(durable(records)), o)
	if kept := asJSON(all); err != nil || !strings.Contains(kept, `"by": "ann"`) || !strings.Contains(kept, `"by": "bob"`) {
		t.Errorf("err %v, the history is %s", err, kept)
	}
}
