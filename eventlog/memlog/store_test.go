package memlog_test

import (
	"testing"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/eventlog/logtest"
	"github.com/tributary-dev/tributary/eventlog/memlog"
)

func TestStore(t *testing.T) {
	t.Parallel()
	logtest.Run(t, func(*testing.T) eventlog.Store { return memlog.New() })
}
