package opencode_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/adapter/opencode"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// TestAnAddressOfTheMachineIsNotSent: OpenCode reads the file of such an address without
// a permission request.
func TestAnAddressOfTheMachineIsNotSent(t *testing.T) {
	t.Parallel()
	inner, sent := newFake("").handler(""), make(chan []byte, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.HasSuffix(r.URL.Path, "/prompt_async") {
			sent <- body
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	host := agenttest.NewHost()
	s := open(t, opencode.Runtime{URL: server.URL}, host, "")
	for address, want := range map[string]object{
		"data:image/png;base64,aGk=": {"type": "file", "mime": "image/png", "url": "data:image/png;base64,aGk=", "filename": "a"},
		"https://example.com/a.png":  {"type": "file", "mime": "image/png", "url": "https://example.com/a.png", "filename": "a"},
		"file:///etc/passwd":         {"type": "text", "text": "[The user attached the file a of type image/png, which cannot be passed on.]"},
		"/etc/passwd":                {"type": "text", "text": "[The user attached the file a of type image/png, which cannot be passed on.]"},
		"FILE:///etc/passwd":         {"type": "text", "text": "[The user attached the file a of type image/png, which cannot be passed on.]"},
	} {
		p := agent.Prompt{By: "tester", Message: trace.UserMessage{ID: "m", Parts: []trace.InputPart{
			{Type: trace.InputText, Text: "hello"}, {Type: trace.InputFile, MediaType: "image/png", URL: address, Filename: "a"},
		}}}
		r := host.Turn(p)
		if err := s.Prompt(t.Context(), p, r.Builder); err != nil {
			t.Error(err)
		}
		if err := r.Finish(trace.Stop{}); err != nil {
			t.Error(err)
		}
		var body struct{ Parts []object }
		if err := json.Unmarshal(<-sent, &body); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]object{{"type": "text", "text": "hello"}, want}, body.Parts); d != "" {
			t.Errorf("%s (-want +got):\n%s", address, d)
		}
	}
}
