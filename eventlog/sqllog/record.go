package sqllog

import (
	"database/sql"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/trace"
)

// This file makes rows of durable records, and records of rows.

// row is a durable record as the database keeps it.
type row struct {
	session, turn, kind string
	// prev is the number of the durable record before it: the writer knows it.
	seq, prev       uint64
	message, person *string
	// at is in milliseconds since 1970, and ns are the nanoseconds behind it.
	at, ns int64
	// id is nil if the body is the whole record as one line of JSON: every record of an earlier version, and
	// one whose names no column takes. Else the body is the payload.
	id            *string
	parent, actor string
	body          []byte
	// The checksums as the database has them.
	sum, markSum int64
}

// encode makes the row of a durable record.
func encode(r trace.Record) (row, error) {
	id, parent := shorten(r.Turn, r.ID), shorten(r.Turn, r.Parent)
	made := row{session: r.Session, turn: r.Turn, seq: r.Seq, at: r.Time.UnixMilli()}
	var err error
	if whole := r.Payload == nil || r.Time.Year() < 0 || r.Time.Year() > 9999 || !plain(id) || !plain(parent) || !plain(string(r.Actor)) || !plain(string(r.Payload.Kind())); whole {
		made.body, err = r.AppendJSON(nil)
	} else {
		made.id, made.parent, made.actor, made.ns = &id, parent, string(r.Actor), int64(r.Time.Nanosecond()%int(time.Millisecond))
		made.body, err = trace.MarshalPayload(r.Payload)
	}
	if err != nil {
		return row{}, fmt.Errorf("write record %s: %w", r.ID, err)
	}
	made.kind = string(r.Payload.Kind())
	if m, ok := eventlog.MarkOf(r); ok {
		if !plain(m.Message) || !plain(m.By) {
			m.Message, m.By = "", ""
		}
		made.message, made.person = &m.Message, &m.By
	}
	return made, nil
}

// record is the record of a row.
func (r row) record() (made trace.Record, err error) {
	if r.id == nil {
		err = made.UnmarshalJSON(r.body)
		return made, err
	}
	payload, err := trace.UnmarshalPayload(trace.Kind(r.kind), r.body)
	at := time.UnixMilli(r.at).Add(time.Duration(r.ns)).UTC()
	return trace.Record{Session: r.session, Turn: r.turn, Seq: r.seq, Event: trace.Event{
		ID: lengthen(r.turn, *r.id), Time: at, Parent: lengthen(r.turn, r.parent), Actor: trace.Actor(r.actor), Payload: payload,
	}}, err
}

// shorten leaves out the turn with which the ids of its records begin, so that a dot at the beginning stands for it.
// Another id with a dot there becomes a text that no column takes.
func shorten(turn, id string) string {
	if rest, is := strings.CutPrefix(id, turn); is && turn != "" && strings.HasPrefix(rest, ".") {
		return rest
	}
	if strings.HasPrefix(id, ".") {
		return "\x00"
	}
	return id
}

func lengthen(turn, id string) string {
	if strings.HasPrefix(id, ".") {
		return turn + id
	}
	return id
}

// plain reports whether a column of every database takes the text. Others are
// read from the body.
func plain(text string) bool {
	const longest = 1000
	return len(text) <= longest && utf8.ValidString(text) && !strings.Contains(text, "\x00")
}

// recordColumns are the columns that rowScanner reads.
const recordColumns = `session, seq, prev, turn, kind, message_id, person, at, ns, id, parent, actor, body, sum, mark_sum`

// rowScanner returns a function that reads a record. The body of the record is good until the next call.
func rowScanner() func(scan func(...any) error) (row, error) {
	var session, turn, kind, parent, actor str
	var seq, prev, at, ns, sum, marks num
	var message, person, id opt
	var body sql.RawBytes
	columns := []any{&session, &seq, &prev, &turn, &kind, &message, &person, &at, &ns, &id, &parent, &actor, &body, &sum, &marks}
	return func(scan func(...any) error) (row, error) {
		err := scan(columns...)
		return row{
			session: string(session), seq: seq.seq(), prev: prev.seq(), turn: string(turn), kind: string(kind), message: message.text, person: person.text,
			at: int64(at), ns: int64(ns), id: id.text, parent: string(parent), actor: string(actor), body: body, sum: int64(sum), markSum: int64(marks),
		}, err
	}
}

// said reports whether what the record says is as it was written.
func (r row) said() bool { return r.bodySum() == r.sum }

// whole reports whether the row is as it was written.
func (r row) whole() bool { return r.said() && r.sumOfMark() == r.markSum }
