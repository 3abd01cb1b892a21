package sqllog

import (
	"context"
	"database/sql"
	"errors"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file finds out that the store must not go on. Each synced commit counts one up in the gateway's row of marks, and finds there the
// number of the commit before, unless PostgreSQL lacks commits that it has confirmed. After a new connection the next commit is synced,
// so that nothing is written on top of what is missing. The row is gone if another process with this gateway's name has begun.

// putMark begins to count. The rows of earlier processes of this gateway go, and those of gateways that have died long ago.
func (s *Store) putMark(ctx context.Context, tx *sql.Tx) error {
	_, err := s.db.exec(ctx, tx, `DELETE FROM marks WHERE gateway NOT IN (SELECT id FROM gateways)`)
	if err == nil {
		_, err = s.db.exec(ctx, tx, `INSERT INTO marks (gateway, mark) VALUES ($1, 0)`, s.owner)
	}
	return err
}

// countCommit counts the transaction. The row may have its number already, if the try before was committed and its answer was lost.
func (s *Store) countCommit(ctx context.Context, tx *sql.Tx) error {
	n, err := s.db.exec(ctx, tx, `UPDATE marks SET mark = $2 WHERE gateway = $1 AND mark IN ($2 - 1, $2)`, s.owner, s.mark+1)
	if err != nil || n != 0 {
		return err
	}
	var copied bool
	if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM gateways WHERE name = $1 AND id <> $2)`, s.gateway, s.owner).Scan(&copied); err != nil {
		return err
	}
	if copied {
		return eventlog.ErrCopied
	}
	return eventlog.ErrCommitsLost
}

// giveUp ends the work of the store if the error says that it must not go on. Only the writer calls it.
func (s *Store) giveUp(err error) bool {
	if !errors.Is(err, eventlog.ErrCommitsLost) && !errors.Is(err, eventlog.ErrCopied) {
		return false
	}
	s.reason = err
	close(s.unusable)
	return true
}

// Unusable implements eventlog.Checked.
func (s *Store) Unusable() <-chan struct{} { return s.unusable }

// ended returns why the store must not go on, nil if it may.
func (s *Store) ended() error {
	select {
	case <-s.unusable:
		return s.reason
	default:
		return nil
	}
}
