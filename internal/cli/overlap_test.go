package cli

import (
	"os"
	"path/filepath"
	"testing"
)

// An agent reads its workspace without asking, so the workspace must not hold the data
// directory.
func TestADataDirectoryInAWorkspaceIsRefused(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	for _, dir := range []string{"work/data", "work/deep/er", "data/work", "other"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link-to-work": "work", "work/link-to-other": "other", "work/link-up": "."} {
		if err := os.Symlink(filepath.Join(base, to), filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	const refused = "overlap, so the agent could read the gateway's token and all sessions: choose another --data or another --cwd"
	for _, c := range []struct{ data, cwd, conf string }{
		{"work", "work", ""},
		{"work/data", "work", ""},
		{"work/new/er", "work", ""},
		{"work", "work/deep", ""},
		{"data", "data/work", ""},
		{"work/deep", "link-to-work", ""},
		{"link-to-work/data", "work", ""},
		{"link-to-work/new", "work", ""},
		{"work/link-up/work/new", "work", ""},
		{"work/../work/data", "work", ""},
		{"work/data", "other", "agents: {claude: {cwd: " + filepath.Join(base, "work") + "}}"},
	} {
		args := []string{"serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--data", filepath.Join(base, c.data), "--cwd", filepath.Join(base, c.cwd)}
		if c.conf != "" {
			args = append(args, "--config", file(t, "tributary.yaml", c.conf))
		}
		command(t, "", args...).want(t, exitUsage, refused)
	}
	for _, c := range []struct{ data, cwd string }{{"work/link-to-other", "work"}, {"work2", "work"}, {"data", "work"}, {"other", "work"}} {
		if data, cwd := filepath.Join(base, c.data), filepath.Join(base, c.cwd); within(data, cwd) || within(cwd, data) {
			t.Errorf("%s and %s are said to overlap", c.data, c.cwd)
		}
	}
	// The agents that touch no files may have any.
	s := startServer(t, filepath.Join(base, "work/data"), "--cwd", filepath.Join(base, "work"), "--config", file(t, "tributary.yaml", "agents: {demo: {}, echo: {}}"))
	s.stop()
}
