package sqllog_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/eventlog/sqllog"
	"github.com/tributary-dev/tributary/trace"
)

// older has the database at an earlier version of the schema, and a gateway beside that a newer program
// knows by its lock, or one of an early release by its lease only.
func older(t *testing.T, back string) (o sqllog.Options, exec func(string)) {
	t.Helper()
	o = sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)}
	s, err := sqllog.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), "s", "t", oneEvent("a", trace.Message{Part: "p", Text: "x"})); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db := behind(t, o)
	db.SetMaxOpenConns(1)
	exec = func(query string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatal(err)
		}
	}
	exec(back)
	return o, exec
}

const (
	joins  = `SELECT pg_advisory_lock_shared(8390884927258912115)` // "tribpres"
	leaves = `SELECT pg_advisory_unlock_shared(8390884927258912115)`
)

func TestAStepThatOlderGatewaysCannotBearWaitsForTheirEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ comes, goes string }{
		"a gateway with the lock": {joins, leaves},
		"a gateway of an early release with a session": {
			`UPDATE places SET owner = 'other:1', lease_until = extract(epoch FROM clock_timestamp()) * 1000 + 3600000`,
			`UPDATE places SET owner = '', lease_until = 0`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o, exec := older(t, step6+"; "+step1)
			exec(c.comes)
			_, err := sqllog.Open(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), "stop all of them first") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("a start beside an older gateway: %v", err)
			}
			exec(`SELECT unfinished FROM sessions`) // nothing has changed
			exec(c.goes)
			open(t, o)
		})
	}
}

func TestAStepThatOlderGatewaysCanBearIsDoneBesideThem(t *testing.T) {
	t.Parallel()
	o, exec := older(t, `DELETE FROM goose_db_version WHERE version_id > 10; DROP TABLE gateways; ALTER TABLE store DROP COLUMN numbers_from`)
	exec(joins)
	open(t, o)
}

// The lease of a process of the same data directory that was killed holds nothing up.
func TestAnEarlierProcessOfAGatewayDoesNotCount(t *testing.T) {
	t.Parallel()
	o, exec := older(t, step6+"; "+step1)
	name, err := os.ReadFile(o.Dir + "/gateway")
	if err != nil {
		t.Fatal(err)
	}
	exec(`UPDATE places SET owner = '` + strings.Fields(string(name))[0] + `:1', lease_until = extract(epoch FROM clock_timestamp()) * 1000 + 3600000`)
	open(t, o)
}

// Two gateways of the same version that start at once on an older database wait for each other.
func TestGatewaysThatStartTogetherBringTheSchemaUpOnce(t *testing.T) {
	t.Parallel()
	o, _ := older(t, step6+"; "+step1)
	errs := make(chan error, 3)
	for range cap(errs) {
		o := sqllog.Options{Dir: t.TempDir(), URL: o.URL}
		go func() {
			s, err := sqllog.Open(t.Context(), o)
			if err == nil {
				err = s.Close()
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// A step that takes something away must say that no older gateway may run beside it.
func TestAStepThatTakesSomethingAwayIsMarked(t *testing.T) {
	t.Parallel()
	takes := regexp.MustCompile(`(?i)\bRENAME\b|\bDROP (COLUMN|TABLE|TRIGGER|VIEW|FUNCTION)\b|\bALTER COLUMN\b`)
	files, err := os.ReadDir("schema")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, f := range files {
		step, err := os.ReadFile("schema/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		if !takes.Match(step) {
			continue
		}
		if found++; !strings.Contains(string(step), "-- alone:") {
			t.Errorf("%s takes something away that older gateways use: add a line `-- alone:` with the reason, or leave the thing for a release", f.Name())
		}
	}
	if found == 0 {
		t.Error("no step is found that takes something away: this test looks for them in the wrong way")
	}
}

// A gateway is not reachable for prompts while its database does not answer, whichever way is cut.
func TestAStoreKnowsWhetherItsDatabaseAnswers(t *testing.T) {
	t.Parallel()
	s, p := held(t, sqllog.Options{Dir: t.TempDir(), URL: postgres.Database(t)})
	is := func(what string, reachable bool) {
		t.Helper()
		for began := time.Now(); (s.Reachable() == nil) != reachable; time.Sleep(10 * time.Millisecond) {
			if time.Since(began) > 30*time.Second {
				t.Fatalf("%s: %v", what, s.Reachable())
			}
		}
	}
	is("at the start", true)
	p.Hold(true, false)
	is("nothing reaches the database", false)
	p.Hold(false, false)
	is("it does again", true)
	p.Hold(false, true)
	is("nothing comes back of the database", false)
	p.Hold(false, false)
	is("it does again", true)
}
