package session

import (
	"container/list"
	"slices"
	"sync"
)

// catalog knows which sessions there are, in the order in which they were changed.
// The registry is read once, at start. From then on every write of a document is
// noted here, so that a page of the list reads only its own documents.
type catalog struct {
	mu    sync.Mutex
	order *list.List // of entry, the newest in front
	known map[string]*list.Element
}

// entry is a session of the catalog.
type entry struct {
	id string
	// changed is when, in nanoseconds since 1970. No two are equal, so that it marks
	// a place between pages.
	changed int64
	people  People
	resume  string // of the agent
}

func newCatalog() *catalog { return &catalog{order: list.New(), known: map[string]*list.Element{}} }

// load takes over what the registry held at start.
func (c *catalog) load(sessions []Info) {
	slices.SortFunc(sessions, func(a, b Info) int { return a.UpdatedAt.Compare(b.UpdatedAt) })
	for _, s := range sessions {
		c.note(s)
	}
}

// note puts a session in front: it was changed just now.
func (c *catalog) note(s Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := entry{id: s.ID, changed: max(0, s.UpdatedAt.UnixNano()), people: s.People(), resume: s.Resume}
	if front := c.order.Front(); front != nil {
		e.changed = max(e.changed, front.Value.(entry).changed+1)
	}
	if was := c.known[s.ID]; was != nil {
		c.order.Remove(was)
	}
	c.known[s.ID] = c.order.PushFront(e)
}

// forget takes a session out.
func (c *catalog) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was := c.known[id]; was != nil {
		c.order.Remove(was)
		delete(c.known, id)
	}
}

func (c *catalog) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.known)
}

// resumes returns the resume tokens of all sessions.
func (c *catalog) resumes() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for e := c.order.Front(); e != nil; e = e.Next() {
		if token := e.Value.(entry).resume; token != "" {
			all = append(all, token)
		}
	}
	return all
}

// page lists the sessions that were changed before a mark (0: all) and for which
// show is true (nil: all), the newest first. It also returns the mark of the next
// page, or 0.
func (c *catalog) page(before int64, limit int, show func(id string, p People) bool) (ids []string, next int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil; e = e.Next() {
		s := e.Value.(entry)
		switch {
		case before != 0 && s.changed >= before, show != nil && !show(s.id, s.people):
		case len(ids) == limit:
			return ids, next
		default:
			ids, next = append(ids, s.id), s.changed
		}
	}
	return ids, 0
}
