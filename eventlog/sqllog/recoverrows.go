package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/trace"
)

// This file reads the rows of a damaged database around its damage.

// table is a table as it is copied. The first column of its key names a session or a grant.
type table struct {
	name, columns, key, order string
	width                     int
}

// tablesOf are the tables of the new database that Open cannot make again from the others, with the columns that
// the damaged one has.
func (r *recovery) tablesOf(ctx context.Context) (all []table, err error) {
	err = eachRow(ctx, r.to, func(scan func(...any) error) error {
		var t table
		var columns string
		var withoutRowID bool
		if err := scan(&t.name, &columns, &t.order, &t.key, &withoutRowID); err != nil {
			return err
		}
		if !withoutRowID { // in the order of the file, and not of an index
			t.order = "rowid %[1]s"
		}
		err := r.from.QueryRowContext(ctx, `SELECT COALESCE(group_concat(name, ', '), ''), count(*) FROM pragma_table_info($1) WHERE ' ' || $2 || ' ' LIKE '% ' || name || ' %'`, t.name, columns).Scan(&t.columns, &t.width)
		if err == nil && t.width > 0 {
			all = append(all, t)
		} else {
			r.tables = append(r.tables, t.name)
		}
		return nil
	}, `SELECT l.name, group_concat(c.name, ' '), group_concat(c.name || ' %[1]s', ', ' ORDER BY pk) FILTER (WHERE pk > 0), min(c.name) FILTER (WHERE pk = 1), wr
		FROM pragma_table_list l, pragma_table_info(l.name) c WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%' AND l.name NOT IN ('goose_db_version', 'store', 'searched', 'gateways')
		GROUP BY l.name ORDER BY l.name`)
	return all, err
}

// copyAll copies each table from both of its ends up to the damage, and then the rows of each known session in
// the same way.
func (r *recovery) copyAll(ctx context.Context) error {
	all, err := r.tablesOf(ctx)
	if err != nil {
		return err
	}
	var torn []table
	for _, t := range all {
		if whole, err := r.bothWays(ctx, t, ""); err != nil {
			return err
		} else if !whole {
			torn = append(torn, t)
		}
	}
	for _, t := range torn {
		r.tables = append(r.tables, t.name)
		for session := range r.sessions {
			var err error
			if t.name == "records" {
				err = r.recordsOf(ctx, t, session)
			} else {
				_, err = r.bothWays(ctx, t, " WHERE "+t.key+" = $1", session)
			}
			if err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// bothWays copies rows from the first one on, and from the last one on if that fails. Its error
// is one of the new database, or of the context.
func (r *recovery) bothWays(ctx context.Context, t table, where string, args ...any) (whole bool, err error) {
	if whole, _, err = r.copy(ctx, t, where, "ASC", args...); whole || err != nil {
		return whole, err
	}
	_, _, err = r.copy(ctx, t, where, "DESC", args...)
	return false, err
}

// recordsOf copies the records of a session around each damaged place: behind one it looks for the next
// record that can be read, twice as far each time, and reads from there in both directions.
func (r *recovery) recordsOf(ctx context.Context, t table, session string) error {
	const from, upTo, farthest = " WHERE session = $1 AND seq >= $2", " WHERE session = $1 AND seq <= $2", 1 << 50
	for at := int64(0); ; {
		whole, last, err := r.copy(ctx, t, from, "ASC", session, at)
		if whole || err != nil {
			return err
		}
		r.torn[session] = struct{}{}
		at = max(at, last+1)
		step, found := int64(1), false
		for ; !found && step < farthest; step *= 2 {
			var seq num
			err := r.from.QueryRowContext(ctx, `SELECT seq FROM records`+from+` ORDER BY seq LIMIT 1`, session, at+step).Scan(&seq)
			if errors.Is(err, sql.ErrNoRows) {
				return nil
			}
			if found = err == nil; found {
				at = int64(seq)
			}
		}
		if !found {
			return ctx.Err()
		}
		if _, _, err := r.copy(ctx, t, upTo, "DESC", session, at); err != nil {
			return err
		}
		at++
	}
}

// copy inserts rows as they are, in transactions of bounded size, until one cannot be read. Rows
// that are there already, or that no table takes, are passed over. last is the number of the last
// record.
func (r *recovery) copy(ctx context.Context, t table, where, direction string, args ...any) (whole bool, last int64, err error) {
	rows, err := r.from.QueryContext(ctx, `SELECT `+t.columns+` FROM `+t.name+where+` ORDER BY `+fmt.Sprintf(t.order, direction), args...) //nolint:gosec // names of our own tables
	if err != nil {
		return false, 0, ctx.Err()
	}
	defer rows.Close() //nolint:errcheck // Err says what matters
	values, into := make([]any, t.width), make([]any, t.width)
	for i := range values {
		into[i] = &values[i]
	}
	insert := `INSERT OR IGNORE INTO ` + t.name + ` (` + t.columns + `) VALUES (?` + strings.Repeat(", ?", t.width-1) + `)` //nolint:gosec // names of our own tables
	for more := true; more; {
		tx, err := r.to.BeginTx(ctx, nil)
		if err != nil {
			return false, last, err
		}
		for range fullPage {
			if more = rows.Next() && rows.Scan(into...) == nil; !more {
				break
			}
			if session, is := values[0].(string); is && session != "" && t.name != "grants" {
				r.sessions[session] = struct{}{}
			}
			if t.name == "records" {
				last, _ = values[1].(int64)
			}
			result, err := tx.ExecContext(ctx, insert, values...)
			if err != nil {
				return false, last, errors.Join(err, tx.Rollback())
			}
			added, _ := result.RowsAffected()
			r.rows += int(added)
		}
		if err := tx.Commit(); err != nil {
			return false, last, err
		}
	}
	return rows.Err() == nil, last, ctx.Err()
}

// addTurns makes the rows of turns again that could not be read.
func (r *recovery) addTurns(ctx context.Context) error {
	if !slices.Contains(r.tables, "turns") {
		return nil
	}
	var lost []row
	if err := eachRow(ctx, r.to, func(scan func(...any) error) error {
		var one row
		err := scan(&one.session, &one.turn, &one.prev, &one.seq)
		lost = append(lost, one)
		return err
	}, `SELECT session, turn, min(seq), max(CASE WHEN kind = $1 THEN seq ELSE 0 END) FROM records r
		WHERE turn <> '' AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.session = r.session AND t.turn = r.turn) GROUP BY session, turn`, trace.KindStop); err != nil {
		return err
	}
	for _, t := range lost {
		_, err := r.to.ExecContext(ctx, `INSERT INTO turns (session, turn, first, last, sum, end_sum) VALUES ($1, $2, $3, $4, $5, $6)`,
			t.session, t.turn, t.prev, t.seq, turnSum(t.session, t.turn, t.prev), turnSum(t.session, t.turn, t.seq))
		if err != nil {
			return err
		}
	}
	return nil
}

// addLost adds a record that fails its check to each session of which the newest records could not be read,
// so that the session counts as damaged.
func (r *recovery) addLost(ctx context.Context) error {
	for session := range r.torn {
		_, err := r.to.ExecContext(ctx, `INSERT INTO records (`+recordColumns+`) SELECT session, last, 0, '', '', NULL, NULL, 0, NULL, NULL, NULL, NULL, '', -1, -1 FROM places p
			WHERE session = $1 AND last > max(deleted_through, COALESCE((SELECT max(seq) FROM records r WHERE r.session = p.session), 0))`, session)
		if err != nil {
			return err
		}
	}
	return nil
}
