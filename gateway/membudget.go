package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/access"
)

// Reading a chat costs what it holds: the last user message, the one that is read,
// and four times the longest text, 200 MB at the worst. (A text that is not UTF-8
// costs 160 MB more for the moment in which it is decoded.) So there is a bound on
// the memory that all bodies of a principal hold. The number of bodies has no bound,
// because a slow body that holds little slows no other. Records that are read from the
// log have such a bound too: they are in memory until their reader has the answer.
const (
	memMost = 400 << 20 // of each class, beside what the oldest of it holds
	memFrom = 1 << 20   // what holds no more costs little
)

// memClass is a kind of what is large: each has a bound of its own, for who sends much
// is not to be in the way of who reads much.
type memClass int

const (
	upload   memClass = iota // a body that is being read
	download                 // records that are read for somebody, until they are sent
	memClasses
)

// refusal says that there is no room for more of it.
func (c memClass) refusal(most int64) error {
	code, sentence := "too_many_uploads", "Large messages of yours that are being read take up the %d MB that they may: try again when one of them is through."
	if c == download {
		code, sentence = "too_many_downloads", "Histories, traces and events that are read for you take up the %d MB that they may: try again when one of them is through."
	}
	return &rateLimited{code, fmt.Sprintf(sentence, most>>20), laterWait}
}

// memUse is something large while it is in memory, and what it holds.
type memUse struct {
	gone      <-chan struct{} // closed when nobody wants it any more; nil: never
	limiter   *limiter
	principal string
	class     memClass
	within    time.Duration // how long it may wait in line
	holds     int64         // in whole MB; 0 if that is little
}

// memQueue is what a principal has of one class.
type memQueue struct {
	uses []*memUse     // the oldest first
	room chan struct{} // closed when one of them holds less; nil if nobody waits
}

// unjudged is whose share guests have as long as nobody has judged their tokens:
// anybody can make up many. It is no name that a person can have.
const unjudged = "\x00guests"

// memUse begins to count what a request has in memory.
func (g *gateway) memUse(r *http.Request, c memClass) *memUse {
	p, _ := access.From(r.Context())
	if _, guest := access.GuestOf(r.Context()); guest && p.Role == 0 {
		p.ID = unjudged
	}
	return &memUse{limiter: g.limiter, principal: p.ID, class: c, within: g.Read}
}

// read reads a chat within what large bodies may hold.
func (g *gateway) read(r *http.Request) (chatRequest, error) {
	b := g.memUse(r, upload)
	defer b.change(0)
	return readChat(r.Body, postLimits, b.reserve)
}

// reserve is called with what there is in memory, before there is more. It waits in line
// where that is too much.
func (b *memUse) reserve(bytes int64) error {
	holds := bytes &^ (memFrom - 1)
	if holds == b.holds {
		return nil
	}
	var late <-chan time.Time
	for {
		room := b.change(holds)
		if room == nil {
			return nil
		}
		if late == nil {
			timer := time.NewTimer(b.within)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-room:
		case <-b.gone:
			return context.Canceled
		case <-late:
			return b.class.refusal(b.limiter.memMost)
		}
	}
}

// change counts what it holds from now on. If others leave no room for it, it
// returns what is closed when one of them holds less. The oldest of them always has
// room, so that they never all wait for each other.
func (b *memUse) change(holds int64) (room <-chan struct{}) {
	b.limiter.mu.Lock()
	defer b.limiter.mu.Unlock()
	s := &b.limiter.share(b.principal).memory[b.class]
	if holds > b.holds && len(s.uses) > 0 && s.uses[0] != b {
		sum := holds - b.holds
		for _, other := range s.uses[1:] {
			sum += other.holds
		}
		if sum > b.limiter.memMost {
			if s.room == nil {
				s.room = make(chan struct{})
			}
			return s.room
		}
	}
	switch {
	case b.holds == 0 && holds > 0:
		s.uses = append(s.uses, b)
	case b.holds > 0 && holds == 0:
		s.uses = slices.DeleteFunc(s.uses, func(other *memUse) bool { return other == b })
	}
	if holds < b.holds && s.room != nil {
		close(s.room)
		s.room = nil
	}
	b.holds = holds
	return nil
}

// empty reports whether the principal has nothing large in memory.
func (s *share) empty() bool {
	return !slices.ContainsFunc(s.memory[:], func(l memQueue) bool { return len(l.uses) > 0 })
}

// sized refuses a chat whose length says already that it is too large, before any
// of it is read.
func sized(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if r.ContentLength > postLimits.body {
			return &bodyError{http.StatusRequestEntityTooLarge, fmt.Sprintf("The request body is larger than %d MB.", postLimits.body>>20)}
		}
		return h(w, r)
	}
}
