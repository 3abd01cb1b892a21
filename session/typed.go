package session

import (
	"context"
	"slices"

	"github.com/tributary-dev/tributary/permission"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// unanswered is the reason of a turn that waited for its user, who sent another
// message instead.
const unanswered = "unanswered"

// typed takes a message as the answer to a request, if it can be one. A yes, a no
// or an option's name answers a single permission request, and any text answers a
// single question. A message answers only requests that the sender's page shows.
// The answer and what follows are a message of their own, for the client puts what
// comes now below the user's words.
func (l *live) typed(ctx context.Context, p Prompt) (Turn, bool, error) {
	t, id, answer, err := l.wouldAnswer(p)
	if t == nil || err != nil {
		return Turn{}, false, err
	}
	if err := l.introduce(p.sender()); err != nil {
		return Turn{}, false, err
	}
	if late := answer(l.words(p)); late != nil {
		// The request was answered or withdrawn just now. The text is a message like any
		// other, and must not find the request waiting.
		t.answered(id)
		return Turn{}, false, nil //nolint:nilerr // as it says
	}
	l.mu.Lock()
	turn := t.handle()
	l.mu.Unlock()
	turn, err = l.atLastMessage(ctx, turn)
	return turn, err == nil, err
}

// wouldAnswer finds the turn that waits for the sender of a message, and how the
// message answers it.
func (l *live) wouldAnswer(p Prompt) (t *turn, id string, answer func(trace.Words) error, err error) {
	text, plain := plainText(p.Message)
	l.mu.Lock()
	defer l.mu.Unlock()
	t = l.waitsFor(p)
	if t == nil || !plain || p.Regenerate || p.Message.ID != "" && l.branch.find(p.Message.ID) >= 0 {
		return nil, "", nil, nil
	}
	for id = range t.waits.put {
	}
	unseen := func(toolCallID string) bool {
		return p.Shown != nil && !slices.Contains(p.Shown, id) && (toolCallID == "" || !slices.Contains(p.Shown, toolCallID))
	}
	if q, ok := l.asks.questioned[id]; ok && q.turn == t.id {
		if unseen(q.what.ToolCallID) {
			return nil, "", nil, ErrStale
		}
		a := trace.Answer{QuestionID: id, Outcome: trace.Selected, Values: []string{text}, By: name(p.By), Via: trace.ViaWords}
		return t, id, func(w trace.Words) error {
			return l.asks.questions.AnswerAs(id, a, func(trace.Answer) bool {
				return t.recordIn(w, id, func() bool { return t.builder.AnswerIn(w, a) })
			})
		}, nil
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
	case unseen(q.what.ToolCallID):
		return nil, "", nil, ErrStale
	}
	r.RequestID, r.By, r.Via = id, name(p.By), trace.ViaWords
	return t, id, func(w trace.Words) error {
		return l.asks.requests.AnswerAs(id, r, func(trace.PermissionResponse) bool {
			return t.recordIn(w, id, func() bool { return t.builder.PermissionResponseIn(w, r) })
		})
	}, nil
}

// waitsFor is the turn that waits for exactly one answer of the sender's. The
// caller holds l.mu.
func (l *live) waitsFor(p Prompt) *turn {
	for _, t := range l.turns {
		if t.state == turnstate.Paused && len(t.waits.put) == 1 && t.by == p.By && t.channel == p.Channel {
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

// words are a message and the assistant message that begins below it.
func (l *live) words(p Prompt) trace.Words {
	now := l.hub.Now()
	if p.Message.ID == "" {
		p.Message.ID = "user_" + newID(now)
	}
	return trace.Words{
		Prompt: trace.Prompt{Message: p.Message, By: p.By, Channel: p.Channel},
		Reply:  trace.Reply{MessageID: "msg_" + newID(now), Cause: trace.CauseAnswer},
	}
}

// recordIn has the turn take an answer in words. The answer is not taken if the
// turn has withdrawn the request; then the words are not on record.
func (t *turn) recordIn(w trace.Words, id string, take func() bool) (taken bool) {
	if taken = t.record(id, take); taken {
		t.goOnBelow(w)
	}
	return taken
}

// goOnBelow begins an assistant message below the user's words. Where the agent
// stood then is in the middle of a turn, where it cannot go back to.
func (t *turn) goOnBelow(w trace.Words) {
	l := t.live
	l.mu.Lock()
	defer l.mu.Unlock()
	t.messageID = w.Reply.MessageID
	t.typed++
	if l.branch.gone[t.id] { // taken back just now
		return
	}
	l.branch.add(message{id: w.Prompt.Message.ID, turn: t.id, user: true, by: w.Prompt.By, after: t.after})
	l.branch.add(message{id: t.messageID, turn: t.id, after: t.after, recalled: true})
}

// refuseAll says no to all that the turn asks, in the name of somebody who sent a
// message instead of an answer.
func (t *turn) refuseAll(by Sender) {
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
		// If another answer came first, it counts: the turn ends either way.
		_ = t.live.reply(Reply{ID: id, Question: question, Choice: Choice{Approved: &no, Reason: reason, Interrupt: true}}, signature{by, trace.ViaWords})
	}
}
