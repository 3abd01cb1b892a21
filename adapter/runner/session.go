package runner

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

var errClosed = errors.New("the session with the runner is closed: send the message again")

// session is a session that waits for its runner.
type session struct {
	runtime *Runtime
	post    *post
	host    agent.Host
	model   string
	life    context.Context //nolint:containedctx // ends with Close
	end     context.CancelCauseFunc
	closing sync.Once
	turns   sync.Mutex // held while a turn runs, so that Close can wait for it
}

// Close implements agent.Session. The runner stays connected.
func (s *session) Close() error {
	s.closing.Do(func() {
		s.end(errClosed)
		s.turns.Lock() // a running turn notices at once
		defer s.turns.Unlock()
		s.post.mu.Lock()
		if s.post.host == s.host {
			s.post.host = nil
		}
		s.post.mu.Unlock()
		s.runtime.leave(s.post.session, s.post)
	})
	return nil
}

// Prompt implements agent.Session.
func (s *session) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.turns.Lock()
	defer s.turns.Unlock()
	if s.life.Err() != nil {
		return errClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(s.life, func() { cancel(errClosed) })() //nolint:contextcheck // the end of the session ends the turn too

	t := newTurn(s.frame(p), b, *s.runtime.Tools)
	var asking sync.WaitGroup
	defer asking.Wait()
	defer cancel(nil)
	t.ask = s.asker(ctx, &asking)
	s.post.begin(t)
	defer s.post.finish(t)
	w := &wait{session: s, turn: t, began: time.Now()}
	return w.run(ctx)
}

// frame is the prompt as a runner reads it.
func (s *session) frame(p agent.Prompt) agentops.RunnerPrompt {
	f := agentops.RunnerPrompt{
		MessageID: p.Message.ID, Content: p.Text(), Model: s.model, AuthorID: p.By, AuthorName: p.By, Traceparent: p.Caller.Traceparent,
	}
	typ, id, two := strings.Cut(p.Channel, ":")
	switch {
	case two:
		f.ChannelType, f.ChannelID = typ, id
	case p.Channel != "":
		f.ChannelType, f.ChannelID = "web", p.Channel
	}
	if f.ChannelType == agentops.ThreadChannel {
		f.ThreadID = f.ChannelID
	}
	for _, part := range p.Message.Parts {
		if part.Type == trace.InputFile {
			f.Attachments = append(f.Attachments, agentops.Attachment{Type: "file", MIME: part.MediaType, URL: part.URL, Filename: part.Filename})
		}
	}
	return f
}

// mostAsks bounds the questions of a turn that wait.
const mostAsks = 32

// asker returns what waits for answers, in goroutines that end with ctx.
func (s *session) asker(ctx context.Context, asking *sync.WaitGroup) func(id, native string) {
	places := make(chan struct{}, mostAsks)
	return func(id, native string) {
		select {
		case places <- struct{}{}:
		default: // it asks and asks
			_ = s.post.tell(ctx, agentops.Answer{QuestionID: native, Answer: agentops.AnswerValue{Text: agentops.Expired}})
			return
		}
		asking.Go(func() {
			defer func() { <-places }()
			answer, err := s.host.Ask(ctx, id)
			if ctx.Err() != nil {
				return // the runner is told to abort, or has gone on by itself
			}
			value := agentops.Expired
			if err == nil && answer.Outcome == trace.Selected {
				value = strings.Join(answer.Values, ", ")
			}
			_ = s.post.tell(ctx, agentops.Answer{QuestionID: native, Answer: agentops.AnswerValue{Text: value}}) // a runner that is gone asks again
		})
	}
}

func (p *post) begin(t *turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn = t
}

// finish takes the turn off, and remembers what the runner may still say of it.
func (p *post) finish(t *turn) {
	t.mu.Lock()
	t.done = true
	names := t.names
	t.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn = nil
	p.past = append(p.past, names...)
	p.past = p.past[max(0, len(p.past)-mostPast):]
}
