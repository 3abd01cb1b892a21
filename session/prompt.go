package session

import (
	"context"
	"slices"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file admits prompts, and starts queued turns.

// Prompt is a wish to have the agent do something.
type Prompt struct {
	// Message is what the user says. If its id names a message of the session, the
	// prompt is an edit: that message and all that followed are removed.
	Message trace.UserMessage
	By      string
	Channel string
	// Caller is handed on to the agent with the prompt. Its Traceparent is put on record, if it is
	// well-formed.
	Caller agent.Caller
	// Received is when the request with the prompt came, and Read when its body had been read.
	Received, Read time.Time
	// Key names the request: one that is sent again with the key and the sender of a prompt that was taken gets that
	// prompt's turn. "" names none.
	Key string
	// Regenerate runs a message of the session again. Of names it, or the answer
	// to it; empty means the last one. A Message with parts replaces its content.
	Regenerate bool
	Of         string
	// MayPermit says that the sender's role may answer permission requests: by a message
	// that says yes and nothing else, or with a command, which the agent runs unasked.
	MayPermit bool
	// Shown are the ids of the requests and questions that the sender's page shows, and
	// of calls that stand for their request; nil if that is not known. A message is no
	// answer to what it does not show.
	Shown []string
}

// mayCommand returns why a prompt may not be sent that is a command of an agent with a
// process. Such a command may run a file of the workspace, and no permission request
// precedes that.
func (l *activeSession) mayCommand(p Prompt) error {
	names := agent.Commands(p.Message)
	if p.MayPermit || len(names) == 0 || l.hub.Agents[l.info.Agent].InProcess {
		return nil
	}
	return &CommandError{names[0]}
}

func (p Prompt) sender() Sender { return Sender{By: p.By, Caller: p.Caller} }

// Prompt begins a turn, or queues it behind the one that runs. It returns when
// the turn is known; the turn goes on when ctx ends.
func (h *Hub) Prompt(ctx context.Context, session string, p Prompt) (Turn, error) {
	if err := trace.CheckFiles(p.Message.Parts); err != nil {
		return Turn{}, err
	}
	p.Caller.Traceparent = agent.ParseTraceparent(p.Caller.Traceparent)
	return writing(ctx, h, session, func(l *activeSession) (Turn, error) { return l.prompt(ctx, p) })
}

func (l *activeSession) prompt(ctx context.Context, p Prompt) (Turn, error) {
	if l.isElsewhere() {
		return Turn{}, ErrElsewhere
	}
	if err := l.takeUpTurns(ctx, restarted()); err != nil {
		l.hub.Logger.Error("turns that were cut off could not be closed", "session", l.id, "error", err)
		return Turn{}, notLogged(err)
	}
	unlock, err := l.lockHistory(ctx)
	if err != nil {
		return Turn{}, err
	}
	defer unlock()
	if err := l.loadThread(ctx); err != nil {
		return Turn{}, err
	}
	if t, repeated, err := l.repeated(ctx, p); repeated || err != nil {
		return t, err
	}
	if t, answered, err := l.answerInText(ctx, p); answered || err != nil {
		return t, err
	}
	if err := l.atHome(); err != nil {
		return Turn{}, err
	}
	if p.Regenerate {
		p.Of = l.resolveMessageID(p.Of)
		var err error
		if p, err = l.resolveRegenerate(ctx, p); err != nil {
			return Turn{}, err
		}
	}
	if err := l.loadResumePoint(ctx, p.Message.ID); err != nil {
		return Turn{}, err
	}
	after, err := l.newest(ctx)
	if err != nil {
		return Turn{}, err
	}
	t, stopping, err := l.admit(p, after)
	if err != nil {
		return Turn{}, err
	}
	for _, s := range stopping {
		switch s.stop.Reason {
		case unanswered:
			s.turn.refuseAll(p.sender())
		case superseded:
			s.turn.builder.Emit(trace.Rewind{To: t.rewind.to})
		}
		s.turn.writeStop(s.stop)
	}
	// On record before it is answered for, so that prompts stand in the log in the
	// order in which they were taken.
	l.enqueue(t)
	if err := t.builder.Flush(); err != nil {
		return Turn{}, l.refuse(t, err)
	}
	if err := l.dropHeld(ctx, t.rewind.turns); err != nil {
		t.logger.Error("held prompts that were removed are not closed", "error", err)
	}
	l.mu.Lock()
	t.state.To(turnstate.Queued) // unless it runs, or was withdrawn meanwhile
	l.mu.Unlock()
	l.startNext()
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.state == turnstate.Queued {
		t.prompt.Message.Parts = nil // the prompt may be large, and is in the log
	}
	return t.handle(), nil
}

// enqueue writes the prompt of an admitted turn, and starts the turn if the agent is free.
func (l *activeSession) enqueue(t *turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var events []trace.Payload
	if t.rewind.to != "" {
		events = append(events, trace.Rewind{To: t.rewind.to})
	}
	events = append(events, t.promptOf(t.prompt.Message))
	if l.next() == t {
		l.start(t, events...)
	} else {
		l.followed(t)
		t.builder.EmitTogether(events...)
	}
}

// refuse withdraws a turn that could not be put on record.
func (l *activeSession) refuse(t *turn, err error) error {
	l.mu.Lock()
	mine := t.state.To(turnstate.Withdrawing)
	stopTimer(&t.subscribers.grace)
	l.mu.Unlock()
	if mine {
		t.writeStop(failed(trace.ReasonLog, "The gateway could not write its log, so the prompt was not run."))
	}
	<-t.ended
	l.undoRewind(t.rewind)
	t.logger.Error("prompt not taken", "error", err)
	return notLogged(err)
}

// superseded is the reason of a turn that an edit or a regeneration replaces. A
// rewind goes before the records that close the turn's parts. So a subscriber gets
// the end before any record could bring the message back.
const superseded = thread.Superseded

// ending is a turn that a new prompt ends.
type ending struct {
	turn *turn
	stop trace.Stop
}

// admit decides what a prompt means now, and makes its turn.
func (l *activeSession) admit(p Prompt, after uint64) (t *turn, stopping []ending, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refusal(); err != nil {
		return nil, nil, err
	}
	back, err := l.resolve(p)
	if err != nil {
		return nil, nil, err
	}
	if len(p.Message.Parts) == 0 {
		return nil, nil, ErrEmptyPrompt
	}
	if err := l.mayCommand(p); err != nil {
		return nil, nil, err
	}
	if l.busy() && len(l.queue)+len(l.info.Held()) >= l.hub.MaxQueue {
		return nil, nil, ErrQueueFull
	}
	if stopping, err = l.preempt(p, back); err != nil {
		return nil, nil, err
	}
	// The turns that end because of the prompt make room for it.
	ending := prompts{count: len(stopping)}
	for _, s := range stopping {
		ending.bytes += s.turn.weighs
	}
	weighs := int64(trace.ApproxSize(trace.Prompt{Message: p.Message}))
	if err := l.hub.quota.take(p.By, prompts{1, weighs}, l.hub.Options, ending); err != nil {
		return nil, nil, err
	}
	for _, s := range stopping {
		s.turn.decideStop() // all at once, so that no removed turn begins while another one is ended
	}
	if p.Message.ID == "" {
		p.Message.ID = "user_" + newID(l.hub.Now())
	}
	t = l.newTurn(agent.Prompt{Message: p.Message, By: p.By, Channel: p.Channel, Caller: p.Caller}, after, l.keySuffix(p.By, p.Key))
	t.rewind, t.counted, t.weighs = back, true, weighs
	t.timing = trace.Timing{Received: p.Received, Read: p.Read}
	l.queue = append(l.queue, t)
	l.applyRewind(back)
	l.thread.Add(thread.Message{ID: p.Message.ID, Turn: t.id, User: true, By: p.By, After: after})
	l.info.addChannel(p.Channel)
	l.info.Archived = false
	if l.info.Title == "" {
		l.info.Title = title(t.prompt.Text())
	}
	l.enter(t)
	return t, stopping, nil
}

// preempt says which turns end because of the prompt. The caller holds l.mu.
func (l *activeSession) preempt(p Prompt, back rewind) ([]ending, error) {
	r := l.running
	alive := r != nil && !r.state.Stopped()
	switch {
	case back.to != "": // it waits for whatever else runs, whatever the policy
		return l.superseded(back), nil
	case !l.busy():
		return nil, nil
	case alive && r.state == turnstate.Paused && r.by == p.By && r.channel == p.Channel:
		return []ending{{r, stopped(unanswered)}}, nil
	case alive && r.state == turnstate.Paused:
		return nil, ErrPaused
	case alive && r.subscribers.grace != nil && r.by == p.By && r.channel == p.Channel:
		return []ending{{r, stopped("disconnected")}}, nil
	case l.hub.Busy == Reject:
		return nil, ErrBusy
	case l.hub.Busy == Interrupt && alive:
		return []ending{{r, stopped("interrupted")}}, nil
	}
	return nil, nil
}

// startNext starts the next turn if the agent is free and the turn's prompt is on record.
func (l *activeSession) startNext() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.next(); t != nil && t.state == turnstate.Queued {
		l.start(t)
	}
}

