package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/eventlog"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session/agents"
	"github.com/tributary-dev/tributary/session/thread"
	"github.com/tributary-dev/tributary/session/turnstate"
	"github.com/tributary-dev/tributary/trace"
)

// This file runs one turn from its first record to its stop.

// Turn is what a caller needs to know to follow a turn.
type Turn struct {
	Session string
	ID      string
	// Agent names the agent, and By who asked; "" if that is not known any more, or
	// the agent began by itself.
	Agent, By string
	// MessageID is the id of the assistant message.
	MessageID string
	// After is where to read from: the turn's records have greater numbers.
	After uint64
	// Running is false for a turn whose stop is on record.
	Running bool
	// Queued says that it waits for another turn's end.
	Queued bool
	// From is the number of the first record that the caller gets, if the caller does
	// not need the turn from its start. Past is the number of the last pause that the
	// caller passes over, because the pause's requests have their answers. Upto is the
	// number of the newest answer at a pause that waits for more, or 0.
	From, SkipPausesThrough, Upto uint64
	// Repeated says that a request was sent again with its key: the turn is that of the first one.
	Repeated bool
}

// turn is a turn that is not over, or was the last.
type turn struct {
	session        *activeSession
	id             string
	messageID      string
	by             string
	channel        string
	at             time.Time       // when the prompt came
	agentInitiated bool            // the agent began it, also if somebody asked for it there
	openTurn       *agent.OpenTurn // what an earlier process left of it; nil if it began in this one
	rewind         rewind          // what it takes back
	timing         trace.Timing
	after          uint64
	builder        *trace.Builder
	// ctx is the life of the agent's work: it outlives requests, and ends with the decision
	// to stop, so that a slow log does not delay the agent's stop.
	ctx     context.Context //nolint:containedctx // as above
	cancel  context.CancelCauseFunc
	tooMuch atomic.Bool   // the agent has exceeded a bound
	logger  *slog.Logger  // says which turn it is
	ended   chan struct{} // closed when the stop is on record

	// Guarded by activeSession.mu.
	state       turnstate.State
	prompt      agent.Prompt // its message has no parts when they are only in the log
	endedAt     time.Time
	outcome     trace.Outcome // "" until the stop is decided
	undelivered bool
	counted     bool  // among the prompts of its principal
	weighs      int64 // of its message, among those of its principal
	unwritten   error // why the stop is not on record
	subscribers subscribers
	pause       pause
	asking      map[string]permission.Grant // what an "always" would grant, by the call that is asked about
	reaches     map[string]*reach           // hosts that are not in the agent's egress
}

func (l *activeSession) newTurn(p agent.Prompt, after uint64, keySuffix string) *turn {
	now := l.hub.Now()
	id := newIDWith(now, keySuffix)
	t := &turn{session: l, id: "turn_" + id, messageID: "msg_" + id, by: p.By, channel: p.Channel, at: now, prompt: p, after: after}
	t.logger = l.loggerOf(t.id, p.By, p.Caller)
	t.begin()
	t.builder = trace.NewBuilder(l.hub.ctx, t.writes())
	return t
}

// begin makes what ends with the turn.
func (t *turn) begin() {
	t.asking, t.reaches = map[string]permission.Grant{}, map[string]*reach{}
	t.ended = make(chan struct{})
	t.ctx, t.cancel = context.WithCancelCause(t.session.hub.ctx)
}

// outputWithin bounds how long the newest output of a silent command waits.
const outputWithin = 250 * time.Millisecond

// writes says how the turn is written.
func (t *turn) writes() trace.Config {
	h := t.session.hub
	return trace.Config{
		Turn: t.id, Now: h.Now, Append: t.append, Decide: t.decide, Offer: t.offer, RequestSuffix: requestSuffix(t.id), Hold: h.Approval == Hold,
		RequestsChanged: t.requestsChanged, ShowRequestsWithin: showRequestsWithin, ShowWithin: outputWithin,
		MaxEvent: maxEvent, MaxBytes: h.MaxTurnBytes, MaxRecords: int64(h.MaxTurnRecords), MaxHeld: maxHeld,
		Reserve: h.reserve, Exceeded: t.exceeded,
	}
}

// requestSuffix ends the ids of what a turn asks.
func requestSuffix(turn string) string {
	const enough = 6 // characters that are drawn by chance
	return "-" + turn[max(0, len(turn)-enough):]
}

func (t *turn) ref() TurnRef {
	return TurnRef{ID: t.id, MessageID: t.messageID, After: t.after, EndedAt: t.endedAt, Outcome: t.outcome, Undelivered: t.undelivered, AgentInitiated: t.agentInitiated}
}

