package openai_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/openai"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
	"github.com/tributary-dev/tributary/trace"
)

// shape is the sequence of the kept kinds of a turn, with how calls and the turn ended.
func shape(events []trace.Event) string {
	var all []string
	for _, e := range events {
		what := string(e.Payload.Kind())
		switch p := e.Payload.(type) {
		case trace.ToolResult:
			what += " " + string(p.Status)
		case trace.Stop:
			what += " " + p.Reason
		case trace.Step:
			what += " " + string(p.Phase)
		}
		if !trace.Ephemeral(e.Payload) && !strings.HasSuffix(what, ".start") {
			all = append(all, what)
		}
	}
	return strings.Join(all, ", ")
}

// TestBothInterfacesGiveOneShape plays the scripts that the other agents play, too.
func TestBothInterfacesGiveOneShape(t *testing.T) {
	model := httptest.NewServer(scriptedmodel.New(scriptedmodel.Options{}))
	t.Cleanup(model.Close)
	for script, want := range map[string][]string{
		"think":       {"thought", "message", "usage", "stop end_turn"},
		"read a.txt":  {"tool_call", "permission_request", "tool_result completed", "message", "stop end_turn"},
		"both a.txt":  {"tool_call", "tool_call", "pause", "tool_result completed", "stop end_turn"},
		"shell false": {"tool_call", "tool_result failed", "stop end_turn"},
		"write b.txt": {"tool_call", "file_change", "tool_result completed", "stop end_turn"},
		"chain a.txt": {"tool_result completed", "tool_result completed", "file_change", "tool_result completed", "stop end_turn"},
		"error-event": {"message", "stop error"},
		"error-cut":   {"message", "stop error"},
		"error 400":   {"stop error"},
		"empty":       {"stop end_turn"},
	} {
		t.Run(script, func(t *testing.T) {
			var shapes []string
			for _, api := range []string{"chat", "responses"} {
				f := &fake{Server: model}
				s := open(t, f.runtime(openai.Options{API: api, Retries: none()}))
				if err := s.dir.WriteFile("a.txt", []byte("hello\n")); err != nil {
					t.Fatal(err)
				}
				events, _ := s.prompt(fmt.Sprintf("[[script:%s]]", script))
				shapes = append(shapes, shape(events))
			}
			for _, kind := range want {
				if !slices.Contains(strings.Split(shapes[0], ", "), kind) {
					t.Errorf("the turn has no %s: %s", kind, shapes[0])
				}
			}
			if sorted(shapes[0]) != sorted(shapes[1]) {
				t.Errorf("chat:      %s\nresponses: %s", shapes[0], shapes[1])
			}
		})
	}
}

// sorted makes shapes comparable: results of calls that run side by side come in any order.
func sorted(shape string) string {
	all := strings.Split(shape, ", ")
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// FuzzStream: whatever an endpoint sends, the turn ends and is well formed.
func FuzzStream(f *testing.F) {
	for _, seed := range []string{
		delta(`{"content":"hi"}`), delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}]}`), over,
		`{"type":"response.output_text.delta","delta":"hi"}`, `{"type":"response.completed","response":{"status":"completed"}}`,
		`{"choices":[{"index":0,"delta":{"content":["a",1]},"finish_reason":"stop"}],"usage":null}`, `{"error":null}`, "[DONE]", "}{",
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, chunk string, chat bool) {
		o := openai.Options{API: "responses", Retries: none(), MaxSteps: 2}
		if chat {
			o.API = "chat"
		}
		served := serve(t, answers(200, "text/event-stream", "data: "+chunk+"\n\ndata: "+over+"\n\n"))
		events, stop := open(t, served.runtime(o)).prompt("go")
		if stop.Reason == "" || len(agenttest.Each[trace.Stop](events)) != 1 {
			t.Errorf("the turn ended as %+v", stop)
		}
	})
}
