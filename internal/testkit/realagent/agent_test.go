//go:build unix

package realagent_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/realagent"
	"github.com/tributary-dev/tributary/internal/testkit/scriptedmodel"
)

func TestClaudeRunsATurn(t *testing.T) {
	t.Parallel()
	a := realagent.Claude(t)
	cmd := exec.CommandContext(t.Context(), a.Path, "-p", "--output-format", "stream-json", "--input-format", "stream-json", "--verbose")
	cmd.Dir, cmd.Env = a.Dir, a.Env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Stdin = strings.NewReader(`{"type":"user","message":{"role":"user","content":"[[script:read ` + a.Dir + `/hello.txt]]"}}` + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("Claude Code failed: %v\n%s%s", err, out, stderr.Bytes())
	}
	var result struct {
		Type    string `json:"type"`
		IsError bool   `json:"is_error"`
		Result  string `json:"result"`
	}
	lines := bufio.NewReader(bytes.NewReader(out))
	for result.Type != "result" {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("no result line in:\n%s%s", out, stderr.Bytes())
		}
		if err := json.Unmarshal(line, &result); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
	}
	if want := "hello from a file"; result.IsError || !strings.Contains(result.Result, want) {
		t.Errorf("result %+v; want one that quotes %q", result, want)
	}
	var steps []int
	for _, r := range a.Model.Requests() {
		if r.Kind == "answer" && r.Directive == (scriptedmodel.Directive{Name: "read", Arg: a.Dir + "/hello.txt"}) {
			steps = append(steps, r.Step)
		}
	}
	if len(steps) != 2 || steps[0] != 0 || steps[1] != 1 {
		t.Errorf("the model played the steps %v; want 0 and 1", steps)
	}
}
