package agentset_test

import (
	"slices"
	"testing"

	"github.com/tributary-dev/tributary/session/agentset"
)

// PostgreSQL on a socket lets every process of the gateway's user in (peer), so the directory of the
// socket is closed to agents like a file with a password: who writes there makes tokens of admins.
func TestTheSocketOfTheDatabaseIsKeptFromAgents(t *testing.T) {
	t.Setenv("PGHOST", "/srv/sockets")
	for db, dir := range map[string]string{
		"postgres://tributary@/tributary?host=/run/postgresql": "/run/postgresql",
		"postgres:///tributary":                                "/srv/sockets",
	} {
		if all := agentset.DatabaseFiles(db); !slices.Contains(all, dir) {
			t.Errorf("%s: agents are kept from %q, and not from %s", db, all, dir)
		}
	}
}
