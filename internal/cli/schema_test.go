package cli

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// An upgrade changes the tables without a way back, so the check before says it, and the start
// logs it.
func TestAnUpgradeOfTheSchemaIsAnnouncedAndLogged(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	conf := file(t, "tributary.yaml", "data: "+data)
	startServer(t, data).stop()
	check := func() result { return command(t, "", "config", "check", "--config", conf) }
	if r := check(); r.status != exitOK || strings.Contains(r.out, "schema") {
		t.Errorf("without an upgrade: %d %s%s", r.status, r.out, r.errors)
	}
	editLog(t, data, `ALTER TABLE store DROP COLUMN numbers_from; DROP TABLE gateways; ALTER TABLE places ADD COLUMN lease_until bigint NOT NULL DEFAULT 0; DROP VIEW trace; ALTER TABLE records DROP COLUMN id; ALTER TABLE records DROP COLUMN parent; ALTER TABLE records DROP COLUMN actor; ALTER TABLE records DROP COLUMN ns;
		ALTER TABLE searched DROP COLUMN seq; ALTER TABLE searched DROP COLUMN title; DROP TABLE grants; DROP TABLE exports; DROP INDEX turns_by_end; DELETE FROM goose_db_version WHERE version_id > 3`)
	before := filesIn(t, data)
	if r := check(); r.status != exitOK || !strings.Contains(r.out, "brings the schema of the database from version 3 to ") {
		t.Errorf("before an upgrade: %d %s%s", r.status, r.out, r.errors)
	}
	if after := filesIn(t, data); after != before {
		t.Errorf("the check changes the data directory: %s, before %s", after, before)
	}
	s := startServer(t, data)
	if text := s.errors.String(); !strings.Contains(text, "the schema of the database was brought to the version of this program") || !strings.Contains(text, `"from":3`) {
		t.Errorf("the log says nothing of the upgrade:\n%s", text)
	}
	if r := check(); r.status != exitOK || strings.Contains(r.out, "schema") {
		t.Errorf("beside a gateway: %d %s%s", r.status, r.out, r.errors)
	}
	s.stop()
	editLog(t, data, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, 1)`)
	check().want(t, exitFailed, "has version 99 and this program knows versions up to")
	editLog(t, data, `DELETE FROM goose_db_version WHERE version_id = 99`)

	// The tables of tokens and sign-ins have a version of their own.
	edit(t, data, "access.db", `INSERT INTO access_version (version_id, is_applied) VALUES (99, 1)`)
	says := "has version 99 and this program knows versions up to 2: start the newer tributary that wrote it"
	check().want(t, exitFailed, "the schema of tokens and sign-ins "+says)
	command(t, "", "serve", "--listen", "127.0.0.1:0", "--data", data).want(t, exitFailed, says)
}

func editLog(t *testing.T, data, statements string) { edit(t, data, "tributary.db", statements) }

func edit(t *testing.T, data, file, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(data, file))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}

func filesIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range files {
		all = append(all, f.Name())
	}
	return strings.Join(all, " ")
}
