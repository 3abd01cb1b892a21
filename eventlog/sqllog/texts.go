package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file keeps the index of words that a search uses. A goroutine writes the index behind the records, in transactions
// of its own, so that no prompt and no answer waits for it.

const (
	// indexRecords is how many records one transaction adds to the index at most, so that appends get their turn in between.
	indexRecords = 200
	// indexLeave is how long Close waits for the index at most. The next start completes it.
	indexLeave = time.Second
)

// wordIndex is the index of a database.
type wordIndex interface {
	// add puts the words of a record, with a space between them, in the place of those with its number. A title has
	// the number 0. no is the number of the session in the table of searched sessions.
	add(ctx context.Context, tx *sql.Tx, session string, no int64, seq uint64, words string) error
	// remove removes the words with the numbers (seq) that a query finds. Its first argument is the session.
	remove(ctx context.Context, tx *sql.Tx, query, session string, args ...any) error
	// find is a query for the sessions that have all words. Its arguments have the numbers
	// from n on. of is a query for the sessions in which it looks, or "" for all. With of it reads
	// nothing of other sessions: else its time would tell what words these have.
	find(words []string, n int, of string) (query string, args []any)
}

// Queries for what leaves the index.
const (
	titleOf = `SELECT 0 AS seq`
	allOf   = `SELECT 0 AS seq UNION ALL SELECT seq FROM records WHERE session = $1 AND kind IN ('prompt', 'message')`
	// earlier are the versions before the prompt $2 with the message $3 in the turn $4.
	earlier = `SELECT seq FROM records WHERE session = $1 AND seq < $2 AND message_id = $3 AND $3 <> '' AND turn = $4 AND kind = 'prompt'
		AND seq >= (SELECT first FROM turns WHERE session = $1 AND turn = $4)`
	// rewound is what the rewind $2 to the message $3 removes: of the turn of the message the rest, and all of the turns that
	// stand after that turn.
	rewound = `SELECT r.seq FROM (SELECT p.turn, p.seq, t.first FROM records p JOIN turns t ON t.session = p.session AND t.turn = p.turn
			WHERE p.session = $1 AND p.seq < $2 AND p.message_id = $3 AND p.kind = 'prompt' ORDER BY p.seq DESC LIMIT 1) AS target
		JOIN records r ON r.session = $1 AND r.seq BETWEEN target.first AND $2 AND r.kind IN ('prompt', 'message') JOIN turns t ON t.session = r.session AND t.turn = r.turn
		WHERE r.turn = target.turn AND r.seq >= target.seq OR t.first > target.first`
)

// text is what a record does to the index.
type text struct {
	seq     uint64
	removes string // a query
	args    []any
	words   string
}

// unindexed are the sessions of which the index lacks something: those of a process that was killed, of a database
// that Recover has made, or of one from before the index.
func (s *Store) unindexed(ctx context.Context) (ids []string, err error) {
	err = eachRow(ctx, s.db.read, func(scan func(...any) error) error {
		ids = append(ids, "")
		return scan(&ids[len(ids)-1])
	}, `SELECT p.session FROM places p LEFT JOIN searched w ON w.session = p.session LEFT JOIN sessions s ON s.id = p.session
		WHERE COALESCE(w.title, '') <> COALESCE(s.title, '') OR EXISTS (SELECT 1 FROM records r
			WHERE r.session = p.session AND r.seq > p.deleted_through AND r.seq > COALESCE(w.seq, 0) AND r.kind IN ('prompt', 'message', 'rewind'))`)
	return ids, err
}

// indexSoon sees to it that the index gets what a session has now.
func (s *Store) indexSoon(id string) {
	s.mu.Lock()
	s.toIndex[id] = struct{}{}
	s.mu.Unlock()
	select {
	case s.moreToIndex <- struct{}{}:
	default:
	}
}

// keepIndex writes what the index lacks, and what changes, until the store closes.
func (s *Store) keepIndex() {
	lacking, err := s.unindexed(s.open)
	for s.open.Err() == nil {
		if err = errors.Join(err, s.indexChanged(s.open)); err != nil && s.open.Err() == nil {
			s.opts.Logger.Warn("searches do not find the newest words: the gateway tries again with the next change, and at its next start", "error", s.db.sentence(err))
		}
		if err = nil; len(lacking) > 0 { // one, and then again what has changed meanwhile
			s.indexSoon(lacking[0])
			lacking = lacking[1:]
			continue
		}
		select {
		case <-s.open.Done():
		case <-s.moreToIndex:
			select {
			case <-s.open.Done():
			case <-time.After(s.opts.indexDelay): // more changes come together
			}
		}
	}
}

