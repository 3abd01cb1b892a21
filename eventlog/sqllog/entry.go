package sqllog

import (
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// entryRow is a session in the registry, as the database keeps it.
type entryRow struct {
	id, agent, title, kind, by, doc string
	created, updated, open          int64
	members, check                  int64
}

func entryOf(e eventlog.Entry) entryRow {
	w := entryRow{
		id: e.Session, agent: column(e.Agent), title: column(e.Title), kind: column(e.Kind), by: column(e.CreatedBy), doc: string(e.Doc),
		created: e.CreatedAt.UnixMilli(), updated: e.Updated.UnixMicro(),
	}
	people := map[string]struct{}{}
	for person := range e.Members {
		people[column(person)] = struct{}{}
	}
	w.members = int64(len(people))
	if e.Open {
		w.open = 1
	}
	return w
}

func (w entryRow) sum() int64 {
	return sum(0).text(w.id).text(w.agent).text(w.title).text(w.kind).text(w.by).num(w.created).num(w.updated).num(w.open).num(w.members).text(w.doc).value()
}

// whole reports whether the row is as it was written.
func (w entryRow) whole() bool { return w.sum() == w.check }

// entry is what the row says; of a damaged one only what finds it.
func (w entryRow) entry() eventlog.Entry {
	e := eventlog.Entry{Session: w.id, CreatedBy: w.by, Updated: time.UnixMicro(w.updated).UTC(), Damaged: true}
	if w.whole() {
		e.Agent, e.Title, e.Kind, e.CreatedAt, e.Open, e.Doc = w.agent, w.title, w.kind, time.UnixMilli(w.created).UTC(), w.open != 0, []byte(w.doc)
		e.Damaged = false
	}
	return e
}

// scanEntry reads the columns of an entry, and others after them.
func scanEntry(scan func(...any) error, others ...any) (entryRow, error) {
	var id, agent, title, kind, by, doc str
	var created, updated, open, members, check num
	err := scan(append([]any{&id, &agent, &title, &kind, &by, &created, &updated, &open, &members, &doc, &check}, others...)...)
	return entryRow{
		string(id), string(agent), string(title), string(kind), string(by), string(doc), int64(created), int64(updated), int64(open), int64(members), int64(check),
	}, err
}
