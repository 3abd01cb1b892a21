package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConvertAgentOps converts every recording of Agent Ops, by default and with
// compat: rfc, to what the decoder's golden files hold.
func TestConvertAgentOps(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../test/recordings/agentops/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		for golden, args := range map[string][]string{
			name + ".jsonl":   {"--to", "trace"},
			name + ".sse":     nil,
			name + ".rfc.sse": {"--compat", "rfc"},
		} {
			want, err := os.ReadFile(filepath.Join("../../adapter/agentops/testdata/golden", golden))
			if err != nil {
				t.Fatal(err)
			}
			got := command(t, "", append(append([]string{"convert", "--from", "agentops"}, args...), file)...)
			got.want(t, exitOK, "")
			if got.out != string(want) {
				t.Errorf("%s %v is not %s", file, args, golden)
			}
		}
	}
}
