package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/eventlog"
)

// This file lists sessions: a page of the list is a query of the registry.

// Summary is a session in a list.
type Summary struct {
	Info
	State State
	Turn  string
	// Waiting are the ids of the requests that wait for a person, the oldest first.
	Waiting []string
	// Damaged says what is lost of the session on disk. If its entry is damaged, it has no
	// more than its id and its owner.
	Damaged string
}

// Selection says which sessions a list has. The zero Selection chooses all.
type Selection struct {
	// Person chooses the sessions that the person made or is a member of.
	Person string
	// Agent chooses the sessions with the agent; "" chooses all.
	Agent string
	// State chooses the sessions in the state, or with Failed those that are idle after a turn
	// that failed; "" chooses all.
	State State
	// Archived chooses the sessions that are archived, or those that are not; nil chooses all.
	Archived *bool
	// Words chooses the sessions in whose title, prompts and answers all of these begin a word;
	// they are of [eventlog.Words]. Only a list takes Words, and not a reader of its changes.
	Words []string
	// Show chooses among them; nil shows all. It must not block.
	Show func(id string, p ACL) bool
	// Decides chooses the sessions of which a reader of changes learns no more than that other
	// requests wait there, though the reader does not see them; nil chooses none. It must not block.
	Decides func(id string, p ACL) bool
}

// has reports whether the list has the session.
func (c Selection) has(s Summary) bool {
	p := s.ACL()
	_, member := p.Members[c.Person]
	return (c.Person == "" || member || c.Person == p.Owner) && (c.Agent == "" || c.Agent == s.Agent) && c.inState(s) &&
		(c.Archived == nil || *c.Archived == s.Archived) && (c.Show == nil || c.Show(s.ID, p))
}

func (c Selection) inState(s Summary) bool {
	if c.State == Failed {
		return s.State == Idle && s.phase() == eventlog.Failed
	}
	return c.State == "" || c.State == s.State
}

// query asks the registry for the sessions, and for as few others as the registry can tell apart.
func (c Selection) query() eventlog.Query {
	q := eventlog.Query{Person: c.Person, Agent: c.Agent, Archived: c.Archived, Words: c.Words}
	switch c.State {
	case Idle:
		q.Phases = []eventlog.Phase{eventlog.Closed, eventlog.Failed}
	case Failed:
		q.Phases = []eventlog.Phase{eventlog.Failed}
	case Running, Paused:
		q.Phases = []eventlog.Phase{eventlog.Open}
	}
	return q
}

// List returns a page of the sessions that were changed before the mark (0: now), the
// last changed first. The page has limit sessions, and those that were changed in the
// same microsecond as its last one. The mark of the next page is next, 0 if there is none.
// A session that changes goes to the front: a reader of later pages may miss it, and sees
// none twice.
func (h *Hub) List(ctx context.Context, c Selection, before int64, limit int) (sessions []Summary, next int64, err error) {
	q := c.query()
	if before != 0 {
		q.Before = time.UnixMicro(before)
	}
	damaged := h.Log.Damage().Sessions
	for e, err := range h.Log.List(ctx, q) {
		if err != nil {
			return nil, 0, fmt.Errorf("list the sessions: %w", err)
		}
		changed := e.Updated.UnixMicro()
		if len(sessions) >= limit && changed != next {
			return sessions, next, nil
		}
		s, err := h.summary(e)
		if s.Damaged = damaged[e.Session]; e.Damaged {
			s.Damaged = cmp.Or(s.Damaged, "its entry is damaged or lost")
		}
		switch {
		case err != nil:
			h.Logger.Warn("a session is missing in the list", "error", err)
		case e.Damaged && (c.Show == nil || c.Show(s.ID, s.ACL())), c.has(s):
			sessions, next = append(sessions, s), changed
		}
	}
	return sessions, 0, nil
}

// summary does not bring the session back into memory: a list is no use of it.
func (h *Hub) summary(e eventlog.Entry) (s Summary, err error) {
	if l := h.ifInMemory(e.Session); l != nil {
		if s = l.summary(); !e.Updated.After(s.UpdatedAt) { // else another gateway has changed the session
			return s, nil
		}
	}
	if e.Damaged {
		return storedSummary(Info{ID: e.Session, CreatedBy: e.CreatedBy}), nil
	}
	info, err := infoOf(e.Session, e.Doc)
	return storedSummary(info), err
}

// summary is the session as Get and lists show it. Another gateway may run its open turns.
func (l *activeSession) summary() Summary {
	s := l.view()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hub.shared && len(l.turns) == 0 && l.changes == l.kept {
		return storedSummary(s.Info)
	}
	return s
}

// storedSummary is a session that is not in memory. If it has open turns, another gateway
// runs them.
func storedSummary(info Info) Summary {
	s := Summary{Info: info, State: Idle}
	if going := info.going(); len(going) > 0 {
		s.State, s.Turn = Running, going[0].ID
	}
	return s
}

// nextStamp is the time of a change made now of a session that was changed last at that
// time. The list is in this order, and the store keeps the document with the latest time.
// No two changes have the same, so that it marks a place between pages.
func (h *Hub) nextStamp(last time.Time) time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.Now().Truncate(time.Microsecond)
	for _, earlier := range []time.Time{h.stamp, last.Truncate(time.Microsecond)} {
		if after := earlier.Add(time.Microsecond); now.Before(after) {
			now = after
		}
	}
	h.stamp = now
	return now
}

// Count tells how many sessions there are.
func (h *Hub) Count(ctx context.Context) (int, error) { return h.Log.Count(ctx) }

// Damage tells what is known to be damaged on disk.
func (h *Hub) Damage() eventlog.Damage { return h.Log.Damage() }

// Running tells how many sessions have a turn that is not over. It reads nothing.
func (h *Hub) Running() (running int) {
	for _, l := range h.inMemory() {
		if l.view().Turn != "" {
			running++
		}
	}
	return running
}

// Places tells how many agents have a place of MaxAgents, and how many turns wait for one.
func (h *Hub) Places() (open, waiting int) { return h.agents.Counts() }

// ifInMemory is the session, or nil if it is not in memory now.
func (h *Hub) ifInMemory(id string) *activeSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// inMemory are the sessions that are in memory now.
func (h *Hub) inMemory() []*activeSession {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.sessions))
}
