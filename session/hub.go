package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/policy/box"
	"github.com/tributary-dev/tributary/policy/egress"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/policy/workspace/spaces"
	"github.com/tributary-dev/tributary/session/agents"
	"github.com/tributary-dev/tributary/session/listing"
	"github.com/tributary-dev/tributary/session/lockorder"
)

// This file makes and finds sessions.

// Hub owns the sessions. A Hub is safe for concurrent use.
type Hub struct {
	Options
	ctx         context.Context //nolint:containedctx // the life of the hub
	stop        context.CancelFunc
	goes        sync.WaitGroup
	agents      *agents.Pool
	dirs        agents.Dirs
	health      health
	shared      bool // other gateways may use the log
	quota       promptQuota
	held        atomic.Int64 // bytes that the turns hold in memory
	standsStill atomic.Bool  // the agents do, because the database is away
	goesOn      atomic.Int64 // since when they do not any more, in nanoseconds since 1970; 0: they never did
	took        struct{ continued, held, closed atomic.Uint64 }
	book        permission.Book

	listings listing.Cache
	places   box.Places              // of what is closed to agents
	boxed    map[string]Boxed        // by the name of the agent; never changed
	egress   map[string]egress.Hosts // of the agents that have a limit; never changed

	board   board
	listing chan struct{} // holds one while an agent lists its conversations: each list costs a process
	resumes resumes       // belongs to the holder of listing

	mu       lockorder.Mutex
	sessions map[string]*activeSession
	waiting  map[*activeSession]struct{} // those with requests that wait for a person
	refusing bool
	left     uint64                  // how often a session has left memory, and one
	stamp    time.Time               // of the session that was changed last
	offers   map[string]agent.Offers // what the agents offered last, by their names
}

// New opens a hub on a log. Turns that an earlier process left open are closed
// as failed first: their agents are gone.
func New(ctx context.Context, o Options) (*Hub, error) {
	if o.Log == nil || len(o.Agents) == 0 {
		return nil, errors.New("a hub needs a log and at least one agent")
	}
	for name, a := range o.Agents {
		if a.Workspace.Own() && o.Workspaces == nil {
			return nil, fmt.Errorf("the sessions of the agent %s have workspaces of their own, and there is no directory for them: set Workspaces", name)
		}
	}
	o = o.withDefaults()
	h := &Hub{Options: o, sessions: map[string]*activeSession{}, waiting: map[*activeSession]struct{}{}, left: 1, dirs: agents.Dirs{Closed: o.Closed}, listing: make(chan struct{}, 1)}
	h.ctx, h.stop = context.WithCancel(context.WithoutCancel(ctx))
	h.agents = agents.NewPool(h.MaxAgents, h.AgentShare, h.AgentIdle)
	h.health.writes, h.quota.of = map[*time.Time]struct{}{}, map[string]prompts{}
	h.offers = map[string]agent.Offers{}
	h.board.readers, h.resumes.tokens = map[*listReader]struct{}{}, map[string]string{}
	h.book = permission.Book{Store: h.Log, Most: mostGrants, Logger: h.Logger}
	err := h.settleBoxes()
	if err == nil {
		err = h.book.Import(ctx, h.StateDir)
	}
	if err != nil {
		h.stop()
		return nil, err
	}
	h.removeTemp()
	h.shared = h.Log.Elsewhere(ctx) != nil
	if err := h.recover(ctx); err != nil {
		now, cancel := context.WithCancel(ctx)
		cancel()
		return nil, errors.Join(err, h.Close(now)) // turns of agents elsewhere may go on already
	}
	if h.shared {
		h.board.hear = h.hear
		h.goes.Go(h.watchOwnership)
		h.goes.Go(h.watchOrphans)
	}
	return h, nil
}

func (h *Hub) refuses() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refusing
}

// Spec says what a new session is to be.
type Spec struct {
	ID    string
	Agent string
	Title string
	By    string
	Kind  Kind
	// NoChat is as in Info.
	NoChat bool
	// Compat is as in Info.
	Compat string
	// Hosted is as in Info.
	Hosted bool
	// Resume is the token of a conversation that Conversations lists, with which the
	// session goes on, or "".
	Resume string
	// Prompted says that a prompt follows at once. Then the session goes on record with the
	// prompt, in one commit, or when it leaves memory.
	Prompted bool
	// Mode and Model are as in Info.
	Mode, Model string
	// Looked is what Get has returned with ErrUnknownSession, or the zero Info: then Ensure does
	// not ask the store again whether there is such a session.
	Looked Info
}

// Create makes a session. An empty id gets one, an empty agent the default.
func (h *Hub) Create(ctx context.Context, s Spec) (Info, error) {
	s.Looked = Info{}
	return within(ctx, afterRequest, func() (Info, error) { return h.create(ctx, s) })
}

