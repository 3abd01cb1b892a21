package agentset

import (
	"net/url"
	"os"
	"path/filepath"
)

// DatabaseVariables are the environment variables from which the driver of PostgreSQL takes a password.
func DatabaseVariables(db string) []string {
	if db == "" {
		return nil
	}
	return []string{"PGPASSWORD", "PGSSLPASSWORD"}
}

// DatabaseFiles are the files from which the driver of PostgreSQL takes the password, and
// the key of the client's certificate.
func DatabaseFiles(db string) []string {
	at, err := url.Parse(db)
	if db == "" || err != nil {
		return nil
	}
	home, _ := os.UserHomeDir() // without one there is no such file
	var all []string
	for _, f := range []struct{ parameter, variable, home string }{
		{"passfile", "PGPASSFILE", ".pgpass"}, {"sslkey", "PGSSLKEY", ".postgresql/postgresql.key"}, {"servicefile", "PGSERVICEFILE", ".pg_service.conf"},
	} {
		for _, path := range []string{at.Query().Get(f.parameter), os.Getenv(f.variable), filepath.Join(home, f.home)} {
			if path != "" {
				all = append(all, path)
			}
		}
	}
	return all
}
