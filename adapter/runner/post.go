package runner

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agentops"
	"github.com/tributary-dev/tributary/trace"
)

// replaced is why a runner's connection is closed when another one comes.
const replaced = "Replaced by new runner connection"

// writeWithin bounds the writing of a frame to a runner.
const writeWithin = 30 * time.Second

var errNoRunner = errors.New("there is no runner")

// post is where the runner of a session and its prompts meet. Either may come first.
type post struct {
	runtime *Runtime
	session string
	users   int // guarded by runtime.mu

	mu      sync.Mutex
	changed chan struct{} // closed, and made anew, when something here has changed
	line    *line         // the runner's connection, or nil
	lost    time.Time     // when the last one was lost
	host    agent.Host    // nil while no session is open
	logger  *slog.Logger
	meter   agent.Meter
	strange int       // frames of unknown types that nobody has counted yet
	turn    *turn     // the one that runs, or nil
	past    []string  // turns of the runner that are over, and may still be spoken of
	aborts  int       // that the runner has not confirmed
	stops   time.Time // since when it is stopping what it has confirmed; zero if it is not
}

// line is one connection of a runner.
type line struct {
	conn      Conn
	since     time.Time
	ready     bool          // it has said that it is idle
	displaced chan struct{} // closed when another one has come
}

// change tells whoever waits. The caller holds p.mu.
func (p *post) change() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// serve serves a connection until it is over, or another one takes its place.
func (p *post) serve(ctx context.Context, c Conn) {
	l := &line{conn: c, since: time.Now(), displaced: make(chan struct{})}
	over := make(chan struct{})
	var closing sync.WaitGroup
	defer closing.Wait()
	defer close(over)
	closing.Go(func() {
		select {
		case <-l.displaced:
			_ = c.Close(replaced) // then Read ends
		case <-over:
		}
	})
	p.attach(l)
	defer p.detach(l)
	p.note(true)
	if p.greet(ctx, l) != nil {
		return
	}
	for {
		frame, err := c.Read(ctx)
		if err != nil {
			return
		}
		if p.take(ctx, l, frame) != nil {
			return
		}
	}
}

func (p *post) attach(l *line) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.line != nil {
		close(p.line.displaced)
	}
	p.line, p.aborts, p.stops = l, 0, time.Time{}
	p.change()
}

func (p *post) detach(l *line) {
	p.mu.Lock()
	gone := p.line == l
	if gone {
		p.line, p.lost = nil, time.Now()
		p.change()
	}
	p.mu.Unlock()
	if gone {
		p.note(false)
	}
}

// note tells whoever looks at the session whether its runner is there.
func (p *post) note(connected bool) {
	p.mu.Lock()
	host := p.host
	p.mu.Unlock()
	if host == nil {
		return
	}
	value, _ := json.Marshal(map[string]bool{"connected": connected}) // it always can be
	host.Note(trace.Data{Name: "runner", Value: value, Transient: true, Domain: true})
}

// greet sends what a runner waits for at its start.
func (p *post) greet(ctx context.Context, l *line) error {
	return l.send(
		ctx, agentops.RunnerInit{}, agentops.OpencodeConfig{},
		agentops.PluginContent{Content: agentops.Plugins{
			Personas: []json.RawMessage{}, Skills: []json.RawMessage{}, Tools: []json.RawMessage{},
		}},
		agentops.RepoConfig{GitConfig: map[string]string{}},
	)
}

// send sends to the runner. A turn that is stopped meanwhile does not end it: a write
// that is given up would end the connection, which is for all turns.
func (l *line) send(ctx context.Context, frames ...agentops.Frame) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeWithin)
	defer cancel()
	for _, f := range frames {
		data, err := agentops.Encode(f)
		if err != nil {
			return err
		}
		if err := l.conn.Write(ctx, data); err != nil {
			return err
		}
	}
	return nil
}

// tell sends to the runner that is there now.
func (p *post) tell(ctx context.Context, f agentops.Frame) error {
	p.mu.Lock()
	l := p.line
	p.mu.Unlock()
	if l == nil {
		return errNoRunner
	}
	return l.send(ctx, f)
}

