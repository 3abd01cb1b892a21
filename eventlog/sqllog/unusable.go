package sqllog

import (
	"context"
	"database/sql"
	"errors"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file finds out that the store must not go on.

// syncedRecord is the newest record that the database has synced for this gateway. A server that lacks commits which it has confirmed
// lacks the newest ones. So if this record is there, all that was committed before it is.
type syncedRecord struct {
	session     string
	seq         uint64
	connections int64 // that had been made when it was there last
}

// keep takes the newest record of a commit that was synced.
func (r *syncedRecord) keep(ops []*op) {
	for _, o := range ops {
		if n := len(o.rows); n > 0 {
			r.session, r.seq = o.se.id, o.rows[n-1].seq
		}
	}
}

// checkNewestSynced looks for the newest synced record in the database. A deletion may have removed it.
func (s *Store) checkNewestSynced(ctx context.Context, tx *sql.Tx) error {
	if s.newestSynced.seq == 0 {
		return nil
	}
	var there bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM records WHERE session = $1 AND seq = $2) OR EXISTS (SELECT 1 FROM places WHERE session = $1 AND deleted_through >= $2)`,
		s.newestSynced.session, int64(s.newestSynced.seq)).Scan(&there) //nolint:gosec // no session has 2^63 records
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

// becomeUnusable ends the work of the store if the error says that it must not go on. Only the writer calls it.
func (s *Store) becomeUnusable(err error) bool {
	if !errors.Is(err, eventlog.ErrCommitsLost) && !errors.Is(err, eventlog.ErrCopied) {
		return false
	}
	s.opts.Logger.Error("the log takes nothing more", "error", err)
	if errors.Is(err, eventlog.ErrCommitsLost) { // other gateways take the sessions now, also those that lack records and have no owner
		ctx, cancel := s.db.bounded(s.life, 0)
		if err := s.beginNumbersAnew(ctx); err != nil {
			s.opts.Logger.Warn("numbers of lost records may be given again", "error", err)
		}
		cancel()
	}
	s.reason = err
	close(s.unusable)
	return true
}

// Unusable implements eventlog.Checked.
func (s *Store) Unusable() <-chan struct{} { return s.unusable }

// whyUnusable returns why the store must not go on, nil if it may.
func (s *Store) whyUnusable() error {
	select {
	case <-s.unusable:
		return s.reason
	default:
		return nil
	}
}
