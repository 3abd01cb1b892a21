package migration_test

import (
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver

	"github.com/tributary-dev/tributary/internal/migration"
)

// byGoose are the tables of a program that had goose at its second step.
const byGoose = `CREATE TABLE goose_db_version (id INTEGER PRIMARY KEY AUTOINCREMENT, version_id INTEGER NOT NULL, is_applied INTEGER NOT NULL, tstamp TIMESTAMP DEFAULT (datetime('now')));
	INSERT INTO goose_db_version (version_id, is_applied) VALUES (0, 1), (1, 1), (2, 1); CREATE TABLE t1 (x INT); CREATE TABLE t2 (x INT);`

// An upgrade is logged, a first start is not, an older program refuses the tables, and a step that fails leaves nothing.
func TestUp(t *testing.T) {
	t.Parallel()
	type start struct {
		sql            string // before the start
		steps, then    int64
		logged, refuse string
	}
	for name, starts := range map[string][]start{
		"from nothing": {
			{"", 1, 1, "", ""}, {"", 1, 1, "", ""}, {"", 3, 3, "of=tests from=1 to=3", ""}, {"", 2, 3, "", "its schema has version 3 and this program knows versions up to 2"},
		},
		"after goose":      {{byGoose, 2, 2, "", ""}, {"", 4, 4, "from=2 to=4", ""}},
		"a lost version":   {{byGoose + `DELETE FROM goose_db_version WHERE version_id = 1`, 3, 2, "", "not one that a program has written"}},
		"a strange number": {{byGoose + `UPDATE goose_db_version SET version_id = 66 WHERE version_id = 2`, 3, 66, "", "not one that a program has written"}},
		"no version":       {{byGoose + `DELETE FROM goose_db_version`, 3, 0, "", "not one that a program has written"}},
		"a step fails":     {{byGoose + `CREATE TABLE t4 (x INT)`, 4, 2, "", "bring the schema to version 4"}, {`DROP TABLE t4`, 4, 4, "from=2 to=4", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "x.db")
			db, err := sql.Open("sqlite", "file:"+file)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			version := func(want int64) {
				t.Helper()
				if got, err := migration.Version(t.Context(), file, "", "goose_db_version"); err != nil || got != want {
					t.Errorf("the version is %d, and not %d: %v", got, want, err)
				}
			}
			version(0)
			for _, c := range starts {
				if _, err := db.ExecContext(t.Context(), c.sql); err != nil {
					t.Fatal(err)
				}
				s := migration.Schema{Table: "goose_db_version", What: "tests"}
				for n := range c.steps {
					s.Steps = append(s.Steps, fmt.Sprintf("CREATE TABLE t%d (x INT); CREATE INDEX i%d ON t%[1]d (x);", n+1, n+1))
				}
				var logged strings.Builder
				err := s.Up(t.Context(), db, slog.New(slog.NewTextHandler(&logged, nil)))
				if (c.logged == "") != (logged.Len() == 0) || !strings.Contains(logged.String(), c.logged) {
					t.Errorf("%d steps: logged %q", c.steps, &logged)
				}
				if (c.refuse == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.refuse) {
					t.Errorf("%d steps: %v", c.steps, err)
				}
				version(c.then)
			}
		})
	}
}
