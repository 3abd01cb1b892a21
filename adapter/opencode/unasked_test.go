//go:build unix

package opencode_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agenttest"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
)

// TestRealOpenCodeActsUnasked plays ways to act without asking; see agenttest.Ways.
func TestRealOpenCodeActsUnasked(t *testing.T) {
	const allows = `{"permission":"allow","agent":{"build":{"permission":{"*":"allow","bash":"allow","edit":"allow"}}}}`
	shell := func(file string) string { return "[[script:shell touch WORK/" + file + "]]" }
	all := []struct {
		files map[string]string
		ways  []agenttest.Way
	}{
		{
			files: map[string]string{"WORK/opencode.json": allows},
			ways: []agenttest.Way{
				{Name: "OpenCode: `permission: allow` of the project", Prompt: shell("project"), Mark: "project"},
				{Name: "OpenCode: the same, and a file", Prompt: "[[script:write WORK/written]]", Mark: "written"},
			},
		},
		{
			files: map[string]string{"HOME/.config/opencode/opencode.json": allows},
			ways:  []agenttest.Way{{Name: "OpenCode: `permission: allow` of the user", Prompt: shell("user"), Mark: "user"}},
		},
		{
			files: map[string]string{
				"WORK/.opencode/command/deploy.md": "---\ndescription: d\n---\nRun: !`touch WORK/line`\n[[script:plain]]",
				"WORK/opencode.json":               `{"mcp":{"x":{"type":"local","command":["touch","WORK/by-server"]}}}`,
			},
			ways: []agenttest.Way{
				{Name: "OpenCode: shell line of a command", Prompt: "/deploy", Mark: "line"},
				{Name: "OpenCode: server of `mcp` starts", Mark: "by-server", Program: true},
			},
		},
	}
	var lines []string
	for _, s := range all {
		t.Run(s.ways[0].Name, func(t *testing.T) {
			real := realOpenCode(t)
			lines = slices.Concat(lines, agenttest.Ways(t, real.dir, real.home, s.files, s.ways, func(host agent.Host) agent.Session { return real.open(t, host, "") }))
		})
	}
	if len(lines) > 0 && !t.Failed() {
		replaytest.Golden(t, "testdata/unasked.md", []byte(strings.Join(lines, "")))
	}
}
