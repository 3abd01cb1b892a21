package session

import (
	"context"
	"errors"
	"slices"

	"github.com/tributary-dev/tributary/permission"
	"github.com/tributary-dev/tributary/trace"
)

// unanswered is the reason of a turn that waited for its user, who sent another
// message instead.
const unanswered = "unanswered"

// typed takes a message for the answer to what its sender is asked, if it can be
// one: a yes, a no or an option's name where one permission is asked, and any
// text where one question is. The answer and what follows are a message of their
// own, for the client puts what comes now below the user's words.
func (l *live) typed(ctx context.Context, p Prompt) (Turn, bool, error) {
	t, id, answer, err := l.wouldAnswer(p)
	if t == nil || err != nil {
		return Turn{}, false, err
	}
	taken := false
	err = answer(func() { taken = t.goOnBelow(p) })
	if !taken {
		// Somebody else answered just now, or ended the turn: this is a message like
		// any other, and must not find it waiting.
		t.answered(id)
		return Turn{}, false, nil
	}
	if _, late := errors.AsType[*AnsweredError](err); err != nil && !late { // a turn that ended just now says so
		return Turn{}, false, err
	}
	if err := t.builder.Flush(); err != nil {
		return Turn{}, false, ErrLog
	}
	l.mu.Lock()
	turn := t.handle()
	l.mu.Unlock()
	turn, err = l.atLastMessage(ctx, turn)
	return turn, err == nil, err
}

// wouldAnswer finds the turn that waits for the sender of a message, and how the
// message answers it; before is called if nobody else was first.
func (l *live) wouldAnswer(p Prompt) (t *turn, id string, answer func(before func()) error, err error) {
	text, plain := plainText(p.Message)
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.waitsFor(p)
	if t == nil || !plain || p.Regenerate || p.Message.ID != "" && l.branch.find(p.Message.ID) >= 0 {
		return nil, "", nil, nil
	}
	for id = range t.waits.put {
	}
	if q, ok := l.asks.questioned[id]; ok && q.turn == t.id {
		a := trace.Answer{QuestionID: id, Outcome: trace.Selected, Values: []string{text}, By: name(p.By)}
		return t, id, func(before func()) error { return l.asks.questions.AnswerAfter(id, a, before) }, nil
	}
	q, ok := l.asks.permissions[id]
	if !ok || q.turn != t.id {
		return nil, "", nil, nil
	}
	r, ok := permission.FromText(q.what.Options, text)
	switch {
	case !ok:
		return nil, "", nil, nil
	case !p.MayPermit:
		return nil, "", nil, ErrMayNotPermit
	}
	r.RequestID, r.By = id, name(p.By)
	return t, id, func(before func()) error { return l.asks.requests.AnswerAfter(id, r, before) }, nil
}

// waitsFor is the turn that waits for exactly one answer of the sender's. The
// caller holds l.mu.
func (l *live) waitsFor(p Prompt) *turn {
	for _, t := range l.turns {
		if len(t.waits.put) == 1 && !t.ending && t.by == p.By && t.channel == p.Channel {
			return t
		}
	}
	return nil
}

// plainText is the text of a message that holds nothing else.
func plainText(m trace.UserMessage) (text string, plain bool) {
	if len(m.Parts) != 1 || m.Parts[0].Type != trace.InputText {
		return "", false
	}
	return m.Parts[0].Text, true
}

// goOnBelow begins an assistant message below the user's words, unless the turn is
// over. Where the agent stood then is in the middle of a turn, where it cannot go
// back to.
func (t *turn) goOnBelow(p Prompt) bool {
	l := t.live
	if p.Message.ID == "" {
		p.Message.ID = "user_" + newID(l.hub.Now())
	}
	below := trace.Reply{MessageID: "msg_" + newID(l.hub.Now()), Cause: trace.CauseAnswer}
	if !t.builder.GoOn(trace.Prompt{Message: p.Message, By: p.By, Channel: p.Channel}, below) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.messageID = below.MessageID
	t.typed++
	l.branch.add(message{id: p.Message.ID, turn: t.id, user: true, by: p.By, after: t.after})
	l.branch.add(message{id: t.messageID, turn: t.id, after: t.after, recalled: true})
	return true
}

// refuseAll says no to all that the turn asks, in the name of somebody who sent a
// message instead of an answer.
func (t *turn) refuseAll(by string) {
	const reason = "The user sent a new message instead of an answer."
	t.live.mu.Lock()
	var ids []string
	for id := range t.waits.put {
		ids = append(ids, id)
	}
	t.live.mu.Unlock()
	slices.Sort(ids)
	no := false
	for _, id := range ids {
		_, question := lookFor(t.live, t.live.asks.questioned, id)
		// Who was first, was first: the turn ends either way.
		_ = t.live.reply(Reply{ID: id, Question: question, Choice: Choice{Approved: &no, Reason: reason, Interrupt: true}}, by)
	}
}
