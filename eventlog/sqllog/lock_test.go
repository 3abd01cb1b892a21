package sqllog_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/sqllog"
)

// A data directory stays locked when somebody deletes its lock file.
func TestASecondGatewayIsRefusedThoughTheLockFileWasDeleted(t *testing.T) {
	onBoth(t, func(t *testing.T, o sqllog.Options) {
		s := open(t, o)
		if err := os.Remove(filepath.Join(o.Dir, "lock")); err != nil {
			t.Fatal(err)
		}
		if _, err := sqllog.Open(t.Context(), o); err == nil {
			t.Fatal("two gateways use one data directory")
		} else if _, held := errors.AsType[*eventlog.HeldError](err); !held {
			t.Errorf("the error is %v", err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		open(t, o)
	})
}
