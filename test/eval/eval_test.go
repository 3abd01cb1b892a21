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

// differs are the runs that an agent does in its own way, so that the task is not solved.
func differs() map[string]string {
	return map[string]string{
		"denied-file codex-acp": "a refused edit ends its turn as canceled",
		"look opencode":         "its read puts the file's address and numbers of lines into the text",
	}
}

// TestTasksWithRealAgents runs the suite with real agents, and with the scripted model in the place of their providers:
// two tasks with Claude Code and Codex, and in make eval all ten with all agents of the suite.
func TestTasksWithRealAgents(t *testing.T) {
	t.Parallel()
	full := os.Getenv("TRIBUTARY_TEST_FULL") != ""
	agents, names := map[string]any{}, []string{"claude", "codex"}
	if full {
		names = append(names, "claude-acp", "codex-acp", "opencode")
	}
	for _, name := range names {
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
	program := os.Getenv("TRIBUTARY_BINARY")
	if program == "" {
		program = filepath.Join(t.TempDir(), "tributary")
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../cmd/tributary").CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
	}
	args, runs := []string{"eval", "run", "suite.yaml", "--config", "tributary.yaml", "--jobs", "2"}, 10*len(names)
	for _, name := range names {
		args = append(args, "--agent", name)
	}
	if !full {
		args, runs = append(args, "--case", "typo", "--case", "denied-command"), 4
	}
	run := exec.CommandContext(t.Context(), program, args...)
	run.Dir, run.Env = dir, append(os.Environ(), "TMPDIR="+t.TempDir())
	out, err := run.CombinedOutput()
	t.Logf("%s", out)
	rows := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if passed := strings.Contains(line, " 1/1 "); passed || strings.Contains(line, " 0/1 ") {
			rows++
			if run := fields[0] + " " + fields[1]; passed == (differs()[run] != "") {
				t.Errorf("%s: passed is %v", run, passed)
			}
		}
	}
	if rows != runs || (err == nil) == full {
		t.Errorf("%v: %d rows of %d runs", err, rows, runs)
	}
}