// create is Create for a session that was perhaps looked for: see claim.
func (h *Hub) create(ctx context.Context, s Spec) (Info, error) {
	if s.ID == "" {
		s.ID = newID(h.Now())
	}
	if err := CheckID(s.ID); err != nil {
		return Info{}, err
	}
	if s.Kind != "" && !s.Kind.Personal() {
		return Info{}, &ChoiceError{fmt.Sprintf("the kind %q is unknown: send %s, %s or none", s.Kind, Orchestrator, Workflow)}
	}
	if s.Agent == "" {
		s.Agent = h.Default
	}
	if _, ok := h.Agents[s.Agent]; !ok {
		return Info{}, h.unknownAgent(s.Agent)
	}
	var home Home
	if s.Resume != "" {
		c, release, err := h.adopt(ctx, s.Agent, s.Resume)
		if err != nil {
			return Info{}, err
		}
		defer release()
		s.Title, home = cmp.Or(s.Title, c.Title), h.Home
	}
	now, err := h.standing(ctx, s.ID)
	if err == nil && now.elsewhere {
		err = ErrElsewhere
	}
	if err != nil {
		return Info{}, err
	}
	since, err := h.Log.Last(ctx, s.ID)
	if err != nil {
		return Info{}, fmt.Errorf("read the log of session %q: %w", s.ID, err)
	}
	began := h.Now()
	own := Workspace{}
	if form := h.Agents[s.Agent].Workspace; form.Own() {
		own = Workspace{Form: form, Name: spaces.Name(s.ID, began)}
	}
	l := h.newSession(Info{
		ID: s.ID, Agent: s.Agent, Title: title(s.Title), CreatedBy: s.By, Kind: s.Kind, Compat: s.Compat, NoChat: s.NoChat, Hosted: s.Hosted,
		CreatedAt: began, UpdatedAt: began, Since: since, Resume: s.Resume, Mode: s.Mode, Model: s.Model, Workspace: own, Home: home,
	})
	l.standing = now
	l.threaded, l.newestSeq, l.folded, l.seqKnown, l.changes = true, since, since, true, 1
	l.slot.to(agentClosing) // no agent opens before the files are gone that a deleted session has left
	release, err := h.claim(ctx, l, s.Looked.absent)
	if err != nil {
		return Info{}, err
	}
	defer release()
	err = l.removeState()
	l.mu.Lock()
	l.slot.to(agentClosed)
	l.mu.Unlock()
	if err != nil {
		h.drop(l)
		return Info{}, err
	}
	if !s.Prompted {
		// Others may use the session before this returns, so the end of the caller's
		// context must not end the write.
		if err := l.save(context.WithoutCancel(ctx)); err != nil {
			h.drop(l)
			return Info{}, err
		}
	}
	return l.view().Info, nil
}

// claim makes a new session known, unless its id is taken. It stays in memory until
// release is called. The parameter absent is what Hub.left was when the caller looked for the session and did not
// find it. If it is the same now, no session has left memory since. Then one that was made since is in memory, and no
// second look into the store is needed. An absent of 0 always looks.
func (h *Hub) claim(ctx context.Context, l *activeSession, absent uint64) (release func(), err error) {
	h.mu.Lock()
	for h.left != absent {
		absent = h.left
		h.mu.Unlock()
		if _, release, err := h.session(ctx, l.id); err == nil {
			release()
			return nil, ErrExists
		} else if !errors.Is(err, ErrUnknownSession) {
			return nil, err
		}
		h.mu.Lock()
	}
	defer h.mu.Unlock()
	if h.refusing {
		return nil, ErrClosing
	}
	if h.sessions[l.id] != nil {
		return nil, ErrExists
	}
	h.register(l)
	return h.pin(l), nil
}

// Ensure returns the session, and makes it on first use.
func (h *Hub) Ensure(ctx context.Context, s Spec) (Info, error) {
	if err := CheckID(s.ID); err != nil {
		return Info{}, err
	}
	if s.Looked.absent == 0 || h.shared { // another gateway may have made it
		there, err := h.Get(ctx, s.ID)
		if s.Looked = there.Info; !errors.Is(err, ErrUnknownSession) {
			return there.Info, err
		}
	}
	info, err := within(ctx, afterRequest, func() (Info, error) { return h.create(ctx, s) })
	if errors.Is(err, ErrExists) { // somebody else's first use, just now
		there, err := h.Get(ctx, s.ID)
		return there.Info, err
	}
	return info, err
}

// AccessByToken is an agent's own list of sessions elsewhere, if it has one.
func (h *Hub) AccessByToken(name string) (agent.AccessByToken, bool) {
	d, ok := h.Agents[name].Runtime.(agent.AccessByToken)
	return d, ok
}

// AccessByUser is an agent's knowledge of who may do what in its sessions elsewhere, if it has
// any.
func (h *Hub) AccessByUser(name string) (agent.AccessByUser, bool) {
	r, ok := h.Agents[name].Runtime.(agent.AccessByUser)
	return r, ok
}

func (h *Hub) unknownAgent(name string) error {
	return fmt.Errorf("%w as %q: there are %s", ErrUnknownAgent, name, strings.Join(h.AgentNames(), ", "))
}

// AgentNames lists the configured agents.
func (h *Hub) AgentNames() []string {
	return slices.Sorted(maps.Keys(h.Agents))
}
