package agentkit

import (
	"context"
	"errors"
	"time"
)

// This file bounds the answers that wait for an agent that does not read.

const (
	// mostUnread and mostUnreadBytes bound the answers that wait to be read by an agent, before
	// another message of the agent is taken.
	mostUnread      = 1000
	mostUnreadBytes = 16 << 20
	// unmadeBytes is what an answer counts that is being made, such as the content of a file.
	unmadeBytes = 1 << 20
	// unreadTime is Options.UnreadTime.
	unreadTime = 30 * time.Second
)

// ErrUnread says that an agent goes on to ask and reads no answer.
var ErrUnread = errors.New("it asks, and reads none of the answers")

// unread counts the answers that wait. It is guarded by Session.mu.
type unread struct {
	answers, bytes int
	fewer          chan struct{} // closed when an answer waits no longer; nil if nobody wants to know
}

func (u *unread) add(bytes int) {
	u.answers++
	u.bytes += bytes
}

func (u *unread) remove(bytes int) {
	u.answers--
	u.bytes -= bytes
	if u.fewer != nil {
		close(u.fewer)
		u.fewer = nil
	}
}

func (u *unread) full() bool { return u.answers >= mostUnread || u.bytes >= mostUnreadBytes }

// Room waits until another message of the agent can be taken: an agent that does not read what it
// has asked for has to wait. If it reads nothing for Options.UnreadTime, the error is ErrUnread. A reader of
// the messages of an agent calls Room before each of them, but not from within Options.Send.
func (s *Session) Room(ctx context.Context) error {
	for {
		s.mu.Lock()
		full := s.unread.full()
		if full && s.unread.fewer == nil {
			s.unread.fewer = make(chan struct{})
		}
		fewer := s.unread.fewer
		s.mu.Unlock()
		if !full {
			return nil
		}
		timer := time.NewTimer(s.o.UnreadTime)
		select {
		case <-fewer:
		case <-timer.C:
			return ErrUnread
		case <-s.life.Done():
			return nil
		case <-ctx.Done():
			return nil
		}
		timer.Stop()
	}
}
