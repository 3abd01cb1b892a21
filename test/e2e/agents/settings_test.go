//go:build linux

package agents_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// TestRealClaudeStartsServersOfTheWorkspaceOnceAllowed: the whole gateway asks before Claude Code starts what a file of the workspace names.
//
//evidence:for promise-settings
func TestRealClaudeStartsServersOfTheWorkspaceOnceAllowed(t *testing.T) {
	for _, k := range chosen() {
		if k.Name != "claude" {
			continue
		}
		for _, answer := range []trace.OptionKind{trace.RejectOnce, trace.AllowOnce} {
			t.Run(string(answer), func(t *testing.T) {
				b := newBench(t, k)
				mark := filepath.Join(b.agent.Dir, "by-server")
				for path, text := range map[string]string{
					filepath.Join(b.agent.Home, ".claude/.claude.json"): fmt.Sprintf(`{"hasCompletedOnboarding":true,"projects":{%q:{"hasTrustDialogAccepted":true}}}`, b.agent.Dir),
					filepath.Join(b.agent.Dir, ".mcp.json"):             fmt.Sprintf(`{"mcpServers":{"x":{"command":"/bin/sh","args":["-c",%q]}}}`, "touch "+mark),
					filepath.Join(b.agent.Dir, ".claude/settings.json"): `{"enableAllProjectMcpServers":true}`,
				} {
					if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				b.start()
				asked := 0
				if _, err := b.turn("[[script:plain]]", patience, func(p trace.Payload) {
					if r, is := p.(trace.PermissionRequest); is {
						asked++
						b.answer(r, answer, false)
					}
				}); err != nil {
					t.Fatal(err)
				}
				started := func() bool {
					_, err := os.Stat(mark)
					return err == nil
				}
				for began := time.Now(); answer == trace.AllowOnce && !started() && time.Since(began) < patience; {
					time.Sleep(50 * time.Millisecond)
				}
				if started() != (answer == trace.AllowOnce) || asked != 1 {
					t.Errorf("the person was asked %d times, and the server was started: %v", asked, started())
				}
				b.end()
			})
		}
	}
}
