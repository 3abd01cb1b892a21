package agentops

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/trace"
)

// session is a session on an Agent Ops server. One connection, the main connection, reads it for
// everybody. Its principal speaks through it; others speak by HTTP, or through a connection for
// one frame.
type session struct {
	rt   Runtime
	api  *api
	host agent.Host
	cfg  agent.Config

	life   context.Context //nolint:containedctx // ends with Close
	end    context.CancelFunc
	closed sync.Once
	goes   sync.WaitGroup

	connecting chan struct{} // holds a token while a connection is opened; taken before mu

	mu           sync.Mutex // guards what follows, and the Decoder
	dec          *Decoder
	main         *conn
	link         link                          // of the main connection
	asleep       time.Time                     // since when the session wakes; zero if it is awake
	active       *activePrompt                 // the prompt that runs, waits or is being sent
	pendingStops []*activePrompt               // stopped prompts that are still to be aborted
	delivering   int                           // how many of them are being aborted
	blocked      *activePrompt                 // the prompt that waits for the pending stops
	arrived      time.Time                     // when a runner came of which no work is known
	asks         map[string]context.CancelFunc // requests that wait for an answer here, by the upstream's id
	answered     map[string]func()             // answers that are not settled there: sends them again
	settler      *time.Timer                   // ends a turn whose last word does not come; nil if none is awaited
	callers      map[string]agent.Caller       // the newest that prompted or answered, by name
	users        map[principal]string          // the server's ids of principals
	last         agent.Caller                  // the caller of the newest main connection
	at           mark
	skipped      int           // frames that could not be read
	changed      chan struct{} // closed and made anew with each change
}

// activePrompt is the turn of a prompt, or a turn that was re-attached.
type activePrompt struct {
	b      *trace.Builder
	caller agent.Caller
	theirs bool // somebody began it in Agent Ops
	stop   delivery
}

// delivery is the state of a stop.
type delivery int

const (
	deliverable delivery = iota // somebody is there, or was
	pending                     // nobody was there who would have heard of the stop
	late                        // the same, and the next prompt waits no longer
)

var errClosed = errors.New("agentops: the session is closed")

func newSession(r Runtime, a *api, host agent.Host, cfg agent.Config) *session {
	s := &session{
		rt: r, api: a, host: host, cfg: cfg, asks: map[string]context.CancelFunc{}, answered: map[string]func(){}, connecting: make(chan struct{}, 1),
		callers: map[string]agent.Caller{}, users: map[principal]string{}, changed: make(chan struct{}), at: parseMark(cfg.Resume),
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.dec = s.newDecoder()
	for _, left := range cfg.OpenTurns {
		s.adopt(left)
	}
	s.dec.before = s.at.Prompt
	return s
}

// newDecoder returns a Decoder that knows nothing yet.
func (s *session) newDecoder() *Decoder {
	return NewDecoder(Options{Tools: s.rt.Tools, OwnOnly: s.rt.PerTurn, NoGuess: true})
}

// Close implements agent.Session. The turns on the server go on.
func (s *session) Close() error {
	s.closed.Do(func() {
		s.mu.Lock()
		s.link = links.after(s.link, closes)
		s.withdrawAll()
		if s.settler != nil {
			s.settler.Stop()
		}
		s.mu.Unlock()
		s.end()
		s.hangUp()
		s.goes.Wait()
		s.api.close()
	})
	return nil
}

// hangUp closes the main connection and waits for its reader.
func (s *session) hangUp() {
	s.mu.Lock()
	l := s.main
	s.mu.Unlock()
	if l != nil {
		l.hangUp()
		<-l.done
	}
}

// receive takes a frame. The caller holds s.mu.
func (s *session) receive(data []byte) {
	moves := s.dec.moves
	s.decode(agent.Out, data)
	s.noteRunner(moves)
	s.locate()
	s.deliverStops()
	s.expectLastWord()
	s.signal()
}

// signal wakes what waits for a change. The caller holds s.mu.
func (s *session) signal() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// watch waits for a condition, for a bounded time, and reports whether it came true. The
// condition is called with s.mu held.
func (s *session) watch(ctx context.Context, within time.Duration, holds func() bool) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		s.mu.Lock()
		done, changed := holds(), s.changed
		s.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// poll is watch for a condition that frames bring. Without a connection none come.
func (s *session) poll(ctx context.Context, within time.Duration, holds func() bool) bool {
	return s.watch(ctx, within, func() bool { return holds() || s.main == nil })
}

// decode hands a frame to the Decoder and performs the effects. The caller holds s.mu.
func (s *session) decode(dir agent.Dir, data []byte) {
	effects, err := agentkit.Decode(s.dec, agent.Message{Dir: dir, Data: data}, turns{s})
	if err != nil {
		s.cfg.Meter.Decoded(err)
		if s.skipped++; s.skipped&(s.skipped-1) == 0 { // a server that sends nothing else does not fill the log
			s.cfg.Logger.Warn(err.Error(), "skipped", s.skipped)
		}
	}
	s.perform(effects)
}

// expectLastWord bounds the wait of a turn that has ended but for a last word. The caller holds
// s.mu.
func (s *session) expectLastWord() {
	switch waits := s.dec.unsettled() && s.link != shut; {
	case !waits && s.settler != nil:
		s.settler.Stop()
		s.settler = nil
	case waits && s.settler == nil: // later frames do not put it off
		s.settler = time.AfterFunc(lastTime, s.settle)
	}
}

func (s *session) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settler = nil; s.link != shut {
		s.dec.AtEnd(turns{s})
		s.perform(s.dec.take())
	}
}

