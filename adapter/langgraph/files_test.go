package langgraph_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

func TestTheFilesOfAPromptReachTheGraph(t *testing.T) {
	t.Parallel()
	graph := newFake(t).Config.Handler
	sent := make(chan []byte, 99)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent <- body
		r.Body = io.NopCloser(bytes.NewReader(body))
		graph.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s := newStage(t, server.URL, "agent")
	agenttest.Turn(t, s.session, s.host, agent.Prompt{By: "tester", Message: trace.UserMessage{ID: "u1", Parts: agenttest.FileParts("plain")}})
	var all []byte
	for range len(sent) {
		all = append(all, <-sent...)
	}
	agenttest.CheckFiles(t, all, "point.png", "notes.txt", "paper.pdf", "things.zip", "web.png", "web.txt")
}
