package gateway

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// Reading a chat costs what it holds: the last user message, the one that is read,
// and four times the longest text, 200 MB at the worst. (A text that is not UTF-8
// costs 160 MB more for the moment in which it is decoded.) So there is a bound on
// what all bodies of a principal hold. It is one of memory, not of bodies, for a slow
// body that holds little is in nobody's way.
const (
	bulkMost = 400 << 20 // beside what the oldest of them holds
	bulkFrom = 1 << 20   // what holds no more costs little
)

// bulk is a body that is being read, and what it holds.
type bulk struct {
	limiter   *limiter
	principal string
	within    time.Duration // how long it may wait in line
	holds     int64         // in whole MB; 0 if that is little
}

// read reads a chat within what large bodies may hold.
func (g *gateway) read(r *http.Request) (chatRequest, error) {
	b := &bulk{limiter: g.limiter, principal: caller(r), within: g.Read}
	defer b.change(0)
	return readChat(r.Body, postLimits, b.hold)
}

// hold is called with what the body holds before more of it is read. It waits in line
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
		case <-late:
			return &tooMuch{
				"too_many_uploads",
				fmt.Sprintf("Large messages of yours that are being read take up the %d MB that they may: try again when one of them is through.", b.limiter.bulk>>20),
				laterWait,
			}
		}
	}
}

// change counts what the body holds from now on. If others leave no room for it, it
// returns what is closed when one of them holds less. The oldest of them always has
// room, so that they never all wait for each other.
func (b *bulk) change(holds int64) (room <-chan struct{}) {
	b.limiter.mu.Lock()
	defer b.limiter.mu.Unlock()
	s := b.limiter.share(b.principal)
	if holds > b.holds && len(s.bulk) > 0 && s.bulk[0] != b {
		sum := holds - b.holds
		for _, other := range s.bulk[1:] {
			sum += other.holds
		}
		if sum > b.limiter.bulk {
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
