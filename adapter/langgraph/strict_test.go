package langgraph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAStrictServerGetsAnswersByTheIDOfTheirQuestion: the server says in /info that it refuses an answer to a
// question that does not wait. Answers without an id would go to another question.
func TestAStrictServerGetsAnswersByTheIDOfTheirQuestion(t *testing.T) {
	t.Parallel()
	const hash = "0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct{ info, id, sent, refusal, said string }{
		"strict":              {`{"flags":{"strict_resume":true}}`, hash, `{"resume":{"` + hash + `":"red"}} true`, "", "Red."},
		"strict, an old id":   {`{"flags":{"strict_resume":true}}`, "i", `{"resume":"red"} true`, "", "Red."},
		"not strict":          {`{"flags":{"assistants":true}}`, hash, `{"resume":"red"} `, "", "Red."},
		"refused":             {`{"flags":{"strict_resume":true}}`, hash, `{"resume":{"` + hash + `":"red"}} true`, `{"error":"UnknownInterruptError","message":"Unknown or already-consumed interrupt: 0"}`, "failed failed The graph does not wait for this answer any more: the question was answered on the server. Send a new prompt."},
		"refused as unclear":  {`{"flags":{"strict_resume":true}}`, "i", `{"resume":"red"} true`, `{"error":"UnknownInterruptError","message":"When there are multiple pending interrupts, you must specify the interrupt id when resuming."}`, "failed failed The graph waits for several answers, and takes no answer without the id of its question: send the prompt again."},
		"refused, in fields":  {`{"flags":{"strict_resume":true}}`, hash, `{"resume":{"` + hash + `":"red"}} true`, `{"event":"failed","error":"Unknown interrupt","reason":"not_pending","interrupt_ids":["0"],"pending_ids":[]}`, "failed failed The graph does not wait for this answer any more: the question was answered on the server. Send a new prompt."},
		"an error of another": {`{"flags":{"strict_resume":true}}`, hash, `{"resume":{"` + hash + `":"red"}} true`, `{"error":"ValueError","message":"no red"}`, "failed failed no red"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var sent []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				answer := `{"thread_id":"t"}`
				switch {
				case r.URL.Path == "/info":
					answer = c.info
				case strings.HasSuffix(r.URL.Path, "/runs/stream"):
					var run struct {
						Command json.RawMessage `json:"command"`
						Strict  json.RawMessage `json:"strict_resume"`
					}
					_ = json.Unmarshal(body, &run)
					w.Header().Set("Content-Type", "text/event-stream")
					answer = fmt.Sprintf("event: metadata\ndata: {\"run_id\":\"r%d\"}\n\nevent: lifecycle\ndata: {\"event\":\"started\",\"tool_call_id\":\"c\"}\n\n", len(sent))
					switch {
					case run.Command == nil:
						answer += `event: updates` + "\n" + `data: {"__interrupt__":[{"id":"` + c.id + `","value":"Colour?"}]}` + "\n\n"
					case c.refusal != "":
						answer += "event: error\ndata: " + c.refusal + "\n\n"
					default:
						answer += "event: input.answered\ndata: {\"interrupt_ids\":[]}\n\nevent: messages\ndata: [{\"type\":\"ai\",\"id\":\"m\",\"content\":\"Red.\"},{}]\n\n"
					}
					if answer += "event: end\ndata: {\"run_id\":\"r\",\"status\":\"success\"}\n\n"; run.Command != nil {
						sent = append(sent, string(run.Command)+" "+string(run.Strict))
					}
				case strings.HasSuffix(r.URL.Path, "/state"):
					answer = `{"values":{}}`
				case strings.Contains(r.URL.Path, "/runs/"):
					answer = `{"run_id":"` + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] + `","thread_id":"t","status":"success"}`
				}
				_, _ = io.WriteString(w, answer)
			}))
			t.Cleanup(server.Close)
			s := newStage(t, server.URL, "agent")
			s.host.OnAsk = func(context.Context, trace.Question) trace.Answer {
				return trace.Answer{Outcome: trace.Selected, Values: []string{"red"}}
			}
			events := s.end(s.begin(t.Context(), "go"))
			if !slices.Equal(sent, []string{c.sent}) || !slices.Contains(lines(events), c.said) {
				t.Errorf("the server got %q, and the turn is %q", sent, lines(events))
			}
			for _, d := range agenttest.Each[trace.Data](events) {
				if d.Name == "conversation-event" {
					t.Errorf("noise: %s", d.Value)
				}
			}
		})
	}
}

// TestTheEndOfAStreamSaysHowTheRunEnded in a recording.
func TestTheEndOfAStreamSaysHowTheRunEnded(t *testing.T) {
	t.Parallel()
	for status, want := range map[string]string{
		`{"run_id":"r","status":"success"}`:     "completed stop",
		`{"run_id":"r","status":"error"}`:       "failed failed The graph failed, and the server does not say why.",
		`{"run_id":"r","status":"timeout"}`:     "failed failed The run took longer than the server allows.",
		`{"run_id":"r","status":"interrupted"}`: "canceled stopped",
		`{"run_id":"r","status":"rollback"}`:    "canceled stopped",
		`null`:                                  "completed stop",
	} {
		events := frames(t, langgraph.Options{}, "metadata", `{"run_id":"r"}`, "messages", delta("m", "So ", ""), "messages", last("m", ""), "end", status)
		if got := lines(events); got[len(got)-1] != want {
			t.Errorf("%s: %q", status, got)
		}
	}
}