func (p *post) log(what string, args ...any) {
	p.mu.Lock()
	logger := p.logger
	p.mu.Unlock()
	logger.Debug(what, append(args, "session", p.session)...)
}

// notOffered is the answer to all that only an Agent Ops server has.
const notOffered = "This gateway does not offer it: it is no Agent Ops server."

// take does what a frame of a runner says. Its error ends the connection.
func (p *post) take(ctx context.Context, l *line, data []byte) error {
	f, err := agentops.Decode(agentops.FromRunner, data)
	if err != nil {
		if errors.Is(err, agentops.ErrNotJSON) {
			return l.send(ctx, agentops.Error{Message: "Invalid JSON"})
		}
		p.log("frame of a runner not understood", "error", err)
		return nil
	}
	switch f := f.(type) {
	case agentops.Ping:
		return l.send(ctx, agentops.Pong{})
	case agentops.Request:
		return l.send(ctx, agentops.Result{Request: f.Name, RequestID: f.RequestID, Error: notOffered})
	case agentops.Unknown:
		p.count()
		if f.RequestID == "" {
			p.log("frame of a runner of an unknown type", "type", f.Name)
			return nil
		}
		return l.send(ctx, agentops.Result{Request: f.Name, RequestID: f.RequestID, Error: notOffered})
	}
	p.hand(l, f)
	return nil
}

// count counts a frame of an unknown type, when there is a session to count it for.
func (p *post) count() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.host == nil {
		p.strange = min(p.strange+1, 1<<16)
		return
	}
	p.meter.Count(agent.UnknownEvent)
}

// hand gives a frame to the turn that it belongs to.
func (p *post) hand(l *line, f agentops.Frame) {
	p.mu.Lock()
	if p.line != l {
		p.mu.Unlock()
		return // it was displaced
	}
	t, host := p.turn, p.host
	if s, is := f.(agentops.AgentStatus); is && s.Status == agentops.StatusIdle && !l.ready {
		l.ready = true
		p.change()
	}
	switch f.(type) {
	case agentops.Aborted:
		if p.aborts > 0 {
			p.aborts--
			p.stops = time.Now()
			if t != nil && !t.aborted { // of a prompt that was given up before
				t = nil
			}
		}
	case agentops.Complete:
		l.ready, p.stops = true, time.Time{} // it is ready for what comes next, whatever it has said before
		p.change()
	}
	if id := turnOf(f); id != "" && slices.Contains(p.past, id) {
		t = nil
	}
	p.mu.Unlock()
	data, worldly := world(f)
	switch {
	case t != nil && worldly && t.emit(data):
		return
	case t != nil:
		t.take(l, f)
	}
	if host == nil {
		return
	}
	if worldly {
		host.Note(data)
	}
	switch f := f.(type) {
	case agentops.Title:
		if title, err := json.Marshal(f.Title); err == nil && f.Title != "" {
			host.Note(trace.Data{Name: "title", Value: title})
		}
	case agentops.UsageReport: // it comes after the end of its turn
		for _, u := range usageOf(f) {
			host.Note(u)
		}
	}
}

// turnOf is the runner's turn that a frame names.
func turnOf(f agentops.Frame) string {
	switch f := f.(type) {
	case agentops.MessageCreate:
		return f.TurnID
	case agentops.TextDelta:
		return f.TurnID
	case agentops.ToolUpdate:
		return f.TurnID
	case agentops.Finalize:
		return f.TurnID
	}
	return ""
}

// mostPast bounds the turns that are remembered after their end.
const mostPast = 64

// usageOf sums a report up by model.
func usageOf(f agentops.UsageReport) []trace.Usage {
	var all []trace.Usage
	at := map[string]int{}
	for _, e := range f.Entries {
		i, known := at[e.Model]
		if !known {
			i = len(all)
			at[e.Model] = i
			all = append(all, trace.Usage{Scope: trace.UsageTurn, Model: e.Model})
		}
		all[i].InputTokens += e.InputTokens
		all[i].OutputTokens += e.OutputTokens
	}
	return all
}
