package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// An app that has a tool of its own, and an approval, works with the gateway between itself
// and its endpoint as without it.
func TestAnEndpointsClientToolsAndApprovalsPassThrough(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		n := len(bodies)
		bodies = append(bodies, string(raw))
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		for _, chunk := range [][]string{
			{`{"type":"start","messageId":"theirs"}`, `{"type":"start-step"}`, `{"type":"tool-input-available","toolCallId":"c1","toolName":"where","input":{"deep":1}}`, `{"type":"finish-step"}`, `{"type":"finish","finishReason":"tool-calls"}`},
			{
				`{"type":"start","messageId":"theirs"}`, `{"type":"start-step"}`, `{"type":"tool-input-available","toolCallId":"c2","toolName":"pay","input":{}}`,
				`{"type":"tool-approval-request","toolCallId":"c2","approvalId":"a1","signature":"sig"}`, `{"type":"finish-step"}`, `{"type":"finish","finishReason":"tool-calls"}`,
			},
			{`{"type":"start","messageId":"theirs"}`, `{"type":"tool-output-available","toolCallId":"c2","output":"paid"}`, `{"type":"start-step"}`, `{"type":"text-start","id":"0"}`, `{"type":"text-delta","id":"0","delta":"Done."}`, `{"type":"text-end","id":"0"}`, `{"type":"finish-step"}`, `{"type":"finish","finishReason":"stop"}`},
		}[n] {
			fmt.Fprintf(w, "data: %s\n\n", chunk)
		}
		fmt.Fprint(w, "data: [DONE]\n\n")
	}))
	t.Cleanup(upstream.Close)
	s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", `
agents:
  app: {adapter: uiendpoint, url: "`+upstream.URL+`/api/chat"}
`))
	const client = "/api/chat?client=7.0.173"
	status, said := s.do("POST", client, chat("x", "hello"))
	if status != 200 || !strings.Contains(said, `{"type":"tool-input-available","toolCallId":"c1","toolName":"where","input":{"deep":1},"providerMetadata":{"tributary":{"kind":"other",`) || strings.Contains(said, "AskUser") {
		t.Fatalf("%d %s", status, said)
	}
	message := regexp.MustCompile(`"messageId":"([^"]+)"`).FindStringSubmatch(said)[1]
	answer := func(part string) (int, string) {
		return s.do("POST", client, `{"id":"x","trigger":"submit-message","messageId":"`+message+`","messages":[{"id":"`+message+`","role":"assistant","parts":[{"type":"step-start"},`+part+`]}]}`)
	}
	status, said = answer(`{"type":"tool-where","toolCallId":"c1","state":"output-available","input":{"deep":1},"output":{"lat":1.5}}`)
	approval := regexp.MustCompile(`"approvalId":"([^"]+)","signature":"sig"`).FindStringSubmatch(said)
	if status != 200 || approval == nil || !strings.Contains(said, `{"type":"tool-input-available","toolCallId":"c2","toolName":"pay","input":{},"providerMetadata":{"tributary":{"kind":"other",`) {
		t.Fatalf("%d %s", status, said)
	}
	status, said = answer(`{"type":"tool-where","toolCallId":"c1","state":"output-available","input":{"deep":1},"output":{"lat":1.5}},
		{"type":"tool-pay","toolCallId":"c2","state":"approval-responded","input":{},"approval":{"id":"` + approval[1] + `","approved":true}}`)
	if status != 200 || !strings.Contains(said, `"output":"paid"`) || !strings.Contains(said, "Done.") {
		t.Fatalf("%d %s", status, said)
	}
	mu.Lock()
	defer mu.Unlock()
	for n, want := range map[int]string{
		1: `{"type":"tool-where","toolCallId":"c1","state":"output-available","input":{"deep":1},"output":{"lat":1.5}}`,
		2: `{"type":"tool-pay","toolCallId":"c2","state":"approval-responded","input":{},"approval":{"id":"a1","approved":true,"signature":"sig"}}`,
	} {
		if !strings.Contains(bodies[n], want) || !strings.Contains(bodies[n], `"messageId":"theirs"`) {
			t.Errorf("request %d is %s, and lacks %s", n, bodies[n], want)
		}
	}
	_, history := s.do("GET", "/api/sessions/x/messages", "")
	if !json.Valid([]byte(history)) || !strings.Contains(history, `"type":"tool-where"`) {
		t.Errorf("the history is %s", history)
	}
}

// The endpoint learns why a tool of the app failed.
func TestTheErrorOfAClientToolReachesItsEndpoint(t *testing.T) {
	t.Parallel()
	bodies := make(chan string, 2)
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		bodies <- string(raw)
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"type":"start","messageId":"theirs"}`+"\n\n")
		if !strings.Contains(string(raw), "output-error") {
			fmt.Fprint(w, `data: {"type":"tool-input-available","toolCallId":"c1","toolName":"where","input":{}}`+"\n\n")
		}
		fmt.Fprint(w, `data: {"type":"finish"}`+"\n\n")
	}))
	t.Cleanup(upstream.Close)
	s := startServer(t, t.TempDir(), "--config", file(t, "tributary.yaml", `agents: {app: {adapter: uiendpoint, url: "`+upstream.URL+`"}}`))
	_, said := s.do("POST", "/api/chat?client=7", chat("x", "hello"))
	<-bodies
	message := regexp.MustCompile(`"messageId":"([^"]+)"`).FindStringSubmatch(said)[1]
	status, said := s.do("POST", "/api/chat?client=7", `{"id":"x","trigger":"submit-message","messageId":"`+message+`","messages":[{"id":"`+message+`","role":"assistant","parts":[`+
		`{"type":"tool-where","toolCallId":"c1","state":"output-error","input":{},"errorText":"The user has no position."}]}]}`)
	if status != 200 {
		t.Fatalf("%d %s", status, said)
	}
	if body := <-bodies; !strings.Contains(body, `"errorText":"The user has no position."`) {
		t.Errorf("the second request is %s", body)
	}
}

func TestConvertReadsTheBodyOfAResponse(t *testing.T) {
	t.Parallel()
	recordings, err := filepath.Glob("../../test/recordings/uiendpoint/*.sse")
	if err != nil || len(recordings) < 20 {
		t.Fatalf("%d recordings, %v", len(recordings), err)
	}
	for _, name := range recordings {
		said := command(t, "", "convert", "--from", "uiendpoint", "--client", "7.0.173", name)
		said.want(t, 0, "")
		if raw, err := os.ReadFile(name); err != nil || strings.Count(said.out, `"type":"tool-input-`) < strings.Count(string(raw), `"type":"tool-input-available`) {
			t.Errorf("%s: %v: %s", name, err, said.out)
		}
	}
}
