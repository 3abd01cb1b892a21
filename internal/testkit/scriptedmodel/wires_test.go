package scriptedmodel_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel/modeltest"
)

// spoken is one provider's API as a test speaks it.
type spoken struct {
	name string
	path func(stream bool) string
	// body is a request with a shell and a tool that writes; after the prompt
	// come, if asked for, a call of the shell and its result.
	body func(stream, answered bool, prompt string) string
	// cut is a text that stands in every answer that came to its end.
	cut string
}

func quoted(text string) string {
	raw, _ := json.Marshal(text)
	return string(raw)
}

func when(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

const properties = `{"type":"object","properties":{"command":{"type":"string"}}}`

func wires() []spoken {
	fixed := func(path string) func(bool) string { return func(bool) string { return path } }
	return []spoken{
		{"chat", fixed("/v1/chat/completions"), func(stream, answered bool, prompt string) string {
			return fmt.Sprintf(`{"model":"m-1","stream":%t,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":"[[script:empty]]"},
				{"role":"user","content":[{"type":"text","text":%s}]}%s],"tools":[{"type":"function","function":{"name":"bash","parameters":%s}}]}`,
				stream, quoted(prompt), when(answered, `,{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{}"}}]},
				{"role":"tool","tool_call_id":"c1","content":"the output"}`), properties)
		}, "[DONE]"},
		{"responses", fixed("/v1/responses"), func(stream, answered bool, prompt string) string {
			return fmt.Sprintf(`{"model":"m-1","stream":%t,"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"[[script:empty]]"}]},
				{"type":"message","role":"user","content":[{"type":"input_text","text":%s}]}%s],"tools":[{"type":"function","name":"shell","parameters":%s},
				{"type":"custom","name":"apply_patch","format":{"type":"grammar"}}]}`,
				stream, quoted(prompt), when(answered, `,{"type":"reasoning","id":"r1","summary":[]},{"type":"function_call","call_id":"c1","name":"shell","arguments":"{}"},
				{"type":"custom_tool_call","call_id":"c2","name":"apply_patch","input":""},{"type":"function_call_output","call_id":"c1","output":"first"},
				{"type":"custom_tool_call_output","call_id":"c2","output":"the output"}`), properties)
		}, "response.completed"},
		{"gemini", func(stream bool) string {
			if stream {
				return "/v1beta/models/m-1:streamGenerateContent?alt=sse"
			}
			return "/v1beta/models/m-1:generateContent"
		}, func(_, answered bool, prompt string) string {
			return fmt.Sprintf(`{"contents":[{"role":"user","parts":[{"text":%s}]}%s],"systemInstruction":{"parts":[{"text":"[[script:empty]]"}]},
				"tools":[{"functionDeclarations":[{"name":"run_shell_command","parametersJsonSchema":%s}]}]}`,
				quoted(prompt), when(answered, `,{"role":"model","parts":[{"text":"I will","thought":true},{"functionCall":{"name":"run_shell_command","args":{}}}]},
				{"role":"user","parts":[{"functionResponse":{"name":"run_shell_command","response":{"output":"the output"}}}]}`), properties)
		}, `"STOP"`},
		{"anthropic", fixed("/v1/messages"), func(stream, answered bool, prompt string) string {
			return fmt.Sprintf(`{"model":"m-1","stream":%t,"messages":[{"role":"user","content":%s}%s],"tools":[{"name":"Bash","input_schema":%s}]}`,
				stream, quoted(prompt), when(answered, `,{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"the output"}]}`), properties)
		}, "message_stop"},
	}
}

// TestWiresGolden holds what the newer wires say; TestMessagesGolden has the oldest.
func TestWiresGolden(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		if w.name == "anthropic" {
			continue
		}
		for _, tc := range []struct {
			name, prompt string
			stream       bool
			answered     bool
			status       int
		}{
			{name: "think.sse", prompt: "[[script:think]]", stream: true},
			{name: "think.json", prompt: "[[script:think]]"},
			{name: "both.sse", prompt: "[[script:both /a.txt]]", stream: true},
			{name: "both.json", prompt: "[[script:both /a.txt]]"},
			{name: "patch.sse", prompt: "[[script:write /a.txt]]", stream: true},
			{name: "shell-2.sse", prompt: "[[script:shell ls]]", stream: true, answered: true},
			{name: "empty.sse", prompt: "[[script:empty]]", stream: true},
			{name: "error-event.sse", prompt: "[[script:error-event]]", stream: true},
			{name: "error-event.json", prompt: "[[script:error-event]]", status: 503},
			{name: "error-400.json", prompt: "[[script:error 400]]", stream: true, status: 400},
			{name: "error-500.json", prompt: "[[script:error 500]]", status: 500},
		} {
			t.Run(w.name+"/"+tc.name, func(t *testing.T) {
				t.Parallel()
				m := modeltest.Start(t, scriptedmodel.Options{})
				status, got := post(t, m.URL, w.path(tc.stream), w.body(tc.stream, tc.answered, tc.prompt))
				if want := max(tc.status, 200); status != want {
					t.Errorf("status %d; want %d", status, want)
				}
				file := filepath.Join("testdata", w.name, tc.name)
				if *update {
					if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestEveryWirePlaysTheSameScript: the steps follow from the conversation, and do
// not depend on the wire that carries the directive.
func TestEveryWirePlaysTheSameScript(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.Start(t, scriptedmodel.Options{})
			for _, stream := range []bool{true, false} {
				post(t, m.URL, w.path(stream), w.body(stream, false, "[[script:shell echo hello]]"))
				_, last := post(t, m.URL, w.path(stream), w.body(stream, true, "[[script:shell echo hello]]"))
				if !strings.Contains(last, "output") {
					t.Errorf("the last text quotes no result:\n%s", last)
				}
			}
			for i, r := range m.Requests() {
				if r.Kind != "answer" || r.Directive != (scriptedmodel.Directive{Name: "shell", Arg: "echo hello"}) || r.Step != i%2 {
					t.Errorf("request %d: kind %s, directive %v, step %d", i+1, r.Kind, r.Directive, r.Step)
				}
				if calls := len(r.Answer.Calls); calls != 1-i%2 {
					t.Errorf("request %d was answered with %d calls", i+1, calls)
				}
			}
			if text := m.Requests()[1].Answer.Text; text != "Done. The tool said: the output" {
				t.Errorf("the last text is %q", text)
			}
		})
	}
}

func TestEveryWireCanBeCut(t *testing.T) {
	t.Parallel()
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			m := modeltest.Start(t, scriptedmodel.Options{})
			res, err := http.Post(m.URL+w.path(true), "application/json", strings.NewReader(w.body(true, false, "[[script:error-cut]]")))
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			raw, err := io.ReadAll(res.Body)
			if err == nil {
				t.Error("the answer ended in order; want a dropped connection")
			}
			if !bytes.Contains(raw, []byte("cut.")) || bytes.Contains(raw, []byte(w.cut)) {
				t.Errorf("the answer is not one that was cut after its text:\n%s", raw)
			}
		})
	}
}

