package limit

import (
	"context"
	"slices"
	"time"
)

// A chat that is read is in memory with its last user message, the message that is read, and
// four times the longest text: 200 MB at the worst. Decoding a text that is not UTF-8 takes
// 160 MB more for a moment. A message takes four times its size until it is on record. So
// [Options.Memory] bounds the memory of all chats of a principal until they are on record.
// The number of chats has no bound, because a slow body that holds little slows no other.
// Records that are read from the log have such a bound too, until the client has them.

// countedFrom is the size from which a request counts. A smaller one costs little.
const countedFrom = 1 << 20

// Class is a kind of large thing. Each class has a bound of its own, so that a principal who
// sends much is not in the way of their own reads.
type Class int

// The classes.
const (
	Upload   Class = iota // a chat that is not on record yet
	Download              // records that are read for a client, until they are sent
	classes
)

// refuse says that there is no room for more of a class.
func (c Class) refuse(most int64) error {
	if c == Download {
		return later("too_many_downloads", "Histories, traces and events that are read for you take up the %d MB that they may: try again when one of them is through.", most>>20)
	}
	return later("too_many_uploads", "Large messages of yours that are being read take up the %d MB that they may: try again when one of them is through.", most>>20)
}

// Memory is something large of a principal while it is in memory.
type Memory struct {
	limiter   *Limiter
	principal string
	class     Class
	wait      time.Duration   // the longest time in the queue
	gone      <-chan struct{} // closed when nobody wants it any more; nil: never
	holds     int64           // in whole MB; 0 if that is little
	wants     int64           // while it is in the queue
	granted   chan struct{}   // closed when it has what it wants
}

// Memory returns a count of memory that is zero yet. A reservation waits for room until
// gone is closed, and no longer than wait. If gone is nil, nothing else ends the wait.
func (l *Limiter) Memory(principal string, c Class, wait time.Duration, gone <-chan struct{}) *Memory {
	return &Memory{limiter: l, principal: principal, class: c, wait: wait, gone: gone}
}

// queue is what a principal has of one class.
type queue struct {
	uses    []*Memory // the oldest first
	waiting []*Memory // in the order in which they get room
}

// Held reports whether anything is counted.
func (m *Memory) Held() bool { return m.holds > 0 }

// Reserve sets the number of bytes that are counted. The caller reserves memory before it
// takes the memory. If others leave no room, Reserve waits.
func (m *Memory) Reserve(bytes int64) error {
	holds := bytes &^ (countedFrom - 1)
	if holds == m.holds {
		return nil
	}
	granted := m.set(holds)
	if granted == nil {
		return nil
	}
	late := time.NewTimer(m.wait)
	defer late.Stop()
	select {
	case <-granted:
		return nil
	case <-m.gone:
		m.leaveQueue()
		return context.Canceled
	case <-late.C:
		if !m.leaveQueue() {
			return nil
		}
		return m.class.refuse(m.limiter.options.Memory)
	}
}

// Release counts nothing any more.
func (m *Memory) Release() { m.set(0) }

// set counts so much from now on. If others leave no room, it joins the queue, and set
// returns a channel that is closed when there is room.
func (m *Memory) set(holds int64) (granted <-chan struct{}) {
	m.limiter.mu.Lock()
	defer m.limiter.mu.Unlock()
	q := m.queue()
	if !q.fits(m, holds) {
		m.wants, m.granted = holds, make(chan struct{})
		q.waiting = append(q.waiting, m)
		return m.granted
	}
	q.set(m, holds)
	q.waiting = slices.DeleteFunc(q.waiting, func(w *Memory) bool {
		if !q.fits(w, w.wants) {
			return false
		}
		q.set(w, w.wants)
		close(w.granted)
		return true
	})
	return nil
}

// queue is where m counts. The caller holds the limiter's mu.
func (m *Memory) queue() *queue { return &m.limiter.share(m.principal).memory[m.class] }

// leaveQueue gives up a place in the queue, and reports false if there was room just now.
func (m *Memory) leaveQueue() bool {
	m.limiter.mu.Lock()
	defer m.limiter.mu.Unlock()
	q := m.queue()
	i := slices.Index(q.waiting, m)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// fits reports whether there is room. The oldest always has room, so that they never all wait
// for each other.
func (q *queue) fits(m *Memory, holds int64) bool {
	if holds <= m.holds || len(q.uses) == 0 || q.uses[0] == m {
		return true
	}
	sum := holds - m.holds
	for _, other := range q.uses[1:] {
		sum += other.holds
	}
	return m.limiter.options.Memory < 0 || sum <= m.limiter.options.Memory
}

func (q *queue) set(m *Memory, holds int64) {
	switch {
	case m.holds == 0 && holds > 0:
		q.uses = append(q.uses, m)
	case m.holds > 0 && holds == 0:
		q.uses = slices.DeleteFunc(q.uses, func(other *Memory) bool { return other == m })
	}
	m.holds = holds
}

// empty reports whether the principal has nothing large in memory.
func (s *share) empty() bool {
	return !slices.ContainsFunc(s.memory[:], func(q queue) bool { return len(q.uses) > 0 })
}
