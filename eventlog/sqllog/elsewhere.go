package sqllog

import (
	"context"
	"database/sql"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/tributary-dev/tributary/eventlog"
)

var _ eventlog.Shared = (*Store)(nil)

// Elsewhere implements eventlog.Shared. PostgreSQL notifies of each commit that changes a
// session, by a trigger. It needs one connection, and no query while nothing changes.
func (s *Store) Elsewhere(ctx context.Context) iter.Seq2[string, error] {
	if s.db.listen == nil {
		return nil
	}
	return func(yield func(string, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.life, cancel)() //nolint:contextcheck // the end of the store ends it too
		ended := false
		err := s.db.listen(ctx, func(payload string) bool {
			owner, session, _ := strings.Cut(payload, " ")
			if payload != "" && strings.HasPrefix(owner, s.gateway+":") {
				return true
			}
			ended = !yield(session, nil)
			return !ended
		})
		switch {
		case ended, err == nil, ctx.Err() != nil && s.life.Err() == nil:
		case s.life.Err() != nil:
			yield("", eventlog.ErrClosed)
		default:
			yield("", s.db.sentence(err))
		}
	}
}

// listenPostgres calls hear with "" once it hears, and then with the payload of each
// notification until hear returns false. The connection is not used again.
func listenPostgres(ctx context.Context, pool *sql.DB, hear func(payload string) bool) error {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer discard(conn)
	return conn.Raw(func(c any) error {
		conn := c.(*stdlib.Conn).Conn() //nolint:forcetypeassert // the pool has connections of this type only
		if _, err := conn.Exec(ctx, "LISTEN tributary_sessions"); err != nil {
			return err
		}
		for more := hear(""); more; {
			n, err := conn.WaitForNotification(ctx)
			if err != nil {
				return err
			}
			more = hear(n.Payload)
		}
		return nil
	})
}
