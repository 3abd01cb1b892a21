package runner

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"

	"github.com/tributary-dev/tributary/agent"
	"github.com/tributary-dev/tributary/agent/agentkit"
	"github.com/tributary-dev/tributary/policy/toolkind"
)

// Options say how runners are accepted.
type Options struct {
	// Token is the token that a runner shows, itself or as SessionToken of it. Without a
	// token no runner is admitted.
	Token string
	// Tools says what the runner's tools do; toolkind.OpenCode() if nil.
	Tools *toolkind.Table
}

// Runtime is an agent that runners drive.
type Runtime struct {
	token   string
	inbound *agentkit.Inbound
}

var _ interface {
	agent.Runtime
	agent.Prober
} = (*Runtime)(nil)

// New returns a Runtime.
func New(o Options) *Runtime {
	tools := toolkind.OpenCode()
	if o.Tools != nil {
		tools = *o.Tools
	}
	return &Runtime{token: o.Token, inbound: agentkit.NewInbound("runner", func() agentkit.InboundProtocol { return protocol{NewDecoder(tools)} })}
}

// Reasons for which a runner is not admitted.
var (
	ErrNoToken = errors.New("no runner can be admitted, because this agent has no token for runners: name one by token_env")
	ErrToken   = errors.New("the runner's token is not valid")
)

// Probe implements agent.Prober.
func (r *Runtime) Probe(context.Context) (string, error) {
	if r.token == "" {
		return "", ErrNoToken
	}
	return "waits for runners to connect", nil
}

// Open implements agent.Runtime.
func (r *Runtime) Open(_ context.Context, host agent.Host, cfg agent.Config) (agent.Session, error) {
	if r.token == "" {
		return nil, ErrNoToken
	}
	return r.inbound.Open(host, cfg), nil
}

// Admit checks the token of a runner that wants to drive a session, and returns the
// function that serves its connection. The error is ErrNoToken or ErrToken.
func (r *Runtime) Admit(session, token string) (serve func(context.Context, agentkit.Socket), err error) {
	switch {
	case r.token == "":
		return nil, ErrNoToken
	case !equal(token, r.token) && !equal(token, SessionToken(r.token, session)):
		return nil, ErrToken
	}
	return func(ctx context.Context, c agentkit.Socket) { r.inbound.Serve(ctx, session, c) }, nil
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
