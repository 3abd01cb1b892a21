package session

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file takes a message of a user as the answer to a request.

// unanswered is the reason of a turn that waited for its user, who sent another
// message instead.
const unanswered = "unanswered"

// answerInText takes a message as the answer to a request, if it can be one. A yes, a no
// or an option's name answers a single permission request, and any text answers a
// single question. A message answers only requests that the sender's page shows.
// The answer and what follows are a message of their own, for the client puts what
// comes now below the user's words.
func (l *activeSession) answerInText(ctx context.Context, p Prompt) (Turn, bool, error) {
	t, answer, err := l.matchRequest(p)
	if t == nil || err != nil {
		return Turn{}, false, err
	}
	if err := l.identifyCaller(p.sender()); err != nil {
		return Turn{}, false, err
	}
	words := l.words(p)
	if late := t.builder.Resolve(answer, &words); late != nil {
		return Turn{}, false, nil //nolint:nilerr // another answer came first, so the text is a message like any other
	}
	t.continueInNewMessage(words)
	l.mu.Lock()
	turn := t.handle()
	l.mu.Unlock()
	turn, err = l.atLastMessage(ctx, turn)
	return turn, err == nil, err
}

// matchRequest finds the turn that waits for the sender of a message, and the answer that
// the message gives.
func (l *activeSession) matchRequest(p Prompt) (t *turn, answer trace.Payload, err error) {
	text, plain := plainText(p.Message)
	l.mu.Lock()
	defer l.mu.Unlock()
	t, r := l.turnAwaiting(p)
	if t == nil || !plain || p.Regenerate || p.Message.ID != "" && l.thread.Find(p.Message.ID) >= 0 {
		return nil, nil, nil
	}
	call := r.ToolCallID()
	unseen := p.Shown != nil && !slices.Contains(p.Shown, r.ID) && (call == "" || !slices.Contains(p.Shown, call))
	if r.Question() {
		if unseen {
			return nil, nil, ErrStale
		}
		return t, trace.Answer{QuestionID: r.ID, Outcome: trace.Selected, Values: []string{text}, By: name(p.By), Via: trace.ViaWords}, nil
	}
	asked, _ := r.Asked.(trace.PermissionRequest)
	response, ok := permission.FromText(asked.Options, text)
	switch {
	case !ok:
		return nil, nil, nil
	case !p.MayPermit:
		return nil, nil, ErrMayNotPermit
	case unseen:
		return nil, nil, ErrStale
	}
	response.RequestID, response.By, response.Via = r.ID, name(p.By), trace.ViaWords
	return t, response, nil
}

// turnAwaiting is the turn that waits for exactly one answer of the sender's, and the request.
// The caller holds l.mu.
func (l *activeSession) turnAwaiting(p Prompt) (*turn, trace.Request) {
	for _, t := range l.turns {
		if t.state != turnstate.Paused || t.by != p.By || t.channel != p.Channel {
			continue
		}
		if shown := t.shownRequests(); len(shown) == 1 {
			return t, shown[0]
		}
	}
	return nil, trace.Request{}
}

// plainText is the text of a message that holds nothing else.
func plainText(m trace.UserMessage) (text string, plain bool) {
	if len(m.Parts) != 1 || m.Parts[0].Type != trace.InputText {
		return "", false
	}
	return m.Parts[0].Text, true
}

// words are a message and the assistant message that begins below it.
func (l *activeSession) words(p Prompt) trace.TextAnswer {
	now := l.hub.Now()
	if p.Message.ID == "" {
		p.Message.ID = "user_" + newID(now)
	}
	return trace.TextAnswer{
		Prompt: trace.Prompt{Message: p.Message, By: p.By, Channel: p.Channel, Traceparent: p.Caller.Traceparent},
		Reply:  trace.Reply{MessageID: "msg_" + newIDWith(now, l.keySuffix(p.By, p.Key)), Cause: trace.CauseAnswer},
	}
}

// continueInNewMessage begins an assistant message below the user's words. Where the agent
// stood then is in the middle of a turn, where it cannot go back to.
func (t *turn) continueInNewMessage(w trace.TextAnswer) {
	l := t.session
	l.mu.Lock()
	defer l.mu.Unlock()
	t.messageID = w.Reply.MessageID
	if l.thread.Removed(t.id) { // taken back just now
		return
	}
	l.thread.Add(thread.Message{ID: w.Prompt.Message.ID, Turn: t.id, User: true, By: w.Prompt.By, After: t.after})
	l.thread.Add(thread.Message{ID: t.messageID, Turn: t.id, After: t.after, Known: true})
}

// refuseAll says no to all that the turn asks, in the name of somebody who sent a
// message instead of an answer.
func (t *turn) refuseAll(by Sender) {
	const reason = "The user sent a new message instead of an answer."
	no := false
	for _, r := range t.shownRequests() {
		// If another answer came first, it counts: the turn ends either way.
		_ = t.session.reply(Reply{ID: r.ID, Question: r.Question(), Choice: Choice{Approved: &no, Reason: reason, Interrupt: true}}, attribution{by, trace.ViaWords})
	}
}
