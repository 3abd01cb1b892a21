package sqllog

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file keeps the index of words that a search uses. A text gets into the index in the
// transaction of its record, and leaves the index in that of the rewind that removes it.

// text is the words of a record, with a space between them; a title has the number 0.
type text struct {
	session, turn string
	seq           uint64
	words         string
	// rewinds is the first message that the record removes from the history.
	rewinds string
	// message is that of a prompt. An earlier prompt of the turn with the same message had
	// another text.
	message string
}

// wordIndex is the index of a database.
type wordIndex interface {
	// add adds texts that are not there yet, of any sessions.
	add(ctx context.Context, tx *sql.Tx, texts []text) error
	// remove removes the texts of a session that have these numbers.
	remove(ctx context.Context, tx *sql.Tx, session string, seqs []int64) error
	// forget removes all texts of a session.
	forget(ctx context.Context, tx *sql.Tx, session string) error
	// find is a query for the sessions that have all words. Its arguments have the numbers
	// from n on. of is a query for the sessions in which it looks, or "" for all. With of it reads
	// nothing of other sessions: else its time would tell what words these have.
	find(words []string, n int, of string) (query string, args []any)
}

// textOf is what a record does to the index; ok is false if it does nothing.
func textOf(session, turn string, seq uint64, p trace.Payload) (t text, ok bool) {
	t = text{session: session, turn: turn, seq: seq}
	if r, is := p.(trace.Rewind); is {
		t.rewinds = r.To
		return t, true
	}
	t.words = strings.Join(eventlog.Words(eventlog.SearchedText(p)), " ")
	if prompt, is := p.(trace.Prompt); is {
		t.message = prompt.Message.ID
	}
	return t, t.words != "" || t.message != ""
}

// rewound are the numbers of the texts that a rewind removes: of the turn of its message the
// rest, and all of the turns that stand after that turn.
const rewound = `SELECT seq FROM records WHERE session = $1 AND kind IN ('prompt', 'message')
	AND (turn = $2 AND seq >= $3 OR turn IN (SELECT turn FROM turns WHERE session = $1 AND first > $4))`

// index does to the index what the records do, in their order.
func (s *Store) index(ctx context.Context, tx *sql.Tx, texts []text) error {
	var more []text
	add := func() (err error) {
		if len(more) > 0 {
			err = s.db.words.add(ctx, tx, more)
		}
		more = nil
		return err
	}
	for _, t := range texts {
		if t.rewinds != "" || t.message != "" {
			if err := add(); err != nil {
				return err
			}
		}
		var err error
		switch {
		case t.rewinds != "":
			err = s.rewindIndex(ctx, tx, t)
		case t.message != "":
			err = s.removeSeqs(ctx, tx, t, earlier, t.session, t.turn, t.message)
		}
		if err != nil {
			return err
		}
		if t.words != "" {
			more = append(more, t)
		}
	}
	return add()
}

// earlier are the numbers of the prompts of a turn with a message.
const earlier = `SELECT seq FROM records WHERE session = $1 AND turn = $2 AND message_id = $3 AND kind = 'prompt'
	AND seq >= (SELECT first FROM turns WHERE session = $1 AND turn = $2)`

// rewindIndex removes the texts that a rewind removes from the history.
func (s *Store) rewindIndex(ctx context.Context, tx *sql.Tx, t text) (err error) {
	var turn str
	var seq, first num
	err = tx.QueryRowContext(ctx, `SELECT r.turn, r.seq, t.first FROM records r JOIN turns t ON t.session = r.session AND t.turn = r.turn
		WHERE r.session = $1 AND r.message_id = $2 AND r.kind = 'prompt' AND r.seq < $3 ORDER BY r.seq DESC LIMIT 1`, t.session, t.rewinds, t.seq).Scan(&turn, &seq, &first)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.removeSeqs(ctx, tx, t, rewound, t.session, string(turn), int64(seq), int64(first))
}

