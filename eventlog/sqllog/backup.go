package sqllog

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// CopySQLite writes a consistent copy of an SQLite database of a gateway to a new file, which only
// this user may read. The gateway may run: nobody waits for the copy. A copy of a log has another epoch.
func CopySQLite(ctx context.Context, from, to string) (err error) {
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(to))
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if err := execute(ctx, dsn(from, "mode=ro"), `VACUUM INTO ?`, to); err != nil {
		return err
	}
	if filepath.Base(from) == databaseFile { // a new life begins when the copy is restored
		if err := execute(ctx, dsn(to, "_pragma=synchronous(OFF)"), `UPDATE store SET epoch = $1`, epoch()); err != nil {
			return fmt.Errorf("name the copy: %w", err)
		}
	}
	if f, err = os.OpenFile(to, os.O_RDWR, 0); err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// execute opens a database of SQLite for one statement.
func execute(ctx context.Context, source, statement string, args ...any) error {
	d, err := sql.Open("sqlite", source)
	if err != nil {
		return err
	}
	_, err = d.ExecContext(ctx, statement, args...)
	return errors.Join(err, d.Close())
}

// epoch is a new name for the life of a store.
func epoch() string {
	const enough = 8
	return rand.Text()[:enough]
}
