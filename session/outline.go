package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/tributary-dev/tributary/trace"
)

// outline is where the records of a turn can be entered and left.
type outline struct {
	replies  []reply
	parks    []park
	settled  map[string]uint64 // by request: the number of its answer
	decided  map[string]bool   // permission requests: whether they were allowed
	rewound  bool              // the turn was taken back while it ran
	finished bool
}

// reply is where an assistant message begins.
type reply struct {
	seq uint64
	id  string
}

// park is where readers leave.
type park struct {
	seq      uint64
	requests []string
}

// within reports whether all that was asked is among these.
func (p park) within(ids []string) bool {
	return !slices.ContainsFunc(p.requests, func(id string) bool { return !slices.Contains(ids, id) })
}

// outline reads a turn.
func (l *live) outline(ctx context.Context, turn string, after uint64) (outline, error) {
	o := outline{settled: map[string]uint64{}, decided: map[string]bool{}}
	for r, err := range l.hub.Log.Wholes(ctx, l.id, after, 0) {
		if err != nil {
			return o, fmt.Errorf("read the log of session %q: %w", l.id, err)
		}
		if r.Turn != turn {
			continue
		}
		if o.take(r); o.finished {
			break
		}
	}
	return o, nil
}

func (o *outline) take(r trace.Record) {
	if p, is := r.Payload.(trace.Reply); is {
		o.replies = append(o.replies, reply{r.Seq, p.MessageID})
	}
	if p, is := r.Payload.(trace.Park); is {
		o.parks = append(o.parks, park{r.Seq, p.Requests})
	}
	if p, is := r.Payload.(trace.PermissionResponse); is {
		o.settled[p.RequestID], o.decided[p.RequestID] = r.Seq, p.Allowed()
	}
	if p, is := r.Payload.(trace.Answer); is {
		o.settled[p.QuestionID] = r.Seq
	}
	if _, is := r.Payload.(trace.Rewind); is && len(o.replies) > 0 {
		o.rewound = true
	}
	if p, is := r.Payload.(trace.Stop); is {
		o.finished = true
		o.rewound = o.rewound || p.Reason == superseded
	}
}

// past is the number of the last park whose requests all have their answers.
func (o *outline) past() uint64 {
	for _, p := range slices.Backward(o.parks) {
		if o.answered(p) {
			return p.seq
		}
	}
	return 0
}

// upto is the number of the newest answer at a park that waits for more, or 0.
func (o *outline) upto() (seq uint64) {
	if len(o.parks) == 0 {
		return 0
	}
	p := o.parks[len(o.parks)-1]
	if o.answered(p) {
		return 0
	}
	for _, id := range p.requests {
		if at := o.settled[id]; at > p.seq {
			seq = max(seq, at)
		}
	}
	return seq
}

func (o *outline) answered(p park) bool {
	for _, id := range p.requests {
		if o.settled[id] == 0 {
			return false
		}
	}
	return true
}

// parkOf finds the last park at which one of these was asked.
func (o *outline) parkOf(ids []string) (park, bool) {
	for _, p := range slices.Backward(o.parks) {
		for _, id := range ids {
			if slices.Contains(p.requests, id) {
				return p, true
			}
		}
	}
	return park{}, false
}

// atLastMessage makes a turn one that is read from the start of its last message
// to where it waits for somebody now.
func (l *live) atLastMessage(ctx context.Context, t Turn) (Turn, error) {
	l.mu.Lock()
	open := l.turns[t.ID]
	plain := open != nil && !open.pause.paused && open.typed == 0
	l.mu.Unlock()
	if plain {
		return t, nil
	}
	o, err := l.outline(ctx, t.ID, t.After)
	if err != nil {
		return Turn{}, err
	}
	t.Past, t.Upto = o.past(), o.upto()
	if n := len(o.replies); n > 0 {
		t.From, t.MessageID = o.replies[n-1].seq, o.replies[n-1].id
	}
	return t, nil
}
