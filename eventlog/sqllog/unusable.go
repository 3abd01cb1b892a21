package sqllog

import (
	"context"
	"database/sql"
	"errors"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file finds out that the store must not go on.

// witness is the newest record that the disk has, as far as the writer knows. A server that lacks commits which it has confirmed lacks
// the newest ones: with the witness all that was committed before it is there.
type witness struct {
	session     string
	seq         uint64
	connections int64 // that had been made when it was there last
}

// see takes the newest record of a commit that was synced.
func (w *witness) see(ops []*op) {
	for _, o := range ops {
		if n := len(o.rows); n > 0 {
			w.session, w.seq = o.se.id, o.rows[n-1].seq
		}
	}
}

// checkWitness looks for the witness in the database. A deletion may have removed it.
func (s *Store) checkWitness(ctx context.Context, tx *sql.Tx) error {
	if s.witness.seq == 0 {
		return nil
	}
	var there bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM records WHERE session = $1 AND seq = $2) OR EXISTS (SELECT 1 FROM places WHERE session = $1 AND deleted_through >= $2)`,
		s.witness.session, int64(s.witness.seq)).Scan(&there) //nolint:gosec // no session has 2^63 records
	if err == nil && !there {
		return eventlog.ErrCommitsLost
	}
	return err
}

// checkName returns ErrCopied if another process with the name of this gateway runs.
func (s *Store) checkName(ctx context.Context, tx *sql.Tx) error {
	var copied bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM gateways g WHERE g.name = $1 AND g.id <> $2 AND `+s.db.runs()+`)`, s.gateway, s.owner).Scan(&copied)
	if err == nil && copied {
		return eventlog.ErrCopied
	}
	return err
}

// giveUp ends the work of the store if the error says that it must not go on. Only the writer calls it.
func (s *Store) giveUp(err error) bool {
	if !errors.Is(err, eventlog.ErrCommitsLost) && !errors.Is(err, eventlog.ErrCopied) {
		return false
	}
	s.opts.Logger.Error("the log takes nothing more", "error", err)
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
