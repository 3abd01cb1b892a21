//go:build unix

package agentkit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/agent/agenttest"
)

// A variable of Spec.Files is the path of a file with its text, for as long as the process runs. A variable of Env is as it is.
func TestAProcessFindsTheFilesOfItsVariables(t *testing.T) {
	t.Parallel()
	out := t.TempDir()
	_, err := agentkit.Open(t.Context(), agenttest.NewHost(), agent.Config{Cwd: out}, agentkit.Spec{
		Adapter: "toy", Name: "The toy", Command: "/bin/sh", Env: []string{"PATH=" + os.Getenv("PATH"), "B=own"}, Files: map[string]string{"A": "settings", "B": "others"},
		Args: func(string) []string { return []string{"-c", `cat "$A" >text; echo "$A" >path; echo "$B" >own`} },
		New: func(c agentkit.Conn, _ string) agentkit.Protocol {
			return &toyProcess{conn: c, ready: make(chan struct{})}
		},
	})
	if err == nil {
		t.Error("a program that ends at once has become ready")
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(text))
	}
	if read("text") != "settings" || read("own") != "own" {
		t.Errorf("the process reads %q, and B is %q", read("text"), read("own"))
	}
	if _, err := os.Stat(filepath.Dir(read("path"))); !os.IsNotExist(err) {
		t.Errorf("the directory of the file is left behind: %v", err)
	}
}
