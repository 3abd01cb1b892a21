package agentset

import (
	"cmp"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DatabaseVariables are the environment variables from which the driver of PostgreSQL takes a password.
func DatabaseVariables(db string) []string {
	if db == "" {
		return nil
	}
	return []string{"PGPASSWORD", "PGSSLPASSWORD"}
}

// DatabaseFiles are the files from which the driver of PostgreSQL takes the password and the key of the client's certificate.
// The directory of the server's sockets is among them: by a socket a server may let every process of the gateway's user in.
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
	return append(all, sockets(at)...)
}

// sockets are the directories where the sockets of the server are that a URL leads to. Of a directory with much else it is the
// socket itself.
func sockets(at *url.URL) (all []string) {
	hosts := cmp.Or(at.Query().Get("host"), at.Hostname(), os.Getenv("PGHOST"))
	if hosts == "" { // the first of these that is there
		hosts = "/var/run/postgresql,/run/postgresql,/private/tmp,/tmp"
	}
	port := cmp.Or(at.Query().Get("port"), at.Port(), os.Getenv("PGPORT"), "5432")
	for dir := range strings.SplitSeq(hosts, ",") {
		switch {
		case !filepath.IsAbs(dir):
		case slices.Contains([]string{"/tmp", "/private/tmp", "/var/tmp", "/", "/run", "/var/run"}, filepath.Clean(dir)):
			all = append(all, filepath.Join(dir, ".s.PGSQL."+port))
		default:
			all = append(all, dir)
		}
	}
	return all
}
