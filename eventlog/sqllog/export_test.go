package sqllog

import "context"

// Shared lets several stores use one database.
func Shared(o Options) Options {
	o.shared = true
	return o
}

// AwaitInspection returns when everything was looked at that is inspected after the start.
func AwaitInspection(s *Store) { <-s.inspected }

// Sweep does what happens each second. After two sweeps no durable record is in memory.
func Sweep(s *Store) { s.sweep() }

// AwaitIndex returns when all sessions are in the index of words that were not.
func AwaitIndex(s *Store) { <-s.reindexed }

// Synchronous is how SQLite has synced the newest commit: 2 waits for the disk, 1 does not.
func Synchronous(ctx context.Context, s *Store) (mode int, err error) {
	err = s.db.write.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&mode)
	return mode, err
}
