package replay

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// player gives the decoder its turns.
type player struct {
	Options

	ctx   context.Context //nolint:containedctx // the life of one Run
	clock clock
	sum   Summary

	b     *trace.Builder   // the newest
	older []*trace.Builder // those that run beside it
	held  []trace.Event    // notes that came while the turn ran
	notes int
	// resume is the token of a conversation that began before the recording.
	resume string

	mu   sync.Mutex // guards what follows, and Agent: a Builder appends on its own
	emit func(trace.Record) error
	seq  uint64
	err  error
	// shift is added to the time of each record.
	shift time.Duration
	// beside holds what turns that run beside each other have written since the last
	// message, so that it comes in one order; nil while there is only one.
	beside map[string][]trace.Event
}

var _ agent.Turns = (*player)(nil)

// Prompted implements agent.Turns.
func (p *player) Prompted(prompt trace.Prompt) *trace.Builder {
	return p.Begin(agent.TurnInfo{Prompt: &prompt})
}

// Begin implements agent.Turns. It finishes the turn before, unless that goes on.
func (p *player) Begin(info agent.TurnInfo) *trace.Builder {
	if info.Concurrent && p.b != nil {
		p.gather()
		p.older = append(p.older, p.b)
	} else {
		_ = p.finish() // put keeps the error, and settle returns it
	}
	p.sum.Turns++
	turn := fmt.Sprintf("turn-%d", p.sum.Turns)
	p.b = trace.NewBuilder(p.ctx, trace.Config{
		Turn: turn,
		Now:  p.clock.now,
		Append: func(_ context.Context, events []trace.Event) error {
			return p.put(turn, events)
		},
	})
	reply := trace.Reply{MessageID: fmt.Sprintf("reply-%d", p.sum.Turns), Cause: trace.CauseAgent}
	if p.sum.Turns == 1 {
		reply.Resume = p.resume
	}
	if info.Prompt != nil {
		p.b.Emit(*info.Prompt)
		reply.Cause = trace.CausePrompt
	}
	p.b.Emit(reply)
	return p.b
}

// resumes notes that the conversation began before the recording: the agent has its token before the
// first turn.
func (p *player) resumes(effects []agent.Effect) {
	for _, e := range effects {
		if r, is := e.(agent.Resume); is && p.sum.Turns == 0 {
			p.resume = r.Token
		}
	}
}

// Current implements agent.Turns.
func (p *player) Current() *trace.Builder { return p.b }

// Note implements agent.Turns.
func (p *player) Note(payload trace.Payload) {
	if d, is := payload.(trace.Data); is && p.Agent.Adapter != "" {
		if told, ok := d.Agent(); ok {
			now, news := p.learned(told)
			if !news {
				return
			}
			if p.b != nil { // in the middle of the turn, so that it is before the turn's end
				_ = p.b.Flush() // put keeps the error
			}
			_ = p.put("", []trace.Event{p.note(now.Payload())})
			return
		}
	}
	p.held = append(p.held, p.note(payload))
	if p.b == nil {
		p.release()
	}
}

// learned is what is known of the agent now, and whether that is more than before.
func (p *player) learned(told trace.AgentInfo) (now trace.AgentInfo, news bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now = p.Agent.With(told)
	news = !now.Equal(p.Agent)
	p.Agent = now
	return now, news
}

func (p *player) note(payload trace.Payload) trace.Event {
	p.notes++
	return trace.Event{ID: fmt.Sprintf("note-%d", p.notes), Time: p.clock.now(), Actor: trace.Agent, Payload: payload}
}

func (p *player) release() {
	held := p.held
	p.held = nil
	_ = p.put("", held)
}

// settle finishes the turns that the decoder has ended, and returns what went wrong.
func (p *player) settle() error {
	p.passOnAll()
	return p.close((*trace.Builder).Over)
}

// gather begins to hold back what turns write.
func (p *player) gather() {
	_ = p.b.Flush() // put keeps the error
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beside == nil {
		p.beside = map[string][]trace.Event{}
	}
}

// passOnAll passes on the records of the open turns, in the order of the turns.
func (p *player) passOnAll() {
	if len(p.older) == 0 {
		return
	}
	for _, b := range append(slices.Clone(p.older), p.b) {
		_ = b.Flush() // put keeps the error
		p.passOn(b)
	}
}

// passOn passes on the records that a turn has written.
func (p *player) passOn(b *trace.Builder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.number(b.Turn(), p.beside[b.Turn()]) // failure returns the error
	delete(p.beside, b.Turn())
}

// finish ends the turns that are open.
func (p *player) finish() error {
	return p.close(func(*trace.Builder) bool { return true })
}

// close ends turns, those that began first before the others.
func (p *player) close(which func(*trace.Builder) bool) error {
	if p.b == nil {
		return p.failure()
	}
	var open []*trace.Builder
	for _, b := range append(p.older, p.b) {
		switch {
		case b == nil:
		case !which(b):
			open = append(open, b)
		default:
			stop, ok := b.Result()
			if !ok {
				stop = trace.Stop{Reason: Ended, Outcome: trace.OutcomeCanceled}
			}
			_ = b.Finish(stop)
			p.passOn(b)
		}
	}
	p.b, p.older = nil, nil
	if n := len(open); n > 0 {
		p.b, p.older = open[n-1], open[:n-1]
	} else {
		p.release()
	}
	if len(p.older) == 0 {
		p.alone()
	}
	return p.failure()
}

func (p *player) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// alone ends the holding back: one turn is left, or none.
func (p *player) alone() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.b != nil {
		_ = p.number(p.b.Turn(), p.beside[p.b.Turn()]) // failure returns the error
	}
	p.beside = nil
}

// put takes what a turn has written.
func (p *player) put(turn string, events []trace.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.beside != nil && turn != "" {
		p.beside[turn] = append(p.beside[turn], events...)
		return p.err
	}
	return p.number(turn, events)
}

// number numbers events and hands them on. The caller holds p.mu.
func (p *player) number(turn string, events []trace.Event) error {
	for _, e := range events {
		if p.err != nil {
			return p.err
		}
		if p.seq == 0 {
			p.first(e)
		}
		p.write(turn, e)
	}
	return p.err
}

// first begins the trace: with the time of its first event, and with the agent, unless that is the
// event. The caller holds p.mu.
func (p *player) first(e trace.Event) {
	if !p.Start.IsZero() {
		p.shift = p.Start.Sub(e.Time)
	}
	d, _ := e.Payload.(trace.Data)
	if _, is := d.Agent(); !is && p.Agent.Adapter != "" {
		known := trace.AgentInfo{Name: p.Agent.Name, Adapter: p.Agent.Adapter}
		p.write("", trace.Event{ID: "agent", Time: e.Time, Actor: trace.Gateway, Payload: known.Payload()})
	}
}

// write hands a record on. The caller holds p.mu.
func (p *player) write(turn string, e trace.Event) {
	p.seq++
	e.Time = e.Time.Add(p.shift)
	if p.err == nil {
		p.err = p.emit(trace.Record{Session: p.Session, Turn: turn, Seq: p.seq, Event: e})
	}
}

// clock tells the time of the recording. It starts at a fixed moment and never
// goes back.
type clock struct{ at time.Duration }

func (c *clock) set(at time.Duration) { c.at = max(c.at, at) }

func (c *clock) now() time.Time { return time.Unix(0, 0).UTC().Add(c.at) }
