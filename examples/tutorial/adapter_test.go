//go:build unix

package tutorial_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/examples/tutorial"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

// parrot builds the agent.
func parrot(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "parrot")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./parrot")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the parrot: %v\n%s", err, out)
	}
	return program
}

// TestSuite is what every adapter passes.
func TestSuite(t *testing.T) {
	program := parrot(t)
	agenttest.Run(t, agenttest.Suite{
		Open: func(testing.TB) agent.Runtime { return tutorial.Runtime{Command: program} },
		Prompts: map[agenttest.Ability]string{
			agenttest.Text:       "hello",
			agenttest.Slow:       strings.Repeat("word ", 500),
			agenttest.Permission: "run date",
		},
		Runs:    agenttest.Tells("ran date", `{"command":"date"}`),
		Decoder: func() agent.Decoder { return tutorial.Decoder{} },
		Without: agenttest.WithoutFaults("the parrot is too well-behaved to play them"),
	})
}

func TestARecordingIsDecodedAsTheLiveAgentIs(t *testing.T) {
	t.Parallel()
	recording, err := os.ReadFile("testdata/run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	played := replaytest.Play(t, tutorial.Decoder{}, recording)
	answers := agenttest.Each[trace.PermissionResponse](replaytest.Events(played.Records))
	results := agenttest.Each[trace.ToolResult](replaytest.Events(played.Records))
	if len(answers) != 1 || !answers[0].Allowed() || len(results) != 1 || string(results[0].Output) != `"ran date"` {
		t.Errorf("the recording gives the answers %+v and the results %+v", answers, results)
	}
}
