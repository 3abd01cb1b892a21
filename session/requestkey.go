package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/trace"
)

// This file has a prompt, an answer or a stop act once if it is sent twice with one key. A client sends it again that got no
// answer, a proxy may, and a gateway does whose request another one had when it died.

// keySuffix ends the ids of what a request makes, or is "" if it has no key. It comes from the key and its sender, in the place
// of chance. So the request is known again after a restart, and at any gateway.
func (l *activeSession) keySuffix(by, key string) string {
	if key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(l.id + "\x00" + by + "\x00" + key))
	return encoding.EncodeToString(sum[:10])
}

// newIDWith is newID with that end.
func newIDWith(now time.Time, suffix string) string {
	id := newID(now)
	return id[:len(id)-len(suffix)] + suffix
}

// repeated finds the turn that the same prompt has begun before, or has answered in words. The caller holds the history
// lock, so that no such prompt is being taken.
func (l *activeSession) repeated(ctx context.Context, p Prompt) (Turn, bool, error) {
	if p.Key == "" {
		return Turn{}, false, nil
	}
	l.mu.Lock()
	m, asked, found, removed := l.thread.EndingIn(l.keySuffix(p.By, p.Key))
	turn, t := l.over(m), l.turns[m.Turn]
	if found && t != nil {
		turn = t.handle()
	}
	l.mu.Unlock()
	switch {
	case removed, found && t == nil && m.User:
		return Turn{}, false, ErrTaken
	case !found:
		return Turn{}, false, nil
	}
	if other, err := l.otherPrompt(ctx, p, asked.ID); other || err != nil {
		return Turn{}, false, cmp.Or(err, ErrKeyUsed)
	}
	turn.Repeated = true
	turn, err := l.atLastMessage(ctx, turn)
	return turn, err == nil, err
}

// otherPrompt reports whether a prompt is not the one that is on record as that message, in any version.
func (l *activeSession) otherPrompt(ctx context.Context, p Prompt, message string) (bool, error) {
	if p.Regenerate {
		return false, nil
	}
	_, same, err := l.findPrompt(ctx, message, func(_ trace.Record, said trace.UserMessage) bool { return textOf(said) == textOf(p.Message) })
	return !same || p.Message.ID != "" && p.Message.ID != message, err
}

// repeats reports whether the same person has given this answer before.
func (r Reply) repeats(first trace.Payload, by string) bool {
	if p, is := first.(trace.PermissionResponse); is {
		c := r.Choice
		says := c.Option != "" || c.Approved != nil
		return !r.Question && says && p.By == by && (c.Option == "" || c.Option == p.ChosenOption) && (c.Approved == nil || *c.Approved == p.Allowed())
	}
	a, is := first.(trace.Answer)
	return is && r.Question && a.By == by && slices.Equal(r.Values, a.Values)
}
