package agentops_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tributary-dev/tributary/access"
	"github.com/tributary-dev/tributary/adapter/agentops/wire"
	"github.com/tributary-dev/tributary/adapter/demo"
	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/gateway"
	"github.com/tributary-dev/tributary/policy/permission"
	"github.com/tributary-dev/tributary/session"
	"github.com/tributary-dev/tributary/trace"
)

const passedToken = "sk_ann_0123456789abcdef"

// remote is the demo agent with sessions on a server that judges pass-through tokens. The
// server knows one token, and the sessions whose id begins with "remote".
type remote struct {
	demo.Runtime
	mu   sync.Mutex
	used []string // the names and tokens that the agent got
}

func (o *remote) Find(_ context.Context, id string, c agent.Caller) (agent.Found, error) {
	switch {
	case c.Bearer != passedToken:
		return agent.Found{}, agent.ErrUnauthorized
	case !strings.HasPrefix(id, "remote"):
		return agent.Found{}, fmt.Errorf("session %q: %w", id, agent.ErrNoSession)
	}
	return agent.Found{Role: "collaborator"}, nil
}

func (o *remote) Open(ctx context.Context, h agent.Host, c agent.Config) (agent.Session, error) {
	s, err := o.Runtime.Open(ctx, h, c)
	return remoteSession{s, o}, err
}

func (o *remote) use(by string, c agent.Caller) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.used = append(o.used, by+" "+c.Bearer)
}

func (o *remote) last() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.used[len(o.used)-1]
}

type remoteSession struct {
	agent.Session
	of *remote
}

func (s remoteSession) Prompt(ctx context.Context, p agent.Prompt, b *trace.Builder) error {
	s.of.use("prompt", p.Caller)
	return s.Session.Prompt(ctx, p, b)
}

// Introduce takes answers from those only whom the server knows.
func (s remoteSession) Introduce(by string, c agent.Caller) error {
	if c.Bearer == "" {
		return agent.ErrNotKnownThere
	}
	s.of.use(by, c)
	return nil
}

// quiet collects a log.
type quiet struct {
	mu sync.Mutex
	bytes.Buffer
}

func (q *quiet) Write(p []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.Buffer.Write(p)
}

func newPassThroughStand(t *testing.T) (stand, *remote, *quiet) {
	t.Helper()
	guard, err := access.New(access.Config{
		Listen: "127.0.0.1:0", PassThrough: "ops", Public: gateway.Public, Refuse: gateway.Refuse,
		Tokens: []access.Token{{Name: "root", Token: "root-012345678901234567890", Role: access.Admin}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ops, log := &remote{Runtime: demo.Runtime{Pace: time.Millisecond}}, &quiet{}
	return newStand(t, func(o *session.Options) {
		o.Agents["ops"] = session.Agent{Runtime: ops, Cwd: t.TempDir(), Policy: permission.Default()}
	}, logging(log), func(o *gateway.Options) { o.PassThrough, o.Guard = "ops", guard.Wrap }), ops, log
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

func TestB04_PassThroughTokensBySocket(t *testing.T) {
	s, ops, log := newPassThroughStand(t)
	if status := s.refusedSocket("/api/sessions/none/ws?role=client", bearer(passedToken)...); status != 404 {
		t.Errorf("a session that is nowhere: %d", status)
	}
	if status := s.refusedSocket("/api/sessions/remote-1/ws?role=client", bearer("sk_nobody_0123456789")...); status != 401 {
		t.Errorf("somebody who is nobody there: %d", status)
	}
	c := s.join("/api/sessions/remote-1/ws?role=client", bearer(passedToken)...)
	c.prompt("hello")
	frame(c, finished)
	if used := ops.last(); used != "prompt "+passedToken {
		t.Errorf("the agent got %q", used)
	}
	log.mu.Lock()
	defer log.mu.Unlock()
	if strings.Contains(log.String(), passedToken) {
		t.Errorf("the log says %s", log)
	}
}

// The agent's server knows the person who answers by their own token. A person without
// such a token is refused, and the request goes on waiting.
func TestB04_AnAnswerByWebSocketIsItsSendersOwn(t *testing.T) {
	s, ops, _ := newPassThroughStand(t)
	const path = "/api/sessions/remote-1/ws?role=client"
	ann := s.join(path, bearer(passedToken)...)
	ann.prompt("ask")
	ask := frame[wire.InteractivePrompt](ann, nil).Prompt.ID
	root := s.join(path, bearer("root-012345678901234567890")...)
	root.send(`{"type":"answer","questionId":"` + ask + `","answer":"green"}`)
	if no := frame[wire.Error](root, nil); !strings.Contains(no.Message, "you are not known there: sign in with a token of that server to answer.") {
		t.Errorf("who has no token there hears %+v", no)
	}
	ann.send(`{"type":"answer","questionId":"` + ask + `","answer":"green"}`)
	if said := frame(ann, finished); !strings.Contains(texts(said.Data), "green") {
		t.Errorf("end %+v", said)
	}
	if used := ops.last(); !strings.HasPrefix(used, "ops:token-") || !strings.HasSuffix(used, " "+passedToken) {
		t.Errorf("introduced %q", used)
	}
}

// A token that another server judges shows nobody, but for a session.
func TestB04_APassThroughTokenNamesNobody(t *testing.T) {
	s, _, _ := newPassThroughStand(t)
	if status, _, body := s.do("GET", "/api/auth/me", "", bearer("tok-ada")...); status != 403 || strings.Contains(body, "ops:") {
		t.Errorf("%d %s", status, body)
	}
}