func (t *turn) handle() Turn {
	return Turn{
		Session: t.session.id, ID: t.id, Agent: t.session.info.Agent, By: t.by, MessageID: t.messageID, After: t.after,
		Running: !t.state.Stopped(), Queued: t.state.Waiting(),
	}
}

// openMessage begins the turn's assistant message, at the place where the agent stands now. The
// events before it go on record with it. The caller holds activeSession.mu.
func (t *turn) openMessage(cause trace.Cause, before ...trace.Payload) {
	l := t.session
	l.thread.Add(thread.Message{ID: t.messageID, Turn: t.id, After: t.after, Resume: l.info.Resume, Known: true})
	t.builder.EmitTogether(append(before, trace.Reply{MessageID: t.messageID, Cause: cause, Resume: l.info.Resume})...)
}

// decideStop decides the end of the turn, and reports false if another caller has decided
// it. The caller holds activeSession.mu, and must call writeStop without activeSession.mu.
func (t *turn) decideStop() bool {
	if !t.state.Stop() {
		return false
	}
	stopTimer(&t.subscribers.grace)
	return true
}

// decides is decideStop for a caller without activeSession.mu.
func (t *turn) decides() bool {
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	return t.decideStop()
}

// finish ends the turn, unless another caller does so; then finish waits for that one.
func (t *turn) finish(s trace.Stop) {
	if t.decides() {
		t.writeStop(s)
	}
	<-t.ended
}

// endNow takes nothing more of the agent, and ends the turn in the background, unless another
// caller ends it.
func (t *turn) endNow(s trace.Stop) {
	if t.decides() {
		t.builder.Close(s)
		t.session.hub.goes.Go(func() { t.writeStop(s) })
	}
}

// writeStop stops the agent, and then puts the stop on record. Later events of the agent
// are counted and dropped.
func (t *turn) writeStop(s trace.Stop) {
	l := t.session
	if !t.standsAt().Began() && s.Outcome == trace.OutcomeCanceled && s.Reason != superseded {
		s = stopped("not_run")
	}
	t.builder.Close(s)
	t.cancel(t.endCause())
	err := t.builder.Finish(s)
	if err != nil && !errors.Is(err, eventlog.ErrNotOwner) { // else the owner closes the turn
		t.logger.Error("turn not wholly recorded", "error", err)
		defer l.hub.goes.Go(l.retryTakeUp)
	}
	t.logger.Info("turn ended", "outcome", s.Outcome, "reason", word(s.Reason))
	l.mu.Lock()
	if t.state.Close() { // its stop is not on record
		t.endedAt, t.outcome = l.hub.Now(), s.Outcome
	}
	if t.unwritten = err; err != nil {
		l.unwritten[t.id] = s
	}
	t.pause.stop()
	t.prompt, t.openTurn = agent.Prompt{}, nil
	l.leave(t, err == nil)
	unsaved := l.changes != l.kept
	l.mu.Unlock()
	if err == nil && unsaved { // else the log is away, and whoever reads the turn is to learn that
		l.saveLater()
	}
	l.hub.board.changed(l)
	t.leaveReaders()
}

var errEnded = errors.New("the turn is over")

// freeMessage says that neither the turn nor its agent has the message any more. The caller
// holds activeSession.mu.
func (t *turn) freeMessage() {
	if t.weighs != 0 {
		t.session.hub.quota.count(t.by, prompts{bytes: -t.weighs})
		t.weighs = 0
	}
}

// stopped is the stop of a turn that somebody or something ended.
func stopped(reason string) trace.Stop {
	return trace.Stop{Reason: reason, Outcome: trace.OutcomeCanceled, Error: why(reason)}
}

// why says in history what the user did not do, or not on purpose.
func why(reason string) string {
	switch reason {
	case "not_run":
		return "This message was not run: send it again if it still matters."
	case "disconnected":
		return "The turn was stopped because nobody was connected to it any more."
	case unanswered:
		return "The turn was stopped because a new message came instead of an answer."
	case "interrupted":
		return "The turn was stopped because of a new message."
	case "shutdown":
		return "The turn was stopped because the gateway was shut down."
	}
	return ""
}

func failed(reason, sentence string) trace.Stop {
	return trace.Stop{Reason: reason, Outcome: trace.OutcomeFailed, Error: sentence}
}

// append puts events of a turn on record.
func (t *turn) append(ctx context.Context, events []trace.Event) error {
	events = trace.JoinDeltas(events) // nothing waits for more: these have waited for the append before them
	events, err := t.session.nameSteps(ctx, t.id, events)
	if err != nil {
		return err
	}
	for _, e := range events {
		t.countTool(e.Payload)
	}
	stop, is := stopOf(events)
	if !is {
		return t.session.append(ctx, t.id, events, nil)
	}
	t.session.mu.Lock()
	t.endedAt, t.outcome = t.session.hub.Now(), stop.Outcome
	t.session.mu.Unlock()
	if err := t.session.append(ctx, t.id, events, t.endsIn); err != nil {
		return err
	}
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	t.state.Close()
	return nil
}

