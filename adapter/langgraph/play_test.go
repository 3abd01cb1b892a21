package langgraph_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tributary-dev/tributary/adapter/langgraph"
	"github.com/tributary-dev/tributary/internal/testkit/replay/replaytest"
	"github.com/tributary-dev/tributary/trace"
)

const recordings = "../../test/recordings/langgraph"

// recorded returns a recording.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(recordings, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// names lists the recordings that match a pattern.
func names(t testing.TB, pattern string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(recordings, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings %s (%v)", pattern, err)
	}
	for _, f := range files {
		all = append(all, filepath.Base(f))
	}
	return all
}

// play plays a recording.
func play(t testing.TB, name string, o langgraph.Options) replaytest.Played {
	t.Helper()
	return replaytest.Play(t, langgraph.NewDecoder(o), recorded(t, name))
}

// outline lists the parts of a turn as a person reads them.
func outline(records []trace.Record) []string {
	var all []string
	for _, r := range records {
		switch p := r.Payload.(type) {
		case trace.Message:
			all = append(all, p.Text)
		case trace.Thought:
			all = append(all, "("+p.Text+")")
		case trace.ToolCall:
			all = append(all, p.RawName+string(p.Input))
		case trace.ToolResult:
			all = append(all, string(p.Status)+":"+p.Error+string(p.Output))
		case trace.PermissionRequest:
			all = append(all, "approve "+p.ToolCallID+"?")
		case trace.Question:
			all = append(all, p.Text+"?")
		case trace.Stop:
			all = append(all, strings.TrimSpace(string(p.Outcome)+" "+p.Reason+" "+p.Error))
		}
	}
	return all
}
