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

// Reading a chat costs what it holds: the last user message, the one that is read, and four
// times the longest text, 200 MB at the worst. (A text that is not UTF-8 costs 160 MB more
// for the moment in which it is decoded.) Putting the message on record costs four times the
// message. So there is a bound on the memory that all chats of a principal hold until they
// are on record, [Limits.Bulk]. The number of chats has no bound, because a slow body that
// holds little slows no other. Records that are read from the log have such a bound too:
// they are in memory until their reader has the answer.

// bulkFrom is the size from which a request counts. A smaller one costs little.
const bulkFrom = 1 << 20

// cargo is a kind of what is large: each has a bound of its own, for who sends much
// is not to be in the way of who reads much.
type cargo int

const (
	upload   cargo = iota // a chat that is not on record yet
	download              // records that are read for somebody, until they are sent
	cargoes
)

// refusal says that there is no room for more of it.
func (c cargo) refusal(most int64) error {
	code, sentence := "too_many_uploads", "Large messages of yours that are being read take up the %d MB that they may: try again when one of them is through."
	if c == download {
		code, sentence = "too_many_downloads", "Histories, traces and events that are read for you take up the %d MB that they may: try again when one of them is through."
	}
	return &tooMuch{code, fmt.Sprintf(sentence, most>>20), laterWait}
}

// bulk is something large while it is in memory, and what it holds.
type bulk struct {
	gone      <-chan struct{} // closed when nobody wants it any more; nil: never
	limiter   *limiter
	principal string
	cargo     cargo
	within    time.Duration // how long it may wait in line
	holds     int64         // in whole MB; 0 if that is little
}

// line is what a principal has of one cargo.
type line struct {
	bulk []*bulk       // the oldest first
	room chan struct{} // closed when one of them holds less; nil if nobody waits
}

// unjudged is whose share guests have as long as nobody has judged their tokens:
// anybody can make up many. It is no name that a person can have.
const unjudged = "\x00guests"

// bulk begins to count what a request has in memory.
func (g *gateway) bulk(r *http.Request, c cargo) *bulk {
	p, _ := access.From(r.Context())
	if _, guest := access.GuestOf(r.Context()); guest && p.Role == 0 {
		p.ID = unjudged
	}
	return &bulk{limiter: g.limiter, principal: p.ID, cargo: c, within: g.Read}
}

// promptCost is how often the message of a chat is in memory until it is on record: as a
// message, as JSON, and twice in the hands of the database.
const promptCost = 4

// read reads a chat within what large bodies may hold. The chat counts until the caller
// calls done, which is when its message is on record or refused.
func (g *gateway) read(r *http.Request) (req chatRequest, done func(), err error) {
	b := g.bulk(r, upload)
	done = func() { b.change(0) }
	if req, err = readChat(r.Body, postLimits, b.hold); err == nil {
		err = b.hold(promptCost * req.weighs())
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

// hold is called with what there is in memory, before there is more. It waits in line
// where that is too much.
func (b *bulk) hold(bytes int64) error {
	holds := bytes &^ (bulkFrom - 1)
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
			return b.cargo.refusal(b.limiter.limits.Bulk)
		}
	}
}

// change counts what it holds from now on. If others leave no room for it, it
// returns what is closed when one of them holds less. The oldest of them always has
// room, so that they never all wait for each other.
func (b *bulk) change(holds int64) (room <-chan struct{}) {
	b.limiter.mu.Lock()
	defer b.limiter.mu.Unlock()
	s := &b.limiter.share(b.principal).lines[b.cargo]
	if holds > b.holds && len(s.bulk) > 0 && s.bulk[0] != b {
		sum := holds - b.holds
		for _, other := range s.bulk[1:] {
			sum += other.holds
		}
		if b.limiter.limits.Bulk >= 0 && sum > b.limiter.limits.Bulk {
			if s.room == nil {
				s.room = make(chan struct{})
			}
			return s.room
		}
	}
	switch {
	case b.holds == 0 && holds > 0:
		s.bulk = append(s.bulk, b)
	case b.holds > 0 && holds == 0:
		s.bulk = slices.DeleteFunc(s.bulk, func(other *bulk) bool { return other == b })
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
	return !slices.ContainsFunc(s.lines[:], func(l line) bool { return len(l.bulk) > 0 })
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
