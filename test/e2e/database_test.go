package e2e

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/tributary-dev/tributary/internal/testkit/pgtest"
)

// testDB, in the environment, has all gateways of these tests keep their log in a
// PostgreSQL that the tests start.
const testDB = "TRIBUTARY_TEST_DB"

var postgres pgtest.Server

// database is the database of the gateway with that data directory.
func database(t *testing.T, data string) string {
	t.Helper()
	sum := sha256.Sum256([]byte(data))
	name := "e2e_" + hex.EncodeToString(sum[:8])
	postgres.Named(t, name)
	return postgres.URL(name)
}

// onSQLite skips a test that is about the files of SQLite.
func onSQLite(t *testing.T) {
	t.Helper()
	if os.Getenv(testDB) != "" {
		t.Skip("this test is about the files of SQLite")
	}
}
