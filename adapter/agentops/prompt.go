package agentops

import (
	"context"
	"errors"
	"net/http"
	"time"

	wire "github.com/tributary-dev/tributary/agentops"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	if ctx.Err() != nil {
		b.End(stoppedHere())
		return nil //nolint:nilerr // a stopped turn is no fault: its trace says so
	}
	caller, err := s.api.as(p.Caller)
	if err != nil {
		failedFor(b, connectionFailed, err)
		return nil
	}
	if s.rt.PerTurn {
		defer s.hangUp()
		s.anew()
	}
	o := &activePrompt{b: b, caller: caller}
	open, leave, err := s.enter(ctx, o)
	if err != nil {
		return err
	}
	defer leave()
	if err := s.connect(open, caller); err != nil {
		return s.notHad(ctx, b, connectionFailed, err)
	}
	if err := s.say(open, o, p); err != nil && !s.taken(ctx, o, err) {
		s.drop(o)
		return s.notHad(ctx, b, err.Error(), err)
	}
	return s.await(ctx, o)
}

// taken reports whether a prompt is there, or may be, although its receipt did not
// come: the frames know better, and what was stopped meanwhile is to stop there too.
func (s *session) taken(ctx context.Context, o *activePrompt, why error) bool {
	if statusOf(why) != 0 || s.life.Err() != nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fate := s.dec.fate(o.b)
	return fate > sent || fate == sent && ctx.Err() != nil
}

// notHad ends a turn that could not be begun. That the session is closed is for
// whoever called to know.
func (s *session) notHad(ctx context.Context, b *trace.Builder, sentence string, why error) error {
	switch {
	case errors.Is(why, errClosed) || s.life.Err() != nil:
		return errClosed
	case ctx.Err() != nil:
		b.End(stoppedHere())
	default:
		failedFor(b, sentence, why)
	}
	return nil
}

// anew forgets what earlier turns have taught: nothing is shared between turns that
// have a connection each, but what an earlier one has brought upon the next.
func (s *session) anew() {
	s.mu.Lock()
	defer s.mu.Unlock()
	twice := s.dec.twice
	s.dec, s.pendingStops = s.newDecoder(), nil
	s.dec.twice = twice
}

// drop forgets a prompt that was not taken.
func (s *session) drop(o *activePrompt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.active == o {
		s.active = nil
	}
	s.dec.unsend(o.b)
}

// await returns when a turn is over, and stops it if it is told to.
func (s *session) await(ctx context.Context, o *activePrompt) error {
	select {
	case <-o.b.Ended():
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), agent.ErrLeft) {
			o.b.End(trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled})
			break
		}
		s.stop(o) //nolint:contextcheck // ctx is over; stopping has a bound of its own
	case <-s.life.Done(): // it goes on there
		o.b.End(trace.Stop{Reason: "closed", Outcome: trace.OutcomeCanceled})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.main != nil && s.main.who == whoIs(o.caller) {
		s.main.used = time.Now()
	}
	if s.active == o {
		s.active = nil
	}
	return nil
}

// place finds where a prompt is to be put. The newer server shows what the agent
// asks, and why it failed, only to prompts that have a place.
func (s *session) place(ctx context.Context, channel string, c agent.Caller) (place, error) {
	at := parsePlace(channel)
	s.mu.Lock()
	if at.named() {
		s.mu.Unlock()
		return at, nil
	}
	at.thread = s.at.Thread
	s.mu.Unlock()
	if at.thread != "" {
		return at, nil
	}
	thread, err := s.api.thread(ctx, c, s.cfg.SessionID)
	if err != nil {
		return at, err
	}
	if at.thread = thread; thread == "" {
		at.channel = wire.Channel{ChannelType: defaultType, ChannelID: "default"}
		return at, nil
	}
	s.mu.Lock()
	s.at.Thread = thread
	token := s.at.token()
	s.mu.Unlock()
	s.host.Resume(token)
	return at, nil
}

// say sends a prompt: by REST where the server has an address for it, which checks
// the sender's role and takes any size, else through the sender's own connection.
func (s *session) say(ctx context.Context, o *activePrompt, p agent.Prompt) error {
	at, err := s.place(ctx, p.Channel, o.caller)
	if err != nil {
		return err
	}
	user, err := s.userOf(ctx, o.caller)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.known.add(p.By, o.caller)
	posts := !s.mute
	out, dropped := s.compose(p, at)
	s.mu.Unlock()
	for _, why := range dropped {
		o.b.Emit(trace.Error{Message: why, Code: "attachment_dropped"})
	}
	if out.Content == "" && len(out.Attachments) == 0 {
		return &failure{sentence: "The prompt holds nothing that Agent Ops can read."}
	}
	frame := out
	frame.Type = wire.Prompt{}.Type()
	data, err := encode(frame)
	if err != nil {
		return err
	}
	s.awaitStops(ctx, o)
	s.awaitCalm(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.connect(ctx, o.caller); err != nil { // it may have been lost meanwhile, for good
		return err
	}
	s.mu.Lock()
	s.active = o
	s.dec.user = user // whoever prompts is us
	s.decode(agent.In, data)
	s.mu.Unlock()
	ctx, cancel := lingering(ctx, s.life)
	defer cancel()
	if posts {
		err = s.api.call(ctx, o.caller, http.MethodPost, pathOf("sessions", s.cfg.SessionID, "prompt"), out, nil)
		if !lacksRoute(err) {
			return err
		}
		s.mu.Lock()
		s.mute = true
		s.mu.Unlock()
	}
	return s.speak(ctx, o.caller, data)
}

// lingering returns a context that ends a while after the first, or with the other. A prompt
// whose sending is cut off may be there, and nobody would stop it.
func lingering(ctx, life context.Context) (context.Context, context.CancelFunc) {
	long, cancel := context.WithCancel(context.WithoutCancel(ctx))
	ended := context.AfterFunc(ctx, func() { time.AfterFunc(shortTime, cancel) })
	closed := context.AfterFunc(life, cancel)
	return long, func() {
		ended()
		closed()
		cancel()
	}
}

// enter returns a context that ends with the first, or with the session. Meanwhile the turn's
// clock is told that the turn is alive while it waits for what is usual: the session wakes,
// the prompt is queued, a lost connection is made anew.
func (s *session) enter(ctx context.Context, o *activePrompt) (open context.Context, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == shut {
		return nil, nil, errClosed
	}
	open, cancel := context.WithCancelCause(ctx)
	closed := context.AfterFunc(s.life, func() { cancel(errClosed) })
	waited, done := context.WithCancel(ctx)
	s.goes.Go(func() {
		for rest(waited, aliveEvery) {
			if s.rests(o) {
				o.b.Touch()
			}
		}
	})
	return open, func() {
		done()
		closed()
		cancel(nil)
	}, nil
}

func (s *session) rests(o *activePrompt) bool {
	if !s.mu.TryLock() {
		return false // a frame is being taken, which is a sign of life by itself
	}
	defer s.mu.Unlock()
	switch {
	case s.main == nil, s.blocked == o: // it is being connected, which has a bound, or something is to be stopped first
		return true
	case s.active != o:
		return false
	case !s.dec.waking():
		s.asleep = time.Time{}
		return s.dec.phase(o.b) == queued
	case s.asleep.IsZero():
		s.asleep = time.Now()
	}
	return time.Since(s.asleep) < s.rt.wakeTime()
}
