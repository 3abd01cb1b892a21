package agentkit

import (
	"context"
	"fmt"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Why a turn fails whose agent did not do its part, and what the user sees meanwhile. Each
// takes the agent's name.
const (
	neverCame   = "No %s has connected to this session: start one, then send the message again."
	notReady    = "The %s of this session does not become ready: see in its log why, then send the message again."
	keepsEnding = "The %s of this session was lost each time it had this message: see in its log why."
	stayedAway  = "The %s of this session is gone: start it again, then send the message again."
	waiting     = "Waiting for the %s of this session."
	repeated    = "The %s of this session is gone: the next one gets the prompt again."
)

const (
	// startTime is how long a turn waits for an agent that is connected and ready.
	startTime = 2 * time.Minute
	// goneTime is how long a turn waits for another connection after a loss. graceTime is
	// how long the user sees nothing of the loss.
	goneTime, graceTime = time.Minute, 5 * time.Second
	// stoppingTime is how long the next prompt waits for an agent that is Stopping.
	stoppingTime = 2 * time.Second
	// touchTime is how often a turn that waits says that it is alive.
	touchTime = 20 * time.Second
	// mostTries is how often a prompt is sent: the prompt may be what ends the agent.
	mostTries = 5
)

// inboundLink brings a prompt to the agent that is connected, and to the next one after a
// loss.
type inboundLink struct {
	s       *Session
	place   *place
	b       *trace.Builder
	prompt  agent.Prompt
	began   time.Time
	visit   *visit // has the prompt
	sent    int    // how often the prompt was sent
	stopped *visit // was asked to stop
	shown   string // what the user has seen of the wait
}

var _ Link = (*inboundLink)(nil)

// Connect implements Link.
func (l *inboundLink) Connect(ctx context.Context) (Connection, error) {
	now, err := l.wait(ctx)
	if err != nil {
		return Connection{}, err
	}
	l.visit = now.visit
	return Connection{Lost: now.visit.gone.Done(), GoesOn: now.phase == Working && l.sent > 0}, nil
}

// Send implements Link. A connection that was lost before gets no prompt.
func (l *inboundLink) Send(ctx context.Context) error {
	data := l.place.protocol.Prompt(l.prompt, l.s.Inside, l.s.cfg)
	l.place.mu.Lock()
	here, err := l.place.now.Load().visit == l.visit, error(nil)
	if here {
		err = l.s.Sent(agent.Message{Dir: agent.In, Data: data}) //nolint:contextcheck // effects live as long as the session
	}
	l.place.mu.Unlock()
	if err != nil || !here {
		return err
	}
	l.sent++
	l.shown = ""
	_ = l.visit.write(ctx, data) // a connection that is lost is noticed by its reader
	return nil
}

// Stop implements Link. Each connection is asked once.
func (l *inboundLink) Stop(ctx context.Context) error {
	v := l.place.now.Load().visit
	switch v {
	case nil:
		return errGone
	case l.stopped:
		return nil
	}
	l.stopped = v
	l.place.decoding.Lock()
	stop := l.place.protocol.Stop()
	l.place.decoding.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // also while the session is being closed
	defer cancel()
	return l.s.Send(ctx, stop)
}

// Cut implements Link. The connection stays, because later turns need it.
func (l *inboundLink) Cut() {}

// Lost implements Link. The next agent goes on with the prompt, or gets it again.
func (l *inboundLink) Lost(Loss) (again bool, end trace.Stop) { return true, trace.Stop{} }

// wait waits until an agent can take the prompt, or goes on with it.
func (l *inboundLink) wait(ctx context.Context) (moment, error) {
	for {
		now := l.place.look() //nolint:contextcheck // effects end with the session
		switch {
		case l.b.Over():
			return now, errGone
		case now.phase == Ready && l.sent == mostTries:
			return now, l.lost(keepsEnding)
		case now.phase == Ready, now.phase == Working, now.phase == Stopping && time.Since(now.since) >= stoppingTime:
			return now, nil
		}
		until, show, failure := l.patience(now)
		rest := time.Until(until)
		if rest <= 0 && failure != "" {
			return now, l.lost(failure)
		}
		if show != "" && show != l.shown {
			l.shown = show
			l.b.Emit(trace.Status{State: trace.StateIdle, Detail: fmt.Sprintf(show, l.place.in.name)})
		}
		timer := time.NewTimer(max(time.Millisecond, min(rest, touchTime)))
		select {
		case <-now.next:
		case <-l.b.Ended():
		case <-timer.C:
			l.b.Touch()
		case <-ctx.Done():
			return now, ctx.Err()
		}
		timer.Stop()
	}
}

func (l *inboundLink) lost(why string) error {
	return &PromptError{Reason: trace.ReasonLost, Sentence: fmt.Sprintf(why, l.place.in.name)}
}

// patience says until when to wait, what to show the user meanwhile, and how the turn fails
// then. Without a failure the next state decides.
func (l *inboundLink) patience(now moment) (until time.Time, show, failure string) {
	since := now.since
	if l.sent == 0 && since.Before(l.began) {
		since = l.began
	}
	switch {
	case now.phase == Stopping:
		return now.since.Add(stoppingTime), "", ""
	case l.sent == 0 && now.phase == Gone:
		return since.Add(startTime), waiting, neverCame
	case l.sent == 0:
		return since.Add(startTime), waiting, notReady
	case now.phase == Gone && time.Since(since) < graceTime:
		return since.Add(graceTime), "", ""
	case now.phase == Gone:
		return since.Add(goneTime), repeated, stayedAway
	}
	return since.Add(goneTime), "", stayedAway
}
