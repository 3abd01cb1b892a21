package readers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/otlp"
	"github.com/tributary-dev/tributary/trace"
)

// golden is an eval set that wants one call of the tool.
const golden = `{"eval_set_id":"set","name":"set","eval_cases":[{"eval_id":"case","conversation":[{"invocation_id":"1",
	"user_content":{"role":"user","parts":[{"text":"read"}]},
	"final_response":{"role":"model","parts":[{"text":"done"}]},
	"intermediate_data":{"tool_uses":[{"name":%q,"args":{"file_path":"/workspace/hello.txt"}}],"intermediate_responses":[]}}]}]}`

// agentevals judges the recorded call of Claude Code by the tool that was called, and counts the
// tokens that the agent has counted.
func TestAgentevalsJudgesTheCallsAndCountsTheTokens(t *testing.T) {
	program := filepath.Join(filepath.Dir(reader(t, "agentevals")), "agentevals")
	records := exporttest.File(t, "../../adapter/claude/testdata/golden/tool.jsonl")
	var input, output int64
	for _, r := range records {
		if u, is := r.Payload.(trace.Usage); is && u.Scope == trace.UsageTurn {
			input, output = u.InputTokens, u.OutputTokens
		}
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "spans.json")
	var b bytes.Buffer
	if turns, err := otlp.Write(&b, now(records), otlp.Options{}); err != nil || turns != 1 {
		t.Fatal(turns, err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for tool, passes := range map[string]bool{"Read": true, "Write": false} {
		set := filepath.Join(dir, tool+".json")
		if err := os.WriteFile(set, fmt.Appendf(nil, golden, tool), 0o600); err != nil {
			t.Fatal(err)
		}
		c := exec.CommandContext(t.Context(), program, "run", file, "-e", set, "-o", "json")
		out, err := c.Output()
		if (err == nil) != passes {
			t.Errorf("a call of Read, where %s was wanted: %v\n%s", tool, err, out)
		}
		var said struct {
			Metrics struct {
				Tokens struct {
					Input  int64 `json:"total_prompt"`
					Output int64 `json:"total_output"`
				} `json:"tokens"`
			} `json:"performance_metrics"`
		}
		if err := json.Unmarshal(out, &said); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if got := said.Metrics.Tokens; input == 0 || got.Input != input || got.Output != output {
			t.Errorf("the tokens are %+v, and the agent has counted %d and %d", got, input, output)
		}
	}
}

// now are the durable records with times of these days: those of a recording begin in 1970.
func now(records []trace.Record) func() iter.Seq2[trace.Record, error] {
	by := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Sub(time.Unix(0, 0))
	later := slices.Clone(records)
	for i := range later {
		later[i].Time = later[i].Time.Add(by)
	}
	return exporttest.Durable(later)
}
