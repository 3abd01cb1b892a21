package sqllog

import (
	"context"
	"errors"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// Shared lets several stores use one database.
func Shared(o Options) Options {
	o.shared = true
	return o
}

// CheckWithin bounds the check of the SQLite file.
func CheckWithin(o Options, d time.Duration) Options {
	o.check = d
	return o
}

// AwaitInspection returns when everything was looked at that is inspected after the start.
func AwaitInspection(s *Store) { <-s.inspected }

// Sweep does what happens each second. After two sweeps no durable record of a turn that is over is in memory.
func Sweep(s *Store) { s.sweep() }

// Forget does the same, and leaves no durable record in memory.
func Forget(s *Store) {
	s.sweep()
	for _, se := range s.all() {
		se.mu.Lock()
		if n := len(se.live.recent); n > 0 {
			s.resize(se, func(live *liveBuffer) { live.forget(live.recent[n-1].Seq) })
		}
		se.mu.Unlock()
	}
}

// IndexAfter has the index of words wait for more changes.
func IndexAfter(o Options, d time.Duration) Options {
	o.indexDelay = d
	return o
}

// HoldIndex returns when a store with IndexAfter waits for more changes. It indexes nothing before the time is over.
func HoldIndex(s *Store) {
	for s.moreToIndex <- struct{}{}; len(s.moreToIndex) > 0; time.Sleep(time.Millisecond) {
	}
}

// AwaitIndex brings the index of words up to date.
func (s *Store) AwaitIndex(ctx context.Context) error {
	ids, err := s.unindexed(ctx)
	for _, id := range ids {
		s.indexSoon(id)
	}
	return errors.Join(err, s.indexChanged(ctx))
}

// ListQuery is the statement for the first page of a list, with its arguments.
func ListQuery(s *Store, q eventlog.Query) (query string, args []any) {
	return s.db.list(q, 1<<62, "", 10)
}

// Synchronous is how SQLite has synced the newest commit: 2 waits for the disk, 1 does not.
func Synchronous(ctx context.Context, s *Store) (mode int, err error) {
	err = s.db.write.QueryRowContext(ctx, `PRAGMA synchronous`).Scan(&mode)
	return mode, err
}

// CountedBytes is what the store believes to have in memory.
func CountedBytes(s *Store) int64 { return s.liveBytes.Load() }

// JudgeAfter is for how long a gateway whose lock is free may renew nothing.
const JudgeAfter = judgeAfter

// Looks is how often a gateway has looked at the others.
func Looks(s *Store) int { return int(s.others.looks.Load()) }
