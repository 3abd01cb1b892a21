//go:build linux

package agents_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/trace"
)

// TestRealAgentsListTheirConversations: the conversation of a session is not listed. When
// the session is deleted, the agent still has the conversation, and a new session goes on
// with it. Slower agents that can do the same are left out: copilot, kilo, kimi,
// opencode-acp and qwen.
func TestRealAgentsListTheirConversations(t *testing.T) {
	for _, k := range chosen() {
		if slices.Contains([]string{"codex", "claude-acp", "codex-acp", "pi", "goose"}, k.Name) {
			t.Run(k.Name, func(t *testing.T) { adopt(t, k) })
		}
	}
}

func adopt(t *testing.T, k realagent.Kind) {
	b := newBench(t, k)
	b.start()
	b.play(t, script{name: "plain", prompt: "[[script:plain]] The word is heron.", shape: answered}, endless)
	if all := b.conversations(); len(all) != 0 {
		t.Errorf("the conversation of a session is listed: %v", all)
	}
	b.call(http.MethodDelete, b.path(""), nil)
	all := b.conversations()
	if len(all) != 1 {
		t.Fatalf("listed are %v, want one", all)
	}
	b.session, b.seen = "adopted", nil
	b.call(http.MethodPost, "/api/sessions", map[string]string{"id": b.session, "resume": all[0]})
	said := ""
	for _, r := range b.play(t, recall(), endless) {
		if m, ok := r.Payload.(trace.Message); ok {
			said += m.Text
		}
	}
	if !strings.Contains(said, recall().text) {
		t.Errorf("the agent said %q; want %q in it", said, recall().text)
	}
	b.end()
	b.checkProcesses()
}

// conversations are the resume tokens of the agent's own conversations.
func (b *bench) conversations() (all []string) {
	b.Helper()
	var list struct {
		Conversations []struct{ Resume, Title, Updated string }
	}
	if err := json.Unmarshal([]byte(b.call(http.MethodGet, "/api/agents/"+b.agent.Name+"/conversations", nil)), &list); err != nil {
		b.Fatal(err)
	}
	for _, c := range list.Conversations {
		if strings.TrimSpace(c.Title) == "" || c.Updated == "" {
			b.Errorf("the conversation has no title, or no time: %+v", c)
		}
		all = append(all, c.Resume)
	}
	return all
}
