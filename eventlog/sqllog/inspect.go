package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file looks for damage after the start, so that nobody has to read a session to
// learn of it.

// inspect checks the registry, and the records of a database that has no checksums of its
// own. It works beside everything else, and ends when the store closes.
func (s *Store) inspect() {
	defer close(s.inspected)
	steps := []func(context.Context) error{s.inspectEntries, s.inspectPlaces, s.inspectMembers}
	if s.db.exclusive {
		steps = append(steps, s.inspectTurns, s.inspectRecords)
	}
	for _, step := range steps {
		if err := step(s.open); err != nil && !s.isClosed() {
			s.opts.Logger.Warn("the database is not inspected for damage", "error", s.db.sentence(err))
		}
	}
}

// inspectEntries checks the entries of sessions, and that each has a place.
func (s *Store) inspectEntries(ctx context.Context) error {
	return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		var placed bool
		var members int64
		e, err := scanEntry(scan, &placed, &members)
		if err == nil && !e.whole() {
			s.note(e.id, "its entry")
		} else if err == nil && !placed {
			s.note(e.id, "what says which of its records count")
		} else if err == nil && e.members != members {
			s.note(e.id, "a member")
		}
		return err
	}, `SELECT `+entryColumns+`, EXISTS (SELECT 1 FROM places WHERE session = id), (SELECT count(*) FROM members m WHERE m.session = id) FROM sessions`)
}

// inspectPlaces checks where sessions stand. A session whose entry is lost gets one without
// content, so that lists show it.
func (s *Store) inspectPlaces(ctx context.Context) error {
	var lost []string
	err := eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		var session str
		var listed bool
		p, err := scanPlace(scan, &session, &listed)
		switch {
		case err != nil:
			return err
		case p.session == "":
			s.note(string(session), "what says which of its records count")
		case p.registered != 0 && !listed:
			lost = append(lost, p.session)
		}
		return nil
	}, `SELECT session, last, deleted_through, registered, sum, session, EXISTS (SELECT 1 FROM sessions WHERE id = session) FROM places`)
	for _, session := range lost {
		s.list(session)
	}
	return err
}

// list gives a session that has lost its entry one without content, which fails its check.
func (s *Store) list(session string) {
	s.note(session, "its entry")
	now := time.Now().UnixMicro()
	if err := s.do(&op{do: func(ctx context.Context, tx *sql.Tx) error {
		_, err := s.db.exec(ctx, tx, `INSERT INTO sessions (`+entryColumns+`) VALUES ($1, '', '', '', '', 0, $2, 0, 0, 0, '', 0) ON CONFLICT (id) DO NOTHING`, session, now)
		return err
	}}); err != nil {
		s.opts.Logger.Warn("a damaged session is not listed", "session", session, "error", err)
	}
}

func (s *Store) inspectMembers(ctx context.Context) error {
	return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		var session, person, role str
		var sum num
		var placed bool
		err := scan(&session, &person, &role, &sum, &placed)
		if err == nil && (memberSum(string(session), string(person), string(role)) != int64(sum) || !placed) {
			s.note(string(session), "a member")
		}
		return err
	}, `SELECT session, person, role, sum, EXISTS (SELECT 1 FROM places WHERE places.session = members.session) FROM members`)
}

// inspectTurns checks that turns have their first record and their stop.
func (s *Store) inspectTurns(ctx context.Context) error {
	return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		var session, turn str
		var first, last, sum, end num
		var begun, ended bool
		err := scan(&session, &turn, &first, &last, &sum, &end, &begun, &ended)
		id, name := string(session), string(turn)
		switch {
		case err != nil:
		case turnSum(id, name, first.seq()) != int64(sum) || last != 0 && turnSum(id, name, last.seq()) != int64(end):
			s.note(id, "the place of a turn")
		case !begun:
			s.note(id, fmt.Sprint("record ", first))
		case !ended:
			s.note(id, fmt.Sprint("record ", last))
		}
		return err
	}, `SELECT session, turn, first, last, sum, end_sum, EXISTS (SELECT 1 FROM records r WHERE r.session = t.session AND seq = first),
		last = 0 OR EXISTS (SELECT 1 FROM records r WHERE r.session = t.session AND seq = last) FROM turns t`)
}

// inspectRecords reads the records of each session, and leaves the disk to others for most of the
// time.
func (s *Store) inspectRecords(ctx context.Context) error {
	const share = 4
	for id := str(""); ; {
		began := time.Now()
		if err := s.db.read.QueryRowContext(ctx, `SELECT session FROM records WHERE session > $1 ORDER BY session LIMIT 1`, id).Scan(&id); errors.Is(err, sql.ErrNoRows) {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.inspectSession(ctx, string(id)); err != nil {
			return err
		}
		if s.opts.recovering {
			continue
		}
		select {
		case <-s.open.Done():
			return eventlog.ErrClosed
		case <-time.After(share * time.Since(began)):
		}
	}
}

func (s *Store) inspectSession(ctx context.Context, id string) error {
	p, err := scanPlace(s.db.read.QueryRowContext(ctx, `SELECT session, last, deleted_through, registered, sum FROM places WHERE session = $1`, id).Scan)
	if errors.Is(err, sql.ErrNoRows) {
		s.list(id)
	} else if err != nil {
		return err
	}
	newest, scanRow := p.deletedThrough, rowScanner()
	return eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		r, err := scanRow(scan)
		switch {
		case err != nil:
			return err
		case !r.whole():
			s.note(id, fmt.Sprint("record ", r.seq))
			return nil
		case r.prev > newest && r.seq > newest:
			err = s.missing(ctx, id, r.prev)
		}
		newest = max(newest, r.seq)
		return err
	}, `SELECT `+recordColumns+` FROM records WHERE session = $1 ORDER BY seq`, id)
}

// missing notes that a record is missing, unless it was deleted meanwhile.
func (s *Store) missing(ctx context.Context, session string, seq uint64) error {
	var there bool
	p, err := scanPlace(s.db.read.QueryRowContext(ctx, `SELECT session, last, deleted_through, registered, sum, EXISTS (SELECT 1 FROM records r WHERE r.session = places.session AND seq = $2)
		FROM places WHERE session = $1`, session, seq).Scan, &there)
	if err == nil && !there && p.deletedThrough < seq {
		s.note(session, fmt.Sprint("record ", seq))
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}
