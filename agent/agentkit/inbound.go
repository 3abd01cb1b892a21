package agentkit

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// InboundProtocol is what an adapter knows of the protocol of an agent that opens the
// connection itself. There is one for each session, and it outlives connections. Decode,
// Stop and State are called one at a time; the other methods need no state.
type InboundProtocol interface {
	agent.Decoder
	// Greeting is what the agent gets when it connects. The Decoder gets the first message.
	Greeting() []json.RawMessage
	// Reply is the answer to a message that gets one at once, or nil. err is that of Decode.
	Reply(message json.RawMessage, err error) json.RawMessage
	// Prompt encodes a prompt. inside is for [Blocks].
	Prompt(p agent.Prompt, inside func(path string) bool, cfg agent.Config) json.RawMessage
	// Stop encodes the request to end the open turn.
	Stop() json.RawMessage
	// State says what the agent is doing, as far as the messages tell.
	State() State
}

// Phase is what an agent is doing that opens the connection itself.
type Phase int

// The phases.
const (
	Gone     Phase = iota // no agent is connected
	Starting              // the agent takes no prompt yet
	Ready                 // the agent takes a prompt
	Working               // the agent works on the prompt of the open turn
	Stopping              // the agent has confirmed a stop, and is not done with it
)

// State is what an InboundProtocol knows of its agent.
type State struct {
	Phase Phase
	// Heard counts the messages of the open turn.
	Heard int
	// Close is what the session decodes in the agent's place if the agent, after it has said
	// how the turn ends, is silent instead of closing the turn; nil: nothing.
	Close json.RawMessage
}

// Inbound is where agents connect that open the connection themselves, and where the
// sessions with them are opened. An agent and its session meet by the session's id.
type Inbound struct {
	name     string
	protocol func() InboundProtocol

	mu     sync.Mutex
	places map[string]*place
}

// NewInbound returns an Inbound. The name is the agent's name for people within a sentence,
// such as "runner".
func NewInbound(name string, protocol func() InboundProtocol) *Inbound {
	return &Inbound{name: name, protocol: protocol, places: map[string]*place{}}
}

// enter returns the place of a session, which stays until leave is called.
func (in *Inbound) enter(id string) *place {
	in.mu.Lock()
	defer in.mu.Unlock()
	p := in.places[id]
	if p == nil {
		p = newPlace(in)
		in.places[id] = p
	}
	p.users++
	return p
}

func (in *Inbound) leave(id string, p *place) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(in.places, id)
	}
}

// Serve serves a connection until it ends, or another one replaces it.
func (in *Inbound) Serve(ctx context.Context, id string, c Socket) {
	p := in.enter(id)
	defer in.leave(id, p)
	p.serve(ctx, c)
}

// inboundSession is a session that waits for its agent.
type inboundSession struct {
	*Session
	in      *Inbound
	place   *place
	closing sync.Once
	turns   sync.Mutex // held while a turn runs
}

// Open opens a session. A turn waits for the agent; Open does not.
func (in *Inbound) Open(host agent.Host, cfg agent.Config) agent.Session {
	p := in.enter(cfg.SessionID)
	s := &inboundSession{in: in, place: p, Session: New(host, cfg, Options{Name: in.name, Decoder: p, Send: p.send})}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.session = s.Session
	for ; p.unknown > 0; p.unknown-- {
		cfg.Meter.Count(agent.UnknownEvent)
	}
	return s
}

// Prompt implements agent.Session.
func (s *inboundSession) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.turns.Lock()
	defer s.turns.Unlock()
	if s.life.Err() != nil {
		return ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)() //nolint:contextcheck // Close stops the turn, too
	return s.Run(ctx, b, &inboundLink{s: s.Session, place: s.place, b: b, prompt: p, began: time.Now()})
}

// Close implements agent.Session. The agent is asked to stop its turn, and stays connected.
func (s *inboundSession) Close() error {
	s.closing.Do(func() {
		s.place.close(s.Session)
		s.Session.Close()
		s.turns.Lock()
		defer s.turns.Unlock()
		s.in.leave(s.cfg.SessionID, s.place)
	})
	return nil
}
