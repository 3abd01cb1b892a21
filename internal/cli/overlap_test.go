package cli

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/session/agentset"
)

// An agent reads its workspace without asking, so the workspace must not hold the data
// directory.
func TestADataDirectoryInAWorkspaceIsRefused(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, dir := range []string{"site/data", "site/deep/er", "data/site", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link-to-site": "site", "site/link-to-other": "other", "site/link-up": "."} {
		if err := os.Symlink(filepath.Join(base, to), filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	const refused = "overlap, so the agent could read the gateway's token and all sessions: choose another --data or another --cwd"
	for _, c := range []struct{ data, cwd, conf string }{
		{"site", "site", ""},
		{"site/data", "site", ""},
		{"site/new/er", "site", ""},
		{"site", "site/deep", ""},
		{"data", "data/site", ""},
		{"site/deep", "link-to-site", ""},
		{"link-to-site/data", "site", ""},
		{"link-to-site/new", "site", ""},
		{"site/link-up/site/new", "site", ""},
		{"site/../site/data", "site", ""},
		{"site/data", "other", "agents: {claude: {cwd: " + filepath.Join(base, "site") + "}}"},
	} {
		args := []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--data", filepath.Join(base, c.data), "--cwd", filepath.Join(base, c.cwd)}
		if c.conf != "" {
			args = append(args, "--config", file(t, "tributary.yaml", c.conf))
		} else {
			args = append(args, "--agent", "claude")
		}
		command(t, "", args...).want(t, exitUsage, refused)
	}
	for _, c := range []struct{ data, cwd string }{{"site/link-to-other", "site"}, {"site2", "site"}, {"data", "site"}, {"other", "site"}} {
		if data, cwd := filepath.Join(base, c.data), filepath.Join(base, c.cwd); agentset.Within(data, cwd) || agentset.Within(cwd, data) {
			t.Errorf("%s and %s are said to overlap", c.data, c.cwd)
		}
	}
	// An agent that is only offered is left out, and the demo agent starts.
	offered := startServer(t, filepath.Join(base, "site/data"), "--cwd", filepath.Join(base, "site"))
	if _, list := offered.do(http.MethodGet, "/api/agents", ""); !strings.Contains(list, `"demo"`) || strings.Contains(list, `"claude"`) {
		t.Errorf("the agents are %s", list)
	}
	offered.stop()
	if log := offered.errors.String(); !strings.Contains(log, `"an agent is not offered, because its workspace and the data directory overlap`) {
		t.Errorf("the log does not say so: %s", log)
	}
	// An agent that could read a secret of the configuration unasked does not get it.
	secret := filepath.Join(base, "site", "ci-token")
	if err := os.WriteFile(secret, []byte("a-token-of-a-program-0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	beside := func(agents string) []string {
		conf := file(t, "tributary.yaml", fmt.Sprintf("auth: {tokens: [{name: ci, role: admin, token_file: %s}]}\nagents: %s", secret, agents))
		return []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--data", filepath.Join(base, "apart"), "--cwd", filepath.Join(base, "site"), "--config", conf}
	}
	for _, agents := range []string{"{codex: {}}", "{gemini: {}}", "{tool: {adapter: command, command: cat}}", "{mine: {adapter: acp, command: cat}}", "{claude-text: {}}"} {
		command(t, "", beside(agents)...).want(t, exitUsage, "which can read it unasked: move the file to another directory")
	}
	startServer(t, filepath.Join(base, "apart"), append(beside("{demo: {}, claude: {}}")[3:], "--agent", "demo")...).stop()
	// The agents that touch no files may have any.
	s := startServer(t, filepath.Join(base, "site/data"), "--cwd", filepath.Join(base, "site"), "--config", file(t, "tributary.yaml", "agents: {demo: {}, echo: {}}"))
	s.stop()
}
