package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/trace"
)

// withoutAgent is a trace as a golden file has it: of no named session, and without what says which
// agent it is of.
func withoutAgent(t *testing.T, text string) string {
	t.Helper()
	var out []byte
	seq := uint64(0)
	for _, r := range records(t, text) {
		if data, is := r.Payload.(trace.Data); is {
			if _, agent := data.Agent(); agent {
				continue
			}
		}
		seq++
		r.Session, r.Seq = "recording", seq
		line, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, line...), '\n')
	}
	return string(out)
}

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
			if golden == name+".jsonl" {
				got.out, want = withoutAgent(t, got.out), []byte(withoutAgent(t, string(want)))
			}
			if got.out != string(want) {
				t.Errorf("%s %v is not %s", file, args, golden)
			}
		}
	}
}
