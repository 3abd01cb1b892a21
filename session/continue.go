package session

import (
	"context"
	"errors"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// This file handles requests of a client that answer an assistant message.

// Continuation is a request that answers what an assistant message asks.
type Continuation struct {
	// Message is the assistant message.
	Message string
	Sender
	// MayPermit says that the sender's role may answer permission requests.
	MayPermit bool
	Replies   []Reply
	// Extra is what the request says of the one permission that it answers: an
	// option, an edited input, the end of the turn. The replies to what waits no
	// longer are not counted: a client sends them again with every answer.
	Extra Choice
}

// Reply is an answer to one thing that a message asks.
type Reply struct {
	// ID is that of the request or question. It may be empty for a question that is a call
	// of the agent itself: Call is then the id of the call.
	ID, Call string
	// Question tells which of the two it is.
	Question bool
	// Choice answers a permission request.
	Choice Choice
	// Values answer a question; there are none if it was declined.
	Values []string
	// Reason says why there are none, such as the error of a tool of the app.
	Reason string
}

// Rest is what the sender of a Continuation gets.
type Rest struct {
	Turn
	// Waiting says that the message asks more, which has no answer yet: there is
	// nothing to send.
	Waiting bool
	// Allowed says of each answered permission request whether it was allowed, by the
	// answer that counts.
	Allowed map[string]bool
}

// Continue takes the answers that came with a request for an assistant message
// and tells where the rest of the message begins. An answer counts once: who
// comes second gets the rest all the same. Only what was put to the user in that
// message can be answered so.
func (h *Hub) Continue(ctx context.Context, session string, c Continuation) (Rest, error) {
	return writingThread(ctx, h, session, func(l *activeSession) (Rest, error) { return l.continueTurn(ctx, c) })
}

func (l *activeSession) continueTurn(ctx context.Context, c Continuation) (Rest, error) {
	c.Message = l.resolveMessageID(c.Message)
	turn, t, ok := l.turnOf(c.Message)
	c.Replies = named(c.Replies, turn.ID)
	if !ok || len(c.Replies) == 0 || l.runsElsewhere(turn.ID) {
		return Rest{}, l.notHere(ErrNotWaiting)
	}
	if t != nil {
		if err := t.takeReplies(c); err != nil {
			return Rest{}, err
		}
		if err := t.builder.Flush(); err != nil {
			return Rest{}, notLogged(err)
		}
	}
	o, err := l.layout(ctx, turn.ID, turn.After)
	if err != nil {
		return Rest{}, err
	}
	ids := make([]string, len(c.Replies))
	for i, r := range c.Replies {
		ids[i] = r.ID
	}
	at, asked := o.PauseOf(ids)
	waiting := !o.Answered(at)
	// An empty response would make the client ask again and again, unless something
	// is left for its user to answer.
	if !asked || o.Rewound || waiting && at.Within(ids) {
		return Rest{}, ErrNotWaiting
	}
	turn.MessageID, turn.From, turn.SkipPausesThrough = c.Message, at.Seq+1, max(o.Past(), at.Seq)
	return Rest{Turn: turn, Waiting: waiting, Allowed: o.Allowed()}, nil
}

// Settle takes the answers that came with a request of another kind. Other requests
// go on waiting.
func (h *Hub) Settle(ctx context.Context, session string, c Continuation) error {
	return h.writingThread(ctx, session, func(l *activeSession) error {
		c.Message = l.resolveMessageID(c.Message)
		turn, t, ok := l.turnOf(c.Message)
		if !ok || t == nil {
			return nil
		}
		c.Replies = named(c.Replies, turn.ID)
		return t.takeReplies(c)
	})
}

// named fills in the ids of questions that are calls: such a question has the id of its call.
func named(replies []Reply, turn string) []Reply {
	all := slices.Clone(replies)
	for i, r := range all {
		if r.ID == "" {
			all[i].ID = r.Call + requestSuffix(turn)
		}
	}
	return all
}

// turnOf finds the turn of an assistant message of the thread; t is nil if it is
// over.
func (l *activeSession) turnOf(messageID string) (turn Turn, t *turn, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := l.thread.Find(messageID)
	if i < 0 || l.thread.Messages[i].User {
		return turn, nil, false
	}
	m := l.thread.Messages[i]
	if t := l.turns[m.Turn]; t != nil {
		return t.handle(), t, true
	}
	return l.over(m), nil, true
}

// takeReplies takes those answers that the turn waits for. The turn's next requests
// were not visible to the sender, so the same request does not answer them.
func (t *turn) takeReplies(c Continuation) error {
	waiting := t.waitingFor(c)
	permission, several := -1, false
	for i, r := range waiting {
		if !r.Question {
			permission, several = i, permission >= 0
		}
	}
	switch {
	case permission < 0:
	case !c.MayPermit:
		return ErrMayNotPermit
	case !several:
		waiting[permission].Choice.add(c.Extra)
	case c.Extra.says():
		return &ChoiceError{"an option, an edited input or the end of the turn goes with one permission, and this request answers several: answer each at its own address"}
	}
	for _, r := range waiting {
		if err := t.session.reply(r, attribution{c.Sender, trace.ViaChat}); err != nil {
			return err
		}
	}
	return nil
}

// waitingFor leaves out what was answered, withdrawn, never put to the user, or put
// in another message of the turn.
func (t *turn) waitingFor(c Continuation) []Reply {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	if c.Message != t.messageID {
		return nil
	}
	shown := t.builder.Asked()
	return slices.DeleteFunc(slices.Clone(c.Replies), func(r Reply) bool { return !slices.Contains(shown, r.ID) })
}

// reply gives an answer, unless somebody was first.
func (l *activeSession) reply(r Reply, by attribution) error {
	_, err := l.give(r, by)
	if _, answered := errors.AsType[*AnsweredError](err); answered || errors.Is(err, ErrUnknownRequest) {
		return nil
	}
	return err
}
