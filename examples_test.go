package tributary_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAnAgentInAModuleOfItsOwn builds and tests the example module as a stranger would, and
// runs a turn with its agent.
func TestAnAgentInAModuleOfItsOwn(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds the whole program")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("examples", "agent-module"))); err != nil {
		t.Fatal(err)
	}
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	mod := strings.ReplaceAll(text(t, "examples/agent-module/go.mod"), "=> ../..", "=> "+root)
	for name, content := range map[string]string{"go.mod": mod, "go.sum": text(t, "go.sum")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod -buildvcs=false", "GOPROXY=off", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("go", "test", "./...")
	run("go", "build", "-o", "program", ".")
	if out := run("./program", "run", "--agent", "shout", "hello"); out != "HELLO!\n" {
		t.Errorf("it says %q", out)
	}
	if out := run("./program", "agents"); !strings.Contains(strings.Join(strings.Fields(out), " "), "shout shout 1.0.0 ready") {
		t.Errorf("it is not listed:\n%s", out)
	}
	if err := os.WriteFile(filepath.Join(dir, "tributary.yaml"), []byte("agents: {loud: {adapter: shout, options: {mark: '?'}}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run("./program", "run", "hello"); out != "HELLO?\n" {
		t.Errorf("with options it says %q", out)
	}
}
