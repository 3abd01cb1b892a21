package sqllog

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-dev/tributary/internal/migration"
)

// SchemaVersions returns the version of the schema in the database, 0 if there is none, and the
// version to which Open would bring it. SchemaVersions changes nothing. The error is a sentence.
func SchemaVersions(ctx context.Context, o Options) (there, own int64, err error) {
	s, _, err := migrations(o.URL != "")
	if err != nil {
		return 0, 0, err
	}
	own = int64(len(s.Steps))
	sentence := func(err error) error { return sqliteSentence(filepath.Join(o.Dir, databaseFile), err) }
	if o.URL != "" {
		config, err := pgx.ParseConfig(o.URL)
		if err != nil {
			return 0, own, errors.New("the URL of the database (--db) cannot be read: write postgres://user:password@host:5432/database, and %XX for characters that mean something in a URL")
		}
		sentence = func(err error) error {
			return postgresSentence(fmt.Sprintf("%s on %s", config.Database, config.Host), config.User, err)
		}
	}
	there, err = migration.Version(ctx, filepath.Join(o.Dir, databaseFile), o.URL, s.Table)
	return there, own, sentence(err)
}

// SameDatabase reports whether two URLs name one database of one server. The user and the settings
// of the connection may differ.
func SameDatabase(a, b string) bool {
	first, wrong := pgx.ParseConfig(a)
	second, err := pgx.ParseConfig(b)
	return wrong == nil && err == nil && first.Host == second.Host && first.Port == second.Port && first.Database == second.Database
}
