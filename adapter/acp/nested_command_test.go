//go:build unix

package acp_test

import (
	"os"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/trace"
)

// A prompt counts as a command if a real agent takes it for one, also where the command's file lies in
// a folder: its shell lines run unseen, so only those who may approve send it.
func TestRealAgentsCommandsInFoldersAreCommands(t *testing.T) {
	if which := os.Getenv("TRIBUTARY_TEST_AGENTS"); which != "others" && which != "all" {
		t.Skip("these agents run with TRIBUTARY_TEST_AGENTS=others: make test-agents")
	}
	for name, folder := range map[string]string{"opencode-acp": ".opencode/command", "kilo": ".kilo/command"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const text = "/team/deploy"
			s := situation{
				agent: name, files: map[string]string{"WORK/" + folder + text + ".md": "---\ndescription: d\n---\nRun: !`touch WORK/nested`\n"},
				ways: []agenttest.Way{{Name: "ran", Prompt: text, Mark: "nested", Program: true, Lets: agenttest.LetsSettings}},
			}
			if line := s.play(t)[0]; line != "| ran | **open** |\n" {
				t.Fatalf("%s runs no shell line, although the person allows the project's settings: %s", text, line)
			}
			if names := agent.Commands(trace.UserMessage{Parts: []trace.InputPart{{Type: trace.InputText, Text: text}}}); len(names) == 0 {
				t.Errorf("%s runs a shell line, and the gateway takes the prompt for no command", text)
			}
		})
	}
}
