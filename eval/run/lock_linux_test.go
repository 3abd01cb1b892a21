package run_test

import (
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/eval/run"
	"github.com/tributary-dev/tributary/internal/testkit/openfiles"
)

// A process that is being started has the files of this one for a moment. It does not keep results locked that were
// closed.
func TestClosedResultsAreFreeThoughAnotherProcessHasTheirFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := run.OpenResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	openfiles.Share(t, filepath.Join(dir, run.ResultsFile))
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := run.OpenResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}
