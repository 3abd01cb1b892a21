package agentops

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/trace"
)

// session is a session on an Agent Ops server. It is read through one connection,
// its main connection: what is told there is told to everybody, so that one is enough for
// whoever follows the turns. What is said there is said in the name of its principal.
type session struct {
	rt   Runtime
	api  *api
	host agent.Host
	cfg  agent.Config

	life   context.Context //nolint:containedctx // ends with Close
	end    context.CancelFunc
	closed sync.Once
	goes   sync.WaitGroup

	connecting ctxMutex // held while a connection is opened; taken before mu

	mu           sync.Mutex // guards all below, and the decoder
	dec          *Decoder
	main         *conn
	link         link                          // of the connection that is read
	userConns    []*conn                       // the lines of others, through which is only spoken
	mute         bool                          // the server has no address for prompts
	asleep       time.Time                     // since when the session is waited for; zero if it is not
	active       *activePrompt                 // the prompt that runs, waits or is being sent
	pendingStops []*activePrompt               // those that were stopped and are still to be aborted: they did not run, or nobody would have heard
	delivering   int                           // how many of the owed are being aborted
	blocked      *activePrompt                 // the prompt that is not sent before the owed are aborted
	arrived      time.Time                     // when a runner came of which it is not known that it is at work
	asks         map[string]context.CancelFunc // what waits for its answer here, by the upstream's id
	told         map[string]func()             // what was answered here and is not settled there: tells it again
	settler      *time.Timer                   // ends a turn whose last word does not come; nil if none is awaited
	known        callers
	users        map[principal]string // who tokens are there
	last         agent.Caller         // in whose name the newest main connection was opened
	at           mark
	waiting      []string      // what was asked before a restart, and is to be told again
	skipped      int           // frames that could not be read
	strange      []string      // types of frames that nobody knows
	changed      chan struct{} // closed and made anew with each frame
}

// activePrompt is a prompt of ours and its turn.
type activePrompt struct {
	b      *trace.Builder
	caller agent.Caller
	stop   delivery
}

// delivery is what became of a stop.
type delivery int

const (
	told    delivery = iota // it can be told, or was
	pending                 // nobody was there who would have heard it
	late                    // nobody was for so long that the next prompt has not waited for it
)

// errClosed is what a prompt of a closed session gets.
var errClosed = errors.New("agentops: the session is closed")

func newSession(r Runtime, a *api, host agent.Host, cfg agent.Config) *session {
	s := &session{rt: r, api: a, host: host, cfg: cfg, asks: map[string]context.CancelFunc{}, told: map[string]func(){}, connecting: newCtxMutex(), users: map[principal]string{}, changed: make(chan struct{}), at: parseToken(cfg.Resume)}
	s.life, s.end = context.WithCancel(context.Background())
	s.dec = s.newDecoder()
	for _, left := range cfg.Left {
		s.adopt(left)
	}
	s.dec.before = s.at.Prompt
	return s
}

// newDecoder returns a Decoder that knows nothing yet.
func (s *session) newDecoder() *Decoder {
	return NewDecoder(Options{Tools: s.rt.Tools, OwnOnly: s.rt.PerTurn, Told: true})
}

// failedFor ends a turn that could not be had, or not to its end. Why is on record
// beside it.
func failedFor(b *trace.Builder, sentence string, why error) {
	if b.Over() {
		return
	}
	if sentence != why.Error() {
		b.Emit(trace.Error{Message: why.Error(), Code: "agentops_connection"})
	}
	b.End(trace.Stop{Reason: "agent_lost", Outcome: trace.OutcomeFailed, Error: sentence})
}

// Close implements agent.Session. What runs there goes on.
func (s *session) Close() error {
	s.closed.Do(func() {
		s.mu.Lock()
		s.link = links.after(s.link, closes)
		s.quiet()
		if s.settler != nil {
			s.settler.Stop()
		}
		s.mu.Unlock()
		s.end()
		s.hangUp()
		s.goes.Wait()
		s.api.client.CloseIdleConnections()
	})
	return nil
}

// hangUp closes all lines and waits until nobody reads them any more.
func (s *session) hangUp() {
	s.mu.Lock()
	lines := append([]*conn(nil), s.userConns...)
	if s.main != nil {
		lines = append(lines, s.main)
	}
	s.userConns = nil
	s.mu.Unlock()
	for _, l := range lines {
		l.hangUp()
		<-l.done
	}
}

// quiet withdraws what the agent has asked. The caller holds s.mu.
func (s *session) quiet() {
	for id, cancel := range s.asks {
		cancel()
		delete(s.asks, id)
	}
	clear(s.told)
}

// turns gives the decoder its turns. The session is locked while it decodes.
type turns struct{ s *session }

func (t turns) Prompted(p trace.Prompt) *trace.Builder {
	return t.s.host.Begin(agent.TurnInfo{Prompt: &p})
}

func (t turns) Begin(info agent.TurnInfo) *trace.Builder { return t.s.host.Begin(info) }

func (t turns) Current() *trace.Builder {
	if t.s.active == nil {
		return nil
	}
	return t.s.active.b
}

func (t turns) Note(p trace.Payload) { t.s.host.Note(p) }
