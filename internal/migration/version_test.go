package migration_test

import (
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver

	"github.com/tributary-dev/tributary/internal/migration"
)

// An upgrade is logged, a first start is not, and an older program refuses the tables.
func TestAnUpgradeIsLoggedAndANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	up := func(steps int) (logged string, err error) {
		var to strings.Builder
		files := fstest.MapFS{}
		for n := 1; n <= steps; n++ {
			files[fmt.Sprintf("%05d_step.sql", n)] = &fstest.MapFile{Data: fmt.Appendf(nil, "-- +goose Up\nCREATE TABLE t%d (x INT);\n", n)}
		}
		p, err := goose.NewProvider(goose.DialectSQLite3, db, fs.FS(files), goose.WithDisableGlobalRegistry(true))
		if err != nil {
			t.Fatal(err)
		}
		err = migration.Up(t.Context(), p, "tests", slog.New(slog.NewTextHandler(&to, nil)))
		return to.String(), err
	}
	version := func() int64 {
		v, err := migration.Version(t.Context(), file, "", "goose_db_version")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := version(); v != 0 {
		t.Errorf("before the first start the version is %d", v)
	}
	for _, c := range []struct {
		steps, then    int64
		logged, refuse string
	}{{1, 1, "", ""}, {1, 1, "", ""}, {3, 3, "of=tests from=1 to=3", ""}, {2, 3, "", "its schema has version 3 and this program knows versions up to 2"}} {
		logged, err := up(int(c.steps))
		if (c.logged == "") != (logged == "") || !strings.Contains(logged, c.logged) {
			t.Errorf("%d steps: logged %q", c.steps, logged)
		}
		if (c.refuse == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.refuse) {
			t.Errorf("%d steps: %v", c.steps, err)
		}
		if v := version(); v != c.then {
			t.Errorf("after %d steps the version is %d", c.steps, v)
		}
	}
}
