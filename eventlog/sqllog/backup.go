package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// CopySQLite writes a consistent copy of an SQLite database of a gateway to a new file, which only
// this user may read. The gateway may run: nobody waits for the copy. A gateway that starts with the copy of a log begins its numbers anew.
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
	if filepath.Base(from) == databaseFile {
		if err := execute(ctx, dsn(to, "_pragma=synchronous(OFF)"), `UPDATE store SET numbers_from = -1 - numbers_from WHERE numbers_from >= 0`); err != nil {
			return fmt.Errorf("mark the copy: %w", err)
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
