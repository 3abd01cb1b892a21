package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// start runs the server with a log in dir. Its end is the end of the test, or close.
func start(t *testing.T, dir string) (url string, end func()) {
	t.Helper()
	chats, err := open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(routes(chats))
	end = func() {
		if err := chats.Close(context.Background()); err != nil {
			t.Error(err)
		}
		server.Close()
	}
	return server.URL, end
}

// do sends a request as a user and returns the status and the answer.
func do(t *testing.T, user, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if user != "" {
		req.SetBasicAuth(user, "")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(answer)
}

// chat is the body that useChat sends.
func chat(id, text string) string {
	return fmt.Sprintf(`{"id":%q,"trigger":"submit-message","messages":[{"id":"m-%s","role":"user","parts":[{"type":"text","text":%q}]}]}`, id, text, text)
}

// said are the texts of a stream.
func said(stream string) (text string) {
	for line := range strings.Lines(stream) {
		var c struct{ Type, Delta string }
		if data, is := strings.CutPrefix(line, "data: "); is && json.Unmarshal([]byte(data), &c) == nil && c.Type == "text-delta" {
			text += c.Delta
		}
	}
	return text
}

func TestTheAgentSpeaksAndIsRememberedAfterARestart(t *testing.T) {
	dir := t.TempDir()
	url, end := start(t, dir)
	status, stream := do(t, "ann", "POST", url+"/agents/api/chat", chat("c1", "one two"))
	if status != 200 || said(stream) != "1 one\n2 two\n" || !strings.Contains(stream, `"type":"data-words"`) || !strings.Contains(stream, `"type":"finish"`) {
		t.Errorf("%d %s", status, stream)
	}
	end()
	url, end = start(t, dir)
	defer end()
	if status, history := do(t, "ann", "GET", url+"/agents/api/sessions/c1/messages", ""); status != 200 || !strings.Contains(history, `1 one\n2 two`) {
		t.Errorf("%d %s", status, history)
	}
}

func TestTheServerKnowsItsUsers(t *testing.T) {
	url, end := start(t, t.TempDir())
	defer end()
	if status, _ := do(t, "", "POST", url+"/agents/api/chat", chat("c1", "hello")); status != 401 {
		t.Errorf("a stranger gets %d", status)
	}
	do(t, "ann", "POST", url+"/agents/api/chat", chat("c1", "hello"))
	if status, _ := do(t, "bob", "GET", url+"/agents/api/sessions/c1/messages", ""); status != 404 {
		t.Errorf("another user gets %d for a private session", status)
	}
	if status, page := do(t, "", "GET", url+"/", ""); status != 200 || !strings.Contains(page, "/agents/api/chat") {
		t.Errorf("the server's own page is %d %s", status, page)
	}
}

func TestTheAgentAsksAndGoesOn(t *testing.T) {
	for approved, want := range map[bool]string{true: `"output":{"words":2}`, false: `"type":"tool-output-denied"`} {
		url, end := start(t, t.TempDir())
		_, stream := do(t, "ann", "POST", url+"/agents/api/chat?client=7", chat("c1", "secret a b"))
		request := regexp.MustCompile(`"approvalId":"([^"]+)"`).FindStringSubmatch(stream)
		message := regexp.MustCompile(`"messageId":"([^"]+)"`).FindStringSubmatch(stream)
		if request == nil || message == nil {
			t.Fatal(stream)
		}
		answer := fmt.Sprintf(`{"id":"c1","trigger":"submit-message","messageId":%q,"messages":[{"id":%q,"role":"assistant","parts":[{"type":"dynamic-tool","toolName":"count","toolCallId":"count-1",`+
			`"state":"approval-responded","input":{"words":2},"approval":{"id":%q,"approved":%v}}]}]}`, message[1], message[1], request[1], approved)
		if status, stream := do(t, "ann", "POST", url+"/agents/api/chat?client=7", answer); status != 200 || !strings.Contains(stream, want) {
			t.Errorf("approved %v: %d %s", approved, status, stream)
		}
		end()
	}
}
