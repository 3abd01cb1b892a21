package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file makes a new database of what can be read of a damaged one.

// Recovered is what Recover could read, and what it could not.
type Recovered struct {
	// Sessions are all sessions that the database names, in the order of their ids.
	Sessions []RecoveredSession
	// Tables could not be read to their end: they may have had more rows.
	Tables []string
	// Journal says that the database's journal lacks commits: the newest ones are lost.
	Journal bool
}

// RecoveredSession is a session of the new database.
type RecoveredSession struct {
	Session string
	// Records are whole, and Lost are known to be missing or damaged. Neighbours of a lost record
	// that nothing else names are not counted.
	Records, Lost int
	// Damage is a sentence about what is lost of the session, or empty.
	Damage string
}

// Recover copies what can be read of the SQLite database from into the new database to, which a
// gateway can use. It changes nothing at from, and a gateway must not use it. Sessions of which
// something is lost count as damaged in the new database. The error is a sentence.
func Recover(ctx context.Context, from, to string) (found Recovered, err error) {
	from, wrong := filepath.Abs(from)
	to, err = filepath.Abs(to)
	if err = errors.Join(wrong, err); err != nil {
		return found, err
	}
	if info, err := os.Stat(from); err != nil || !info.Mode().IsRegular() {
		return found, fmt.Errorf("%s is no file that can be read: name the database of a gateway, such as DATA/tributary.db", from)
	}
	if _, err := os.Lstat(to); !os.IsNotExist(err) {
		return found, fmt.Errorf("%s is there already: name a file that is not there yet", to)
	}
	unlock, err := lockIdle(filepath.Dir(from))
	if err != nil {
		return found, err
	}
	defer func() { err = errors.Join(err, unlock.Close()) }()
	room, err := os.MkdirTemp(filepath.Dir(to), ".recover-*")
	if err != nil {
		return found, fmt.Errorf("the directory of %s cannot be written: correct its permissions, or name another file: %w", to, reason(err))
	}
	defer func() { err = errors.Join(err, os.RemoveAll(room)) }()
	made := filepath.Join(room, databaseFile)
	r := recovery{sessions: map[string]struct{}{}, torn: map[string]struct{}{}}
	if err := r.run(ctx, from, made); err != nil {
		return found, err
	}
	found.Tables, found.Journal = r.tables, lacksCommits(from)
	if found.Sessions, err = count(ctx, room); err != nil {
		return found, err
	}
	return found, CopySQLite(ctx, made, to)
}

// lockIdle locks the directory of a database that no gateway uses. It makes no file there.
func lockIdle(dir string) (lock dirLock, err error) {
	for _, path := range []string{filepath.Join(dir, lockFile), dir} {
		f, err := os.Open(path)
		if err != nil {
			continue
		}
		free, failed := waitLock(f)
		if failed == nil && !free {
			held := &eventlog.HeldError{What: "the data directory " + dir, Holder: holder(f)}
			return nil, errors.Join(held, f.Close(), lock.Close())
		}
		lock = append(lock, f)
	}
	return lock, nil
}

// recovery copies rows from a damaged database to a new one.
type recovery struct {
	from, to *sql.DB
	sessions map[string]struct{} // that were named by a row
	torn     map[string]struct{} // sessions of which records could not be read
	tables   []string            // that could not be read to their end
	rows     int
}

// lenient has SQLite open a file that is cut short, and use what it can read of the schema.
const lenient = "_pragma=writable_schema(1)"

// run opens both databases and copies. A database with a journal is copied first, because reading
// it writes beside it.
func (r *recovery) run(ctx context.Context, from, made string) (err error) {
	source := dsn(from, lenient, "mode=ro", "immutable=1")
	if journal, err := os.Stat(from + "-wal"); err == nil && journal.Size() > 0 {
		scratch := made + ".old"
		if err := errors.Join(copyFile(from, scratch), copyFile(from+"-wal", scratch+"-wal")); err != nil {
			return fmt.Errorf("copy the database %s to be read: %w", from, err)
		}
		source = dsn(scratch, lenient)
	}
	if r.from, err = sql.Open("sqlite", source); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.from.Close()) }()
	r.from.SetMaxOpenConns(1)
	_, _ = r.from.ExecContext(ctx, `SELECT 1 FROM sqlite_master`) // the first statement fails if a part of the schema cannot be read; the next ones know the rest
	d, err := openFile(ctx, made, Options{NoSync: true}.withDefaults())
	if err != nil {
		return err
	}
	r.to = d.write
	defer func() { err = errors.Join(err, d.close()) }()
	if err := r.copyAll(ctx); err != nil {
		return err
	}
	if r.rows == 0 {
		return fmt.Errorf("nothing can be read of the database %s: restore a back-up, or try `.recover` of the program sqlite3", from)
	}
	return errors.Join(r.addTurns(ctx), r.addLost(ctx))
}

// count has a store look for damage in the new database, and counts.
func count(ctx context.Context, room string) (all []RecoveredSession, err error) {
	s, err := Open(ctx, Options{Dir: room, NoSync: true, recovering: true})
	if err != nil {
		return nil, err
	}
	<-s.inspected
	records, scanRow := map[string]int{}, rowScanner()
	err = eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		one, err := scanRow(scan)
		if err == nil && one.whole() {
			records[one.session]++
		}
		return err
	}, `SELECT `+recordColumns+` FROM records`)
	damage := s.Damage().Sessions
	ids := slices.Concat(slices.Collect(maps.Keys(records)), slices.Collect(maps.Keys(damage)))
	failed := eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		var id str
		err := scan(&id)
		ids = append(ids, string(id))
		return err
	}, `SELECT id FROM sessions`)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		one := RecoveredSession{Session: id, Records: records[id], Damage: damage[id]}
		for what := range s.damages.sessions[id] {
			if strings.HasPrefix(what, "record ") {
				one.Lost++
			}
		}
		all = append(all, one)
	}
	return all, errors.Join(err, failed, s.Close()) //nolint:contextcheck // Close has a bound of its own
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