// indexChanged brings the sessions that have changed up to date in the index. Those with an error come again with the next change.
func (s *Store) indexChanged(ctx context.Context) (err error) {
	s.mu.Lock()
	ids := slices.Collect(maps.Keys(s.toIndex))
	clear(s.toIndex)
	s.mu.Unlock()
	for _, id := range ids {
		more, wrong := true, error(nil)
		for more && wrong == nil {
			more, wrong = s.indexSession(ctx, id)
		}
		if wrong != nil {
			err = wrong
			s.mu.Lock()
			s.toIndex[id] = struct{}{}
			s.mu.Unlock()
		}
	}
	return err
}

// indexSession adds the next records of a session to the index, and its title, and tells whether there may be more records.
func (s *Store) indexSession(ctx context.Context, id string) (more bool, err error) {
	ctx, cancel := s.db.bounded(ctx, largestRecord)
	defer cancel()
	tx, err := s.db.begin(ctx, false)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	var no, seq, deleted num
	var before, title str
	// From here on no other gateway changes the index of the session.
	if err := tx.QueryRowContext(ctx, `INSERT INTO searched (session) VALUES ($1) ON CONFLICT (session) DO UPDATE SET session = excluded.session RETURNING no, seq, title`, id).Scan(&no, &seq, &before); err != nil {
		return false, err
	}
	if err := tx.QueryRowContext(ctx, `SELECT COALESCE((SELECT title FROM sessions WHERE id = $1), ''), COALESCE((SELECT deleted_through FROM places WHERE session = $1), 0)`, id).Scan(&title, &deleted); err != nil {
		return false, err
	}
	seq = max(seq, deleted)
	texts, err := textsAfter(ctx, tx, id, seq)
	if err != nil {
		return false, err
	}
	if n := len(texts); n > 0 {
		seq, more = num(texts[n-1].seq), n == indexRecords //nolint:gosec // no session has 2^63 records
	}
	if title != before {
		texts = append(texts, text{removes: titleOf, words: wordsOf(string(title))})
	}
	for _, t := range texts {
		if t.removes != "" {
			err = s.db.words.remove(ctx, tx, t.removes, id, t.args...)
		}
		if err == nil && t.words != "" {
			err = s.db.words.add(ctx, tx, id, int64(no), t.seq, t.words)
		}
		if err != nil {
			return false, err
		}
	}
	if _, err := tx.ExecContext(ctx, `UPDATE searched SET seq = $2, title = $3 WHERE session = $1`, id, int64(seq), string(title)); err != nil {
		return false, err
	}
	return more, tx.Commit()
}

// textsAfter reads what the records behind a number do to the index.
func textsAfter(ctx context.Context, tx *sql.Tx, id string, seq num) (texts []text, err error) {
	err = eachRow(ctx, tx, func(scan func(...any) error) error {
		var seq num
		var turn, kind, body str
		var form opt
		if err := scan(&seq, &turn, &kind, &form, &body); err != nil {
			return err
		}
		r, _ := row{kind: string(kind), id: form.text, body: []byte(body)}.record() // the inspection finds a damaged one
		t := text{seq: seq.seq(), words: wordsOf(eventlog.SearchedText(r.Payload))}
		if p, is := r.Payload.(trace.Rewind); is {
			t.removes, t.args = rewound, []any{t.seq, p.To}
		}
		if p, is := r.Payload.(trace.Prompt); is {
			t.removes, t.args = earlier, []any{t.seq, p.Message.ID, string(turn)}
		}
		texts = append(texts, t)
		return nil
	}, `SELECT seq, turn, kind, id, body FROM records WHERE session = $1 AND seq > $2 AND kind IN ('prompt', 'message', 'rewind') ORDER BY seq LIMIT $3`, id, int64(seq), indexRecords)
	return texts, err
}

func wordsOf(text string) string { return strings.Join(eventlog.Words(text), " ") }
