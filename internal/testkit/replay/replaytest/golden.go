package replaytest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tributary-dev/tributary/trace"
)

var update = flag.Bool("update", false, "write the golden files anew") //nolint:gochecknoglobals // as flags are

// Updates reports whether this run writes the golden files.
func Updates() bool { return *update }

// Golden compares with a golden file; the flag -update writes it.
func Golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")); d != "" {
		t.Errorf("it differs from %s (-want +got; -update writes it):\n%s", path, d)
	}
}

// Lines are records as they are kept, a line each.
func Lines(t testing.TB, records []trace.Record) []byte {
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
