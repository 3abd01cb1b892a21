package cli

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The database of a gateway may stand on its command line only, as in compose.yaml. A command in
// the same container must not write tokens into a store that no gateway reads.
func TestCommandsUseTheStoreOfTheGateway(t *testing.T) {
	t.Parallel()
	db, data := postgres.Database(t), t.TempDir()
	s := startServer(t, data, "--db", db)
	created := command(t, "", "token", "create", "ada", "--data", data)
	created.want(t, exitOK, "This is the token of ada")
	if status, body := s.withToken(strings.TrimSpace(created.out), "GET", "/api/sessions", ""); status != http.StatusOK {
		t.Errorf("the gateway does not know the token: %d %s", status, body)
	}
	if list := command(t, "", "token", "list", "--data", data, "--db", db); !strings.Contains(list.out, "ada") {
		t.Errorf("the list in the database: %s%s", list.out, list.errors)
	}
	command(t, "", "signins", "list", "--data", data).want(t, exitOK, "")
	other, err := url.Parse(db)
	if err != nil {
		t.Fatal(err)
	}
	other.Path = "/another"
	for _, args := range [][]string{{"token", "create", "bob"}, {"token", "list"}, {"signins", "list"}} {
		r := command(t, "", append(args, "--data", data, "--db", other.String())...)
		r.want(t, exitUsage, "keeps its tokens and sign-ins in postgres")
		if strings.Count(r.errors, "\n") != 1 || r.out != "" {
			t.Errorf("more than a sentence: %s%s", r.out, r.errors)
		}
	}
	if _, err := os.Stat(filepath.Join(data, "access.db")); !os.IsNotExist(err) {
		t.Errorf("there is a second store: %v", err)
	}
}

func TestCommandsRefuseADatabaseThatTheGatewayDoesNotUse(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	startServer(t, data)
	command(t, "", "token", "create", "ada", "--data", data, "--db", postgres.Database(t)).want(t, exitUsage, "keeps its tokens and sign-ins in that directory")
	command(t, "", "token", "create", "ada", "--data", data).want(t, exitOK, "This is the token of ada")
}

func TestNoPasswordIsInTheFileOfTheStore(t *testing.T) {
	t.Parallel()
	for db, want := range map[string]string{
		"postgres://ada:secret@db:5432/t?sslmode=disable":          "postgres://ada@db:5432/t?sslmode=disable",
		"postgres://db/t?user=ada&password=secret&sslpassword=too": "postgres://db/t?user=ada",
		"postgresql://ada@/t?host=/run/postgresql":                 "postgresql://ada@/t?host=%2Frun%2Fpostgresql",
		"": "files",
	} {
		data := t.TempDir()
		if err := noteStore(data, db); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(data, storeFile))
		if got := strings.TrimSpace(string(text)); err != nil || got != want {
			t.Errorf("%s: %q, %v", db, got, err)
		}
		if asked, err := storeOf(data, db); err != nil || asked != db {
			t.Errorf("%s: %q, %v", db, asked, err)
		}
	}
}
