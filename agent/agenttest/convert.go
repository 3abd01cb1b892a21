package agenttest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/internal/testkit/replay"
	"github.com/tributary-dev/tributary/trace"
)

// UpdateEnv is the environment variable that makes [Convert] write its golden files.
const UpdateEnv = "AGENTTEST_UPDATE"

// Convert plays a recording through a decoder, checks each turn, and compares the
// records with a golden file, a line of JSON each. It returns the records. With
// AGENTTEST_UPDATE=1 in the environment the golden file is written.
func Convert(t testing.TB, d agent.Decoder, recording, want string) []trace.Record {
	t.Helper()
	data, err := os.ReadFile(recording) //nolint:gosec // the test names its recording
	if err != nil {
		t.Fatal(err)
	}
	var records []trace.Record
	if _, err := replay.Run(context.Background(), d, bytes.NewReader(data), func(r trace.Record) error {
		records = append(records, r)
		return nil
	}); err != nil {
		t.Errorf("%s: %v", recording, err)
	}
	checkTurns(t, records)
	golden(t, want, lines(t, records))
	return records
}

// checkTurns checks the grammar of every turn among the records.
func checkTurns(t testing.TB, records []trace.Record) {
	t.Helper()
	turns := map[string][]trace.Event{}
	var order []string
	for _, r := range records {
		if _, seen := turns[r.Turn]; !seen && r.Turn != "" {
			order = append(order, r.Turn)
		}
		turns[r.Turn] = append(turns[r.Turn], r.Event)
	}
	for _, turn := range order {
		if err := CheckTurn(turns[turn]); err != nil {
			t.Errorf("turn %s is not well formed: %v", turn, err)
		}
	}
}

func lines(t testing.TB, records []trace.Record) []byte {
	t.Helper()
	var out []byte
	for _, r := range records {
		line, err := r.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(append(out, line...), '\n')
	}
	return out
}

// golden compares with a file, line by line.
func golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if os.Getenv(UpdateEnv) != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path) //nolint:gosec // the test names its golden file
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		return
	}
	is, should := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
	for i := range max(len(is), len(should)) {
		var a, b []byte
		if i < len(is) {
			a = is[i]
		}
		if i < len(should) {
			b = should[i]
		}
		if !bytes.Equal(a, b) {
			t.Errorf("line %d differs from %s (%s=1 writes it):\ngot  %s\nwant %s", i+1, path, UpdateEnv, a, b)
			return
		}
	}
}
