package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/policy/permission/permissiontest"
	"github.com/tributary-dev/tributary/trace"
)

// A prompt of claude-text reads no file outside, and changes no setting of Claude Code.
func TestPromptsOfClaudeTextAreGuarded(t *testing.T) {
	t.Parallel()
	r, err := commandAdapter().New(agent.Settings{Preset: "claude-text", Command: "cat", Environ: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := r.(agent.Prober); !ok {
		t.Error("the guard hides whether the agent can start")
	}
	host := agenttest.NewHost()
	host.Dir = permissiontest.Workspace(t)
	s, err := r.Open(t.Context(), host, agent.Config{SessionID: "s", Cwd: host.Dir.Path()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for text, want := range map[string]string{
		"see @a.txt and @/etc/passwd":  "see @a.txt and @ /etc/passwd",
		"/config permissionMode=auto":  "the gateway refuses it",
		"/settings permissionMode=all": "the gateway refuses it",
	} {
		p := agent.Prompt{Message: trace.UserMessage{ID: "u", Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}}
		turn := host.Turn(p)
		if err := s.Prompt(t.Context(), p, turn.Builder); err != nil {
			t.Fatal(err)
		}
		stop, _ := turn.Result()
		if err := turn.Finish(stop); err != nil {
			t.Fatal(err)
		}
		if said := agenttest.Said(turn.Events()) + stop.Error; !strings.Contains(said, want) {
			t.Errorf("%q gives %q, want %q in it", text, said, want)
		}
	}
}
