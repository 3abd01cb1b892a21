package sqllog_test

import (
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/internal/testkit/openfiles"
)

// A process that is being started has the files of this one for a moment. It does not keep a directory locked whose
// log was closed.
func TestAClosedLogFreesItsDirectoryThoughAnotherProcessHasItsFiles(t *testing.T) {
	o := sqllog.Options{Dir: t.TempDir()}
	s := open(t, o)
	openfiles.Share(t, filepath.Join(o.Dir, "lock"))
	openfiles.Share(t, o.Dir)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, o)
}