// removeSeqs removes the texts before t whose numbers a query finds.
func (s *Store) removeSeqs(ctx context.Context, tx *sql.Tx, t text, query string, args ...any) error {
	rows, err := tx.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	var seqs []int64
	for rows.Next() {
		var seq num
		if err := rows.Scan(&seq); err != nil {
			return errors.Join(err, rows.Close())
		}
		if seq.seq() < t.seq {
			seqs = append(seqs, int64(seq))
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(seqs) == 0 {
		return err
	}
	return s.db.words.remove(ctx, tx, t.session, seqs)
}

// indexTitle puts the title of a session into the index, in the place of another one.
func (s *Store) indexTitle(ctx context.Context, tx *sql.Tx, session, title string) error {
	if err := s.db.words.remove(ctx, tx, session, []int64{0}); err != nil {
		return err
	}
	words := strings.Join(eventlog.Words(title), " ")
	if words == "" {
		return nil
	}
	return s.db.words.add(ctx, tx, []text{{session: session, words: words}})
}

// reindex puts all sessions into the index, once: those of a database from before the index,
// and those of a database that Recover has made. Searches find them as that goes on.
func (s *Store) reindex() {
	defer close(s.reindexed)
	var done num
	if err := s.db.read.QueryRowContext(s.life, `SELECT min(indexed) FROM store`).Scan(&done); err != nil || done != 0 {
		return
	}
	var ids []string
	err := s.each(s.life, func(scan func(...any) error) error {
		var id str
		err := scan(&id)
		ids = append(ids, string(id))
		return err
	}, `SELECT id FROM sessions`)
	for _, id := range ids {
		if s.isClosed() {
			return // the next start does it
		}
		if err == nil {
			err = s.do(&op{do: func(ctx context.Context, tx *sql.Tx) error { return s.reindexSession(ctx, tx, id) }})
		}
	}
	if err == nil {
		err = s.do(&op{do: func(ctx context.Context, tx *sql.Tx) error {
			_, err := s.db.exec(ctx, tx, `UPDATE store SET indexed = 1`)
			return err
		}})
	}
	if err != nil && !errors.Is(err, eventlog.ErrClosed) {
		s.opts.Logger.Warn("searches do not find all sessions: the next start completes the index", "error", s.db.sentence(err))
	}
}

// reindexSession makes the index of one session from its records.
func (s *Store) reindexSession(ctx context.Context, tx *sql.Tx, id string) error {
	var title str
	if err := tx.QueryRowContext(ctx, `SELECT title FROM sessions WHERE id = $1`, id).Scan(&title); err != nil {
		if errors.Is(err, sql.ErrNoRows) { // deleted meanwhile
			return nil
		}
		return err
	}
	texts, err := recordedTexts(ctx, tx, id)
	if err != nil {
		return err
	}
	if words := strings.Join(eventlog.Words(string(title)), " "); words != "" {
		texts = append([]text{{session: id, words: words}}, texts...)
	}
	if err := s.db.words.forget(ctx, tx, id); err != nil {
		return err
	}
	return s.index(ctx, tx, texts)
}

// recordedTexts reads what the records of a session do to the index.
func recordedTexts(ctx context.Context, tx *sql.Tx, id string) (texts []text, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT r.seq, r.turn, r.kind, r.id, r.body FROM records r JOIN places p ON p.session = r.session
		WHERE r.session = $1 AND r.seq > p.deleted_through AND r.kind IN ('prompt', 'message', 'rewind') ORDER BY r.seq`, id)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var seq num
		var turn, kind, body str
		var form opt
		if err := rows.Scan(&seq, &turn, &kind, &form, &body); err != nil {
			return nil, err
		}
		r, err := row{kind: string(kind), id: form.text, body: []byte(body)}.record()
		if err != nil {
			continue // damaged, which the inspection finds
		}
		if t, ok := textOf(id, string(turn), seq.seq(), r.Payload); ok {
			texts = append(texts, t)
		}
	}
	return texts, rows.Err()
}
