package sqllog

import (
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// entryRow is a session in the registry, as the database keeps it.
type entryRow struct {
	id, agent, title, kind, by, doc string
	created, updated, phase         int64
	members, archived, check        int64
}

func entryOf(e eventlog.Entry) entryRow {
	w := entryRow{
		id: e.Session, agent: column(e.Agent), title: column(e.Title), kind: column(e.Kind), by: column(e.CreatedBy), doc: string(e.Doc),
		created: e.CreatedAt.UnixMilli(), updated: e.Updated.UnixMicro(), phase: int64(e.Phase),
	}
	people := map[string]struct{}{}
	for person := range e.Members {
		people[column(person)] = struct{}{}
	}
	w.members = int64(len(people))
	w.archived = flag(e.Archived)
	return w
}

func flag(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// sum is the checksum of the row. A row from before the column archived has the same sum as a
// session that is not archived.
func (w entryRow) sum() int64 {
	c := sum(0).text(w.id).text(w.agent).text(w.title).text(w.kind).text(w.by).num(w.created).num(w.updated).num(w.phase).num(w.members).text(w.doc)
	if w.archived != 0 {
		c = c.num(w.archived)
	}
	return c.value()
}

// whole reports whether the row is as it was written.
func (w entryRow) whole() bool { return w.sum() == w.check }

// entry is what the row says; of a damaged one only what finds it.
func (w entryRow) entry() eventlog.Entry {
	e := eventlog.Entry{Session: w.id, CreatedBy: w.by, Updated: time.UnixMicro(w.updated).UTC(), Damaged: true}
	if w.whole() {
		e.Agent, e.Title, e.Kind, e.CreatedAt, e.Doc = w.agent, w.title, w.kind, time.UnixMilli(w.created).UTC(), []byte(w.doc)
		e.Phase, e.Archived = eventlog.Phase(w.phase), w.archived != 0
		e.Damaged = false
	}
	return e
}

// scanEntry reads the columns of an entry, and others after them.
func scanEntry(scan func(...any) error, others ...any) (w entryRow, err error) {
	err = scan(append([]any{
		(*str)(&w.id), (*str)(&w.agent), (*str)(&w.title), (*str)(&w.kind), (*str)(&w.by), (*num)(&w.created), (*num)(&w.updated),
		(*num)(&w.phase), (*num)(&w.members), (*num)(&w.archived), (*str)(&w.doc), (*num)(&w.check),
	}, others...)...)
	return w, err
}
