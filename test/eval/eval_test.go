//go:build unix

// Package eval_test runs ten small tasks with real agents, by tributary eval run.
package eval_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
)

// TestTasksWithRealAgents runs the suite with Claude Code and Codex, and with the scripted model in the place of
// their providers: two tasks, and all ten in make eval.
func TestTasksWithRealAgents(t *testing.T) {
	t.Parallel()
	agents := map[string]any{}
	for _, name := range []string{"claude", "codex"} {
		a := realagent.Get(t, name)
		settings := map[string]any{}
		if a.Options != nil {
			settings = a.Options(a.Dirs)
		}
		settings["command"], settings["env"] = a.Path, a.Settings
		agents[name] = settings
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	configuration, err := json.Marshal(map[string]any{"agents": agents})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tributary.yaml"), configuration, 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "tributary")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/tributary").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	args, runs := []string{"eval", "run", "suite.yaml", "--config", "tributary.yaml", "--jobs", "2"}, 20
	if os.Getenv("TRIBUTARY_TEST_FULL") == "" {
		args, runs = append(args, "--case", "typo", "--case", "denied-command"), 4
	}
	run := exec.CommandContext(t.Context(), program, args...)
	run.Dir, run.Env = dir, append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || strings.Count(string(out), " 1/1 ") != runs {
		t.Errorf("%v: not all of %d runs passed", err, runs)
	}
}
