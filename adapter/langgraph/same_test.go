package langgraph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAMessageUnderTwoIdsIsSaidOnce plays the recordings of testdata/same: a node says a message in pieces,
// and then whole under another id.
func TestAMessageUnderTwoIdsIsSaidOnce(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"partial.sse":         {"Hello."},
		"tuple.sse":           {"Hello."},
		"tuple-over.sse":      {"Hello.", "\nSee page 3."}, // the first part had ended
		"longer.sse":          {"Hello. Bye."},
		"with-a-call.sse":     {"Let me look.", `look{"n":1}`, `completed:"seen"`, "It is there."},
		"events.sse":          {"Hello."},
		"another-text.sse":    {"Hi.", "Hello."}, // in the order of their ends
		"another-node.sse":    {"Hello.", "Hello."},
		"another-call.sse":    {"Let me look.", `look{"n":1}`, `completed:"seen"`, "Let me look.", `look{"n":2}`, `completed:"seen"`},
		"twice-whole.sse":     {"Hello.", "Hello."},
		"twice-in-pieces.sse": {"Hello.", "Hello."},
		"three-ids.sse":       {"Hello.", "Hello."},
	} {
		recording, err := os.ReadFile("testdata/same/" + name)
		if err != nil {
			t.Fatal(err)
		}
		p := replaytest.Play(t, langgraph.NewDecoder(langgraph.Options{}), recording)
		got := outline(p.Records)
		if got = got[:len(got)-1]; p.Skipped > 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q (%d messages were not understood: %v)", name, got, p.Skipped, p.First)
		}
	}
}

// TestInterruptsOfOneIDAreAllAsked: a graph whose tools interrupt at the same time gives the interrupts one id,
// takes one answer, and asks the others again.
func TestInterruptsOfOneIDAreAllAsked(t *testing.T) {
	t.Parallel()
	ask := func(id, text string) string { return fmt.Sprintf(`{"id":%q,"value":{"question":%q}}`, id, text) }
	approve := `{"id":"i","value":{"action_requests":[{"name":"send","args":{"n":%d}}]}}`
	event := func(all ...string) string {
		return "event: updates\ndata: {\"__interrupt__\":[" + strings.Join(all, ",") + "]}\n\n"
	}
	colour, size, name := ask("i", "Colour?"), ask("i", "Size?"), ask("i", "Name?")
	for about, c := range map[string]struct {
		runs  []string // what each run ends with
		asked []string
		sent  []string
	}{
		"in one event":       {[]string{event(colour, size), event(size)}, []string{"Colour?", "Size?"}, []string{`"my Colour?"`, `"my Size?"`}},
		"in two events":      {[]string{event(colour) + event(size), event(size)}, []string{"Colour?", "Size?"}, []string{`"my Colour?"`, `"my Size?"`}},
		"announced twice":    {[]string{event(colour, size) + event(colour, size), event(size) + event(size)}, []string{"Colour?", "Size?"}, []string{`"my Colour?"`, `"my Size?"`}},
		"three":              {[]string{event(colour, size) + event(name), event(size, name), event(name)}, []string{"Colour?", "Size?", "Name?"}, []string{`"my Colour?"`, `"my Size?"`, `"my Name?"`}},
		"one answer for all": {[]string{event(colour, size, name)}, []string{"Colour?", "Size?", "Name?"}, []string{`"my Colour?"`}},
		"the first again":    {[]string{event(colour, size), event(colour), event(size)}, []string{"Colour?", "Size?", "Colour?"}, []string{`"my Colour?"`, `"my Colour?"`, `"my Size?"`}},
		"asked once more":    {[]string{event(colour, size), event(size), event(size)}, []string{"Colour?", "Size?", "Size?"}, []string{`"my Colour?"`, `"my Size?"`, `"my Size?"`}},
		"beside another id":  {[]string{event(colour, size, ask("k", "Who?")), event(size)}, []string{"Colour?", "Size?", "Who?"}, []string{`{"i":"my Colour?","k":"my Who?"}`, `"my Size?"`}},
		"and a new one":      {[]string{event(colour, size), event(size, ask("k", "Who?"))}, []string{"Colour?", "Size?", "Who?"}, []string{`"my Colour?"`, `{"i":"my Size?","k":"my Who?"}`}},
		"approvals":          {[]string{event(fmt.Sprintf(approve, 1), fmt.Sprintf(approve, 2)), event(fmt.Sprintf(approve, 2))}, []string{`send{"n":1}`, `send{"n":2}`}, []string{`{"decisions":[{"type":"approve"}]}`, `{"decisions":[{"type":"approve"}]}`}},
		"without ids":        {[]string{event(`{"value":"Colour?"}`) + event(`{"value":"Size?"}`), event(`{"value":"Size?"}`)}, []string{"Colour?", "Size?"}, []string{`"my Colour?"`, `"my Size?"`}},
		"the same twice":     {[]string{event(colour, colour)}, []string{"Colour?"}, []string{`"my Colour?"`}},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if answer := (struct{ Answer json.RawMessage }{}); json.Unmarshal(body, &answer) == nil && answer.Answer != nil {
					sent = append(sent, string(answer.Answer))
				}
				w.Header().Set("Content-Type", "text/event-stream")
				if run := len(sent); run < len(c.runs) {
					_, _ = io.WriteString(w, c.runs[run])
				} else {
					_, _ = io.WriteString(w, "event: messages\ndata: [{\"type\":\"ai\",\"id\":\"m\",\"content\":\"Done.\"},{}]\n\n")
				}
			}))
			t.Cleanup(server.Close)
			var asked []string
			s := talks(t, "session-1", agent.Settings{URL: server.URL, Options: json.RawMessage(`{"body":{"prompt":"{{prompt}}"},"resume":{"answer":"{{answer}}"}}`)})
			s.host.OnAsk = func(_ context.Context, q trace.Question) trace.Answer {
				return trace.Answer{Outcome: trace.Selected, Values: []string{"my " + q.Text}}
			}
			events := s.end(s.begin(t.Context(), "go"))
			for _, q := range agenttest.Each[trace.Question](events) {
				asked = append(asked, q.Text)
			}
			for _, call := range agenttest.Each[trace.ToolCall](events) {
				asked = append(asked, call.RawName+string(call.Input))
			}
			if !slices.Equal(asked, c.asked) || !slices.Equal(sent, c.sent) || !slices.Contains(lines(events), "Done.") {
				t.Errorf("people were asked %q, the graph got %q, and the turn is %q", asked, sent, lines(events))
			}
		})
	}
}
