package agentkit

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// Socket is the connection of an agent. Write and Close may be called from any goroutine.
type Socket interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	// Close ends the connection in good order.
	Close(reason string) error
}

// visit is a connection to a place.
type visit struct {
	Socket
	gone context.Context //nolint:containedctx // ends with the connection
	end  context.CancelCauseFunc
}

const (
	writeTime = 30 * time.Second // bounds the writing of a message
	closeTime = time.Minute      // how long an agent may be silent before State.Close counts
)

var (
	errReplaced = errors.New("another connection has replaced this one")
	errGone     = errors.New("the agent is not connected")
)

// write writes a message. The end of ctx does not end the writing: a write that is given up
// would end the connection, which all turns share.
func (v *visit) write(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTime)
	defer cancel()
	return v.Write(ctx, data)
}

// place is where an agent and the session with it meet. Either may come first, and leave
// first.
type place struct {
	in       *Inbound
	protocol InboundProtocol
	users    int // guarded by in.mu

	mu      sync.Mutex // held while the agent's messages are decoded, and while visit or session changes
	session *Session   // the open one, or one that is nobody's
	unknown int        // messages of unknown types that no session has counted

	decoding sync.Mutex // guards the protocol, and what follows; taken after Session.mu
	now      atomic.Pointer[moment]
	heard    int
	closing  *time.Timer
}

// moment is a state of a place.
type moment struct {
	visit *visit // nil if the agent is gone
	phase Phase
	since time.Time     // when the phase began
	next  chan struct{} // closed when the state has changed
}

func newPlace(in *Inbound) *place {
	p := &place{in: in, protocol: in.protocol()}
	p.now.Store(&moment{next: make(chan struct{})})
	p.session = p.vacant()
	return p
}

// vacant is the session of a place where no session is open.
func (p *place) vacant() *Session {
	count := func(agent.Count) { p.unknown = min(p.unknown+1, 1<<16) }
	return New(nobody{}, agent.Config{Meter: count}, Options{Decoder: p, Send: p.send})
}

// nobody is the Host of a session that nobody has opened.
type nobody struct{ agent.Host }

func (nobody) Begin(agent.TurnInfo) *trace.Builder { return nil }
func (nobody) Note(trace.Payload)                  {}

// Decode implements agent.Decoder.
func (p *place) Decode(m agent.Message, t agent.Turns) ([]agent.Effect, error) {
	p.decoding.Lock()
	defer p.decoding.Unlock()
	effects, err := p.protocol.Decode(m, t)
	p.update(p.now.Load().visit)
	return effects, err
}

// look updates the state: the gateway may have ended a turn since the last message.
func (p *place) look() moment {
	p.decoding.Lock()
	defer p.decoding.Unlock()
	p.update(p.now.Load().visit)
	return *p.now.Load()
}

// update stores the state. The caller holds p.decoding.
func (p *place) update(v *visit) {
	s, old := p.protocol.State(), p.now.Load()
	if v == nil {
		s.Phase = Gone
	}
	if v != old.visit || s.Phase != old.phase {
		p.now.Store(&moment{visit: v, phase: s.Phase, since: time.Now(), next: make(chan struct{})})
		close(old.next)
	}
	if p.closing != nil && (v != old.visit || s.Close == nil || s.Heard != p.heard) {
		p.closing.Stop()
		p.closing = nil
	}
	if p.closing == nil && v != nil && s.Close != nil {
		p.closing = time.AfterFunc(closeTime, func() { _ = p.receive(v, s.Close) })
	}
	p.heard = s.Heard
}

// move stores that the agent has come by a connection, or is gone. The caller holds p.mu.
func (p *place) move(v *visit) {
	p.decoding.Lock()
	p.update(v)
	p.decoding.Unlock()
	p.session.host.Note(trace.Data{Name: p.in.name, Value: Encode(map[string]bool{"connected": v != nil}), Transient: true, Domain: true})
}

// serve serves a connection until it ends, or another one replaces it.
func (p *place) serve(ctx context.Context, c Socket) {
	v := &visit{Socket: c}
	v.gone, v.end = context.WithCancelCause(context.WithoutCancel(ctx))
	var closing sync.WaitGroup
	defer closing.Wait()
	closing.Go(func() {
		<-v.gone.Done()
		if errors.Is(context.Cause(v.gone), errReplaced) {
			_ = c.Close("Replaced by new " + p.in.name + " connection") // then Read ends
		}
	})
	greeting := p.protocol.Greeting()
	p.attach(v, greeting[0]) //nolint:contextcheck // effects end with the session
	defer p.detach(v)        //nolint:contextcheck // as above
	for _, message := range greeting {
		if v.write(ctx, message) != nil {
			return
		}
	}
	for {
		message, err := c.Read(ctx)
		if err != nil {
			return
		}
		err = p.receive(v, message) //nolint:contextcheck // as above
		if answer := p.protocol.Reply(message, err); answer != nil && v.write(ctx, answer) != nil {
			return
		}
	}
}

func (p *place) attach(v *visit, hello json.RawMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.now.Load().visit; old != nil {
		old.end(errReplaced)
	}
	_ = p.session.Sent(agent.Message{Dir: agent.In, Data: hello}) // it is ours
	p.move(v)
}

func (p *place) detach(v *visit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.Load().visit == v {
		p.move(nil)
	}
	v.end(nil)
}

// close takes a session off that is being closed.
func (p *place) close(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.session == s {
		p.session = p.vacant()
	}
}

// receive decodes a message, unless another connection has replaced this one.
func (p *place) receive(v *visit, message json.RawMessage) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.now.Load().visit != v {
		return nil
	}
	err := p.session.Received(agent.Message{Dir: agent.Out, Data: message})
	if err != nil {
		p.session.cfg.Logger.Debug(err.Error())
	}
	return err
}

// send writes to the agent that is connected.
func (p *place) send(ctx context.Context, data []byte) error {
	if v := p.now.Load().visit; v != nil {
		return v.write(ctx, data)
	}
	return errGone
}
