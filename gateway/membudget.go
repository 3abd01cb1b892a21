package gateway

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/trace"
)

// This file bounds the memory that requests of one principal hold.

// Reading a chat costs what it holds: the last user message, the one that is read, and four
// times the longest text, 200 MB at the worst. (A text that is not UTF-8 costs 160 MB more
// for the moment in which it is decoded.) Putting the message on record costs four times the
// message. So there is a bound on the memory that all chats of a principal hold until they
// are on record, [Limits.Memory]. The number of chats has no bound, because a slow body that
// holds little slows no other. Records that are read from the log have such a bound too:
// they are in memory until their reader has the answer.

// memFrom is the size from which a request counts. A smaller one costs little.
const memFrom = 1 << 20

// memClass is a kind of what is large: each has a bound of its own, for who sends much
// is not to be in the way of who reads much.
type memClass int

const (
	upload   memClass = iota // a chat that is not on record yet
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
	wants     int64         // while it waits in line
	granted   chan struct{} // closed when it has what it wants
}

// memQueue is what a principal has of one class.
type memQueue struct {
	uses    []*memUse // the oldest first
	waiting []*memUse // in line, the first first
}

// unjudged is whose share guests have as long as nobody has judged their tokens:
// anybody can make up many. No person can have this name.
const unjudged = "\x00guests"

// memUse begins to count what a request has in memory.
func (g *gateway) memUse(r *http.Request, c memClass) *memUse {
	p, _ := access.From(r.Context())
	if _, guest := access.GuestOf(r.Context()); guest && p.Role == 0 {
		p.ID = unjudged
	}
	return &memUse{limiter: g.limiter, principal: p.ID, class: c, within: g.Read}
}

// promptCost is how often the message of a chat is in memory until it is on record: as a
// message, as JSON, and twice in the hands of the database.
const promptCost = 4

// read reads a chat within what large bodies may hold. The chat counts until the caller
// calls done, which is when its message is on record or refused.
func (g *gateway) read(r *http.Request) (req chatRequest, done func(), err error) {
	b := g.memUse(r, upload)
	done = func() { b.change(0) }
	if req, err = readChat(r.Body, postLimits, b.reserve); err == nil {
		err = b.reserve(promptCost * req.weighs())
	}
	if err != nil {
		done()
	}
	return req, done, err
}

// weighs is how many bytes of the user's message the gateway keeps.
func (req *chatRequest) weighs() int64 {
	if req.User == nil {
		return 0
	}
	return int64(trace.ApproxSize(trace.Prompt{Message: *req.User}))
}

// reserve is called with what there is in memory, before there is more. It waits in line
// where that is too much.
func (b *memUse) reserve(bytes int64) error {
	holds := bytes &^ (memFrom - 1)
	if holds == b.holds {
		return nil
	}
	granted := b.change(holds)
	if granted == nil {
		return nil
	}
	late := time.NewTimer(b.within)
	defer late.Stop()
	select {
	case <-granted:
		return nil
	case <-b.gone:
		b.leaveLine()
		return context.Canceled
	case <-late.C:
		if !b.leaveLine() {
			return nil
		}
		return b.class.refusal(b.limiter.limits.Memory)
	}
}

// change counts what it holds from now on. If others leave no room for that, it waits in line,
// and change returns what is closed when there is room.
func (b *memUse) change(holds int64) (granted <-chan struct{}) {
	b.limiter.mu.Lock()
	defer b.limiter.mu.Unlock()
	s := &b.limiter.share(b.principal).memory[b.class]
	if !s.fits(b, holds) {
		b.wants, b.granted = holds, make(chan struct{})
		s.waiting = append(s.waiting, b)
		return b.granted
	}
	s.set(b, holds)
	s.waiting = slices.DeleteFunc(s.waiting, func(w *memUse) bool {
		if !s.fits(w, w.wants) {
			return false
		}
		s.set(w, w.wants)
		close(w.granted)
		return true
	})
	return nil
}

// leaveLine gives up a place in line, and reports false if there was room just now.
func (b *memUse) leaveLine() bool {
	b.limiter.mu.Lock()
	defer b.limiter.mu.Unlock()
	s := &b.limiter.share(b.principal).memory[b.class]
	i := slices.Index(s.waiting, b)
	if i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	return i >= 0
}

// fits reports whether there is room. The oldest always has room, so that they never all wait
// for each other.
func (s *memQueue) fits(b *memUse, holds int64) bool {
	if holds <= b.holds || len(s.uses) == 0 || s.uses[0] == b {
		return true
	}
	sum := holds - b.holds
	for _, other := range s.uses[1:] {
		sum += other.holds
	}
	return b.limiter.limits.Memory < 0 || sum <= b.limiter.limits.Memory
}

func (s *memQueue) set(b *memUse, holds int64) {
	switch {
	case b.holds == 0 && holds > 0:
		s.uses = append(s.uses, b)
	case b.holds > 0 && holds == 0:
		s.uses = slices.DeleteFunc(s.uses, func(other *memUse) bool { return other == b })
	}
	b.holds = holds
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