// next is the turn that gets the agent now, or nil. No turn begins while the gateway ends. The
// caller holds l.mu.
func (l *activeSession) next() *turn {
	i := slices.IndexFunc(l.queue, func(t *turn) bool { return t.state.Waiting() })
	if l.running != nil || i < 0 || l.hub.ctx.Err() != nil || l.hub.refuses() {
		return nil
	}
	return l.queue[i]
}

// start gives a turn the agent. The events go on record with its first message. The caller
// holds l.mu.
func (l *activeSession) start(t *turn, before ...trace.Payload) {
	t.state.To(turnstate.Running)
	l.queue = slices.DeleteFunc(l.queue, func(q *turn) bool { return q == t })
	stopTimer(&t.subscribers.grace) // from now on the rules of a running turn hold for its subscribers
	l.running = t
	t.openMessage(trace.CausePrompt, before...)
	l.keepAgent()
	if t.subscribers.came && t.subscribers.n == 0 {
		l.startGrace(t)
	}
	onRecord := len(before) == 0 // the prompt, and not among these events
	l.hub.goes.Go(func() {
		t.run(onRecord)
		l.releaseAgent(t)
	})
}

// releaseAgent frees the agent after a turn.
func (l *activeSession) releaseAgent(t *turn) {
	<-t.ended
	l.mu.Lock()
	t.state.To(turnstate.Released) // a detached turn stays what it is
	t.freeMessage()
	if l.running == t {
		l.running = nil
	}
	l.mu.Unlock()
	l.startNext()
	l.idleAgent()
}
