package runner

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/toolkind"
)

// Options say how runners are taken.
type Options struct {
	// Token is what a runner shows: itself, or SessionToken of it. Without one no
	// runner is admitted.
	Token string
	// Tools says what the runner's tools do; OpenCode's if nil.
	Tools *toolkind.Table
	// Grace is how long a runner that is gone may take to go on with its prompt (5 s).
	Grace time.Duration
	// Gone is how long a turn waits for another one (60 s).
	Gone time.Duration
	// Start is how long a turn waits for a session's first runner, and for a runner to
	// say that it is ready (2 min).
	Start time.Duration
	// Settle is how long a runner may be silent between the end of a turn and
	// complete (60 s).
	Settle time.Duration
	Logger *slog.Logger
}

// Runtime is an agent that runners drive. Make one with New.
type Runtime struct {
	Options

	mu    sync.Mutex
	posts map[string]*post // by session: where a runner and its prompts meet
}

var _ interface {
	agent.Runtime
	agent.Prober
} = (*Runtime)(nil)

// New returns a Runtime.
func New(o Options) *Runtime {
	if o.Tools == nil {
		tools := toolkind.OpenCode()
		o.Tools = &tools
	}
	o.Grace = cmp.Or(o.Grace, 5*time.Second)
	o.Gone = cmp.Or(o.Gone, time.Minute)
	o.Start = cmp.Or(o.Start, 2*time.Minute)
	o.Settle = cmp.Or(o.Settle, time.Minute)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Runtime{Options: o, posts: map[string]*post{}}
}

// Reasons for which a runner is not admitted.
var (
	ErrNoToken = errors.New("no runner can be admitted, because this agent has no token for runners: name one by token_env")
	ErrToken   = errors.New("the runner's token is not valid")
)

// Probe implements agent.Prober.
func (r *Runtime) Probe(context.Context) (string, error) {
	if r.Token == "" {
		return "", ErrNoToken
	}
	return "waits for runners to connect", nil
}

// Open implements agent.Runtime. It does not wait for the runner: a turn does.
func (r *Runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	if r.Token == "" {
		return nil, ErrNoToken
	}
	p := r.enter(cfg.SessionID)
	life, end := context.WithCancelCause(context.Background())
	s := &session{runtime: r, post: p, host: host, model: cfg.Model, life: life, end: end}
	p.mu.Lock()
	p.host, p.meter = host, cfg.Meter
	for ; p.strange > 0; p.strange-- {
		p.meter.Count(agent.UnknownEvent)
	}
	if cfg.Logger != nil {
		p.logger = cfg.Logger
	}
	p.mu.Unlock()
	return s, nil
}

// Conn is a runner's connection. Write and Close may be called from any goroutine.
type Conn interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, frame []byte) error
	// Close ends the connection in good order.
	Close(reason string) error
}

// Admit checks the token of a runner that wants to drive a session, and returns what
// serves its connection until that is over. The error is ErrNoToken or ErrToken.
func (r *Runtime) Admit(session, token string) (serve func(context.Context, Conn), err error) {
	switch {
	case r.Token == "":
		return nil, ErrNoToken
	case !equal(token, r.Token) && !equal(token, SessionToken(r.Token, session)):
		return nil, ErrToken
	}
	return func(ctx context.Context, c Conn) {
		p := r.enter(session)
		defer r.leave(session, p)
		p.serve(ctx, c)
	}, nil
}

// SessionToken is a token that is good for one session: the HMAC-SHA256 of the
// session's id under the configured token, in hex. A sandbox that holds it can drive
// no other session.
func SessionToken(token, session string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(session))
	return hex.EncodeToString(mac.Sum(nil))
}

func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// enter returns the post of a session, which stays until leave is called.
func (r *Runtime) enter(session string) *post {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.posts[session]
	if p == nil {
		p = &post{runtime: r, session: session, changed: make(chan struct{}), logger: r.Logger}
		r.posts[session] = p
	}
	p.users++
	return p
}

func (r *Runtime) leave(session string, p *post) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(r.posts, session)
	}
}