// endsIn notes in a document that the stop of the turn is on record. The caller holds
// activeSession.mu.
func (t *turn) endsIn(i *Info) {
	i.Open = i.openBut(t.id)
	if t.state.Began() {
		ref := t.ref()
		i.Last = &ref
	}
}

// run gives the turn to the agent and returns when the agent is free again. Unless the prompt is on record, run waits for that. A
// turn whose prompt the log refuses is ended by who gave the prompt.
func (t *turn) run(onRecord bool) {
	if !onRecord && t.builder.Flush() != nil || !t.syncAgent() {
		return
	}
	t.logger.Debug("turn began")
	t.perform(func(s agent.Session) error {
		p, err := t.takePrompt()
		if err != nil {
			return err
		}
		if err = s.Prompt(t.ctx, p, t.builder); err == nil && len(agent.Commands(p.Message)) == 0 {
			t.noteSilence()
		}
		return err
	})
}

// takePrompt returns the prompt for the agent, and keeps nothing of the message. A prompt
// that was queued is read from the log.
func (t *turn) takePrompt() (p agent.Prompt, err error) {
	t.session.mu.Lock()
	p = t.prompt
	t.prompt.Message = trace.UserMessage{}
	t.session.mu.Unlock()
	if p.Message.Parts == nil {
		p.Message, err = t.session.loadPrompt(t.ctx, t.id, p.Message.ID)
	}
	return p, err
}

// perform has the agent do the turn.
func (t *turn) perform(do func(agent.Session) error) {
	l := t.session
	session, err := l.openAgent(t)
	if err != nil {
		t.finish(failed(trace.ReasonUnavailable, err.Error()))
		return
	}
	if l.hub.Timing && t.openTurn == nil {
		t.timing.Ready = l.hub.Now()
		t.builder.EmitTogether(t.timing.Payload())
	}
	released := make(chan struct{})
	l.hub.goes.Go(func() { t.watch(session, released) })
	err = agents.Contain(t.logger, func() error { return do(session.Session) })
	close(released)
	t.finish(t.verdict(err))
	if err != nil && !errors.Is(err, context.Canceled) || t.tooMuch.Load() || !l.keepsOwning() {
		l.closeAgent() // whatever state it is in and whatever it holds, the next prompt gets a fresh one
	}
}

// verdict is how a turn ended that nobody ended from outside.
func (t *turn) verdict(err error) trace.Stop {
	if s, ok := t.builder.Result(); ok {
		return s
	}
	switch {
	case err != nil && t.ctx.Err() != nil:
		return stopped("stopped")
	case err != nil:
		return failed(trace.ReasonLost, err.Error())
	}
	return trace.Stop{Reason: "end_turn", Outcome: trace.OutcomeCompleted}
}

// watch ends a turn whose agent is silent for too long or whose log failed, and an
// agent that does not stop in time.
func (t *turn) watch(session *agents.Opened, released <-chan struct{}) {
	h := t.session.hub
	silence := time.NewTimer(h.IdleLimit)
	defer silence.Stop()
	for {
		select {
		case <-released:
			return
		case <-t.builder.Failed():
			t.finish(failed(trace.ReasonLog, logFailed))
		case <-silence.C:
			a := t.builder.Activity()
			rest := a.Last.Add(h.IdleLimit).Sub(h.Now())
			if went := time.Unix(0, h.goesOn.Load()); went.After(a.Last) {
				rest = went.Add(h.IdleLimit).Sub(h.Now())
			}
			if a.Tools > 0 || a.Asks > 0 || h.standsStill.Load() {
				rest = h.IdleLimit
			}
			if rest <= 0 {
				t.finish(failed(trace.ReasonIdle, fmt.Sprintf("The agent said nothing for %s, so the turn was ended.", h.IdleLimit)))
			}
			silence.Reset(max(rest, time.Millisecond))
			continue
		case <-t.ctx.Done():
		}
		// The turn is over or being ended: the agent gets a moment to notice.
		select {
		case <-released:
		case <-time.After(h.StopPatience):
			t.logger.Warn("agent did not stop and is ended")
			t.session.forgetAgent(session) // first: its Prompt returns as it closes, and the next turn must not get it
			_ = session.Close()
		}
		return
	}
}

func stopTimer(timer **time.Timer) {
	if *timer != nil {
		(*timer).Stop()
		*timer = nil
	}
}
