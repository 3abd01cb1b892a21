package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
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
	rows, err := r.to.QueryContext(ctx, `SELECT l.name, group_concat(c.name, ' '), group_concat(c.name || ' %[1]s', ', ' ORDER BY pk) FILTER (WHERE pk > 0), min(c.name) FILTER (WHERE pk = 1), wr
		FROM pragma_table_list l, pragma_table_info(l.name) c WHERE l.schema = 'main' AND l.type = 'table' AND l.name NOT LIKE 'sqlite_%' AND l.name NOT IN ('goose_db_version', 'store', 'searched')
		GROUP BY l.name ORDER BY l.name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says what matters
	for rows.Next() {
		var t table
		var columns string
		var withoutRowID bool
		if err := rows.Scan(&t.name, &columns, &t.order, &t.key, &withoutRowID); err != nil {
			return nil, err
		}
		if !withoutRowID { // in the order of the file, and not of an index
			t.order = "rowid %[1]s"
		}
		err := r.from.QueryRowContext(ctx, `SELECT COALESCE(group_concat(name, ', '), ''), count(*) FROM pragma_table_info($1) WHERE ' ' || $2 || ' ' LIKE '% ' || name || ' %'`, t.name, columns).Scan(&t.columns, &t.width)
		if err != nil || t.width == 0 {
			r.tables = append(r.tables, t.name)
			continue
		}
		all = append(all, t)
	}
	return all, rows.Err()
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
	rows, err := r.from.QueryContext(ctx, `SELECT `+t.columns+` FROM `+t.name+where+` ORDER BY `+fmt.Sprintf(t.order, direction), args...)
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

// count counts the whole records of each session. It makes the rows of turns again that could not be read.
func (r *recovery) count(ctx context.Context) error {
	type turn struct{ session, name string }
	ends := map[turn][2]uint64{}
	rows, err := r.to.QueryContext(ctx, `SELECT `+recordColumns+`, EXISTS (SELECT 1 FROM turns t WHERE t.session = r.session AND t.turn = r.turn) FROM records r ORDER BY session, seq`)
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // Err says what matters
	for rows.Next() {
		var known bool
		one, whole, err := scanRow(func(into ...any) error { return rows.Scan(append(into, &known)...) })
		if err != nil {
			return err
		}
		if !whole {
			continue
		}
		r.records[one.session]++
		of := turn{one.session, one.turn}
		if ends[of][0] == 0 && !known && one.turn != "" {
			ends[of] = [2]uint64{one.seq}
		}
		if ends[of][0] != 0 && one.kind == string(trace.KindStop) {
			ends[of] = [2]uint64{ends[of][0], one.seq}
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for of, at := range ends {
		_, err := r.to.ExecContext(ctx, beginTurn, of.session, of.name, at[0], turnSum(of.session, of.name, at[0]))
		if err == nil && at[1] != 0 {
			_, err = r.to.ExecContext(ctx, endTurn, of.session, of.name, at[1], turnSum(of.session, of.name, at[1]))
		}
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
		_, err := r.to.ExecContext(ctx, `INSERT INTO records (`+recordColumns+`) SELECT session, last, 0, '', '', NULL, NULL, 0, '', -1, -1 FROM places p
			WHERE session = $1 AND last > max(deleted_through, COALESCE((SELECT max(seq) FROM records r WHERE r.session = p.session), 0))`, session)
		if err != nil {
			return err
		}
	}
	return nil
}