// noteRunner marks a runner as at work if its turn moves some time after the runner came. Earlier
// frames may be ones that the runner had kept. The caller holds s.mu.
func (s *session) noteRunner(moves int) {
	switch {
	case s.dec.runnerState != arriving:
		s.arrived = time.Time{}
	case s.arrived.IsZero():
		s.arrived = time.Now()
	case s.dec.moves > moves && time.Since(s.arrived) >= shortTime:
		s.dec.runner(settles)
	}
}

// mayHaveRunner reports whether there is a runner as far as is known. The caller holds s.mu.
func (s *session) mayHaveRunner() bool {
	return s.link != reopening && (s.link != reading || s.dec.runnerState != missing)
}

// locate notes the place of our newest prompt upstream, so that its turn can be found again
// after a restart. The caller holds s.mu.
func (s *session) locate() {
	if s.active == nil || s.active.theirs {
		return
	}
	t := s.dec.turnOf(s.active.b)
	if t == nil || t.id == "" {
		return
	}
	at := mark{Thread: s.at.Thread, Prompt: t.id, Turn: t.b.Turn(), Channel: t.channel, Since: t.since}
	if at != s.at {
		s.at = at
		s.host.Resume(at.token())
	}
}

// mostCallers bounds the callers that are remembered.
const mostCallers = 64

// remember keeps a caller, who answers with their own token later. The caller holds s.mu.
func (s *session) remember(by string, c agent.Caller) {
	c.Traceparent = "" // of that one request
	for name := range s.callers {
		if len(s.callers) < mostCallers {
			break
		}
		delete(s.callers, name)
	}
	s.callers[by] = c
}

// userOf asks for the server's id of a caller. Prompts are matched by their text alone if the
// server does not tell and the id is "".
func (s *session) userOf(ctx context.Context, c agent.Caller) (string, error) {
	s.mu.Lock()
	id, known := s.users[whoIs(c)]
	s.mu.Unlock()
	if known {
		return id, nil
	}
	me, err := s.api.me(ctx, c)
	switch status := statusOf(err); {
	case err == nil, status == http.StatusNotFound, lacksRoute(err):
	case status == 0, status == http.StatusUnauthorized:
		return "", err
	default:
		return "", nil //nolint:nilerr // the next prompt asks again
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.users) >= mostCallers {
		clear(s.users)
	}
	s.users[whoIs(c)] = me.ID
	return me.ID, nil
}

// turns gives the Decoder its turns. The session is locked while it decodes.
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
