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
	d, err := sql.Open("sqlite", dsn(from, "mode=ro"))
	if err != nil {
		return err
	}
	_, err = d.ExecContext(ctx, `VACUUM INTO ?`, to)
	if err = errors.Join(err, d.Close()); err != nil {
		return err
	}
	if filepath.Base(from) == databaseFile {
		if err := newEpoch(ctx, to); err != nil {
			return err
		}
	}
	if f, err = os.OpenFile(to, os.O_RDWR, 0); err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// newEpoch names the life that begins when a copy is restored.
func newEpoch(ctx context.Context, path string) error {
	d, err := sql.Open("sqlite", dsn(path, "_pragma=synchronous(OFF)"))
	if err != nil {
		return err
	}
	_, err = d.ExecContext(ctx, `UPDATE store SET epoch = $1`, epoch())
	if err = errors.Join(err, d.Close()); err != nil {
		return fmt.Errorf("name the copy: %w", err)
	}
	return nil
}

// epoch is a new name for the life of a store.
func epoch() string {
	const enough = 8
	return rand.Text()[:enough]
}
