package readers_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/export/atif"
	"github.com/tributary-dev/tributary/export/exporttest"
	"github.com/tributary-dev/tributary/export/redact"
	"github.com/tributary-dev/tributary/trace"
)

// Harbor's validator takes the trajectories of all recordings of every adapter, in both versions of
// ATIF. It refuses one that is wrong, so it does look.
func TestHarborTakesEveryTrajectory(t *testing.T) {
	python := reader(t, "harbor")
	dir := t.TempDir()
	var files []string
	sessions := exporttest.Recorded(t, "../../adapter")
	for path, records := range sessions {
		for _, version := range []string{"1.7", "1.8"} {
			var b bytes.Buffer
			switch err := atif.Write(&b, exporttest.Durable(records), atif.Options{Version: version, Filter: redact.Filter{Agent: trace.AgentInfo{Name: "recorded"}}}); {
			case errors.Is(err, atif.ErrNothing):
				continue
			case err != nil:
				t.Fatalf("%s: %v", path, err)
			}
			name := filepath.Join(dir, fmt.Sprintf("%s-%s.json", strings.NewReplacer("/", "_", "..", "").Replace(path), version))
			if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
	}
	if len(files) < len(sessions) {
		t.Fatalf("%d trajectories of %d sessions", len(files), len(sessions))
	}
	for line := range bytes.SplitSeq(run(t, python, append([]string{"validate_atif.py"}, files...)...), []byte("\n")) {
		if len(line) > 0 {
			t.Errorf("refused: %s", line)
		}
	}
	t.Logf("%d trajectories", len(files))

	wrong := filepath.Join(dir, "wrong.json")
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wrong, bytes.Replace(data, []byte(`"step_id":1`), []byte(`"step_id":7`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	var refused struct{ File string }
	if err := json.Unmarshal(run(t, python, "validate_atif.py", wrong), &refused); err != nil || refused.File != wrong {
		t.Errorf("the validator takes a trajectory whose steps begin with 7: %v", err)
	}
}