func TestSideCallsOfEveryWire(t *testing.T) {
	t.Parallel()
	m := modeltest.Start(t, scriptedmodel.Options{})
	for path, want := range map[string]string{
		"/v1/models":                         `"object":"list"`,
		"/v1beta/models":                     `"models/scripted-1"`,
		"/v1beta/models/scripted-1":          `"generateContent"`,
		"/v1/models/scripted-1":              `"object":"model"`,
		"/v1beta/models/x:countTokens":       `"totalTokens"`,
		"/v1/messages/count_tokens?beta=yes": `"input_tokens"`,
	} {
		method := http.MethodGet
		if strings.Contains(path, "ount") {
			method = http.MethodPost
		}
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader("{}")))
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s %s: %d %s; want %s", method, path, w.Code, w.Body, want)
		}
	}
}

func FuzzWires(f *testing.F) {
	for i, w := range wires() {
		f.Add(i, true, []byte(w.body(true, true, "[[script:both /a]]")))
		f.Add(i, false, []byte(w.body(false, false, `[[script:call X {"a":[]}]]`)))
		f.Add(i, true, []byte(`{"tools":[null,{}],"messages":[null],"input":[null],"contents":[null]}`))
	}
	model := scriptedmodel.New(scriptedmodel.Options{})
	f.Fuzz(func(t *testing.T, wire int, stream bool, body []byte) {
		if bytes.Contains(body, []byte("slow")) || bytes.Contains(body, []byte("error-cut")) || bytes.Contains(body, []byte("big")) {
			t.Skip("takes its time, panics on purpose, or is large")
		}
		all := wires()
		w := httptest.NewRecorder()
		model.ServeHTTP(w, httptest.NewRequest(http.MethodPost, all[uint(wire)%uint(len(all))].path(stream), bytes.NewReader(body)))
		if !json.Valid(body) && w.Code != http.StatusBadRequest {
			t.Errorf("a body that is no JSON was answered with %d", w.Code)
		}
	})
}
