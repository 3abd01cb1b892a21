// Package migration holds what the schemas of the log and of the tokens need in common.
package migration

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// lockID is the advisory lock in PostgreSQL that a process holds while it makes tables.
const lockID = 0x7472696275746172 // "tributar"

// Lock lets one process at a time make tables in a PostgreSQL database. The others wait in
// the server, which wakes them at once. goose's own lock asks again every 5 seconds, so
// gateways that start together would wait longer than they may.
type Lock struct{}

// SessionLock waits for the lock.
func (Lock) SessionLock(ctx context.Context, c *sql.Conn) error {
	if _, err := c.ExecContext(ctx, `SELECT pg_advisory_lock($1)`, int64(lockID)); err != nil {
		return fmt.Errorf("wait for another process that makes the tables: %w", err)
	}
	return nil
}

// SessionUnlock gives the lock back.
func (Lock) SessionUnlock(ctx context.Context, c *sql.Conn) error {
	var held bool
	if err := c.QueryRowContext(ctx, `SELECT pg_advisory_unlock($1)`, int64(lockID)).Scan(&held); err != nil {
		return fmt.Errorf("give back the lock on the tables: %w", err)
	}
	if !held {
		return errors.New("the lock on the tables was lost while they were made")
	}
	return nil
}
